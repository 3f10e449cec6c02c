//! NATS: the one thin place where what is decided elsewhere meets the server.
//!
//! | what | where |
//! |---|---|
//! | fleets, each with its revisions | key-value bucket `isobath-fleets`, kept |
//! | who is there | key-value bucket `isobath-agents`, forgotten after [`PRESENCE`] |
//! | hosts and links that are taken | key-value bucket `isobath-leases`, forgotten after [`lease::LENGTH`] |
//! | what became of runs | stream `isobath-results`, subjects `isobath.result.FLEET.MEASUREMENT.FROM.TO.INSTANT` |
//! | their records | object store `isobath-records` |
//! | to be let in | request and reply on `isobath.knock.TO.FROM` |
//! | to measure now | request and reply on `isobath.demand.HOST`, which operators alone may use |
//!
//! The stream takes one message a subject and refuses the next, so a run has one outcome however often it is handed over.

mod access;
mod fleets;
mod leases;
mod results;
pub mod retention;
pub mod rights;

use crate::messages::{Demand, Knock, Presence, Promise, Welcome};
use crate::{Name, lease};
pub(crate) use access::place;
pub use access::{Access, Connection, connect};
use anyhow::{anyhow, bail};
use async_nats::Client;
use async_nats::client::RequestErrorKind;
use async_nats::jetstream::kv;
use async_nats::jetstream::stream::{self, DiscardPolicy, StorageType, Stream};
use async_nats::jetstream::{self, object_store};
use futures_util::{StreamExt as _, TryStreamExt as _, stream as futures};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::time::Duration;

/// Who has said nothing for so long is not there.
pub const PRESENCE: Duration = Duration::from_secs(15);
/// A request that was not answered by then is not answered.
const PATIENCE: Duration = Duration::from_secs(2);
/// The same for outcomes and records: thousands of agents may end a run in the same moment, and none has to be quick.
const HAND_OVER: Duration = Duration::from_secs(20);
/// Entries that are asked for at once.
const GETS: usize = 64;
/// Revisions of a fleet that are kept.
const REVISIONS: i64 = 64;

const FLEETS: &str = "isobath-fleets";
const AGENTS: &str = "isobath-agents";
const LEASES: &str = "isobath-leases";
const RESULTS: &str = "isobath-results";
const RECORDS: &str = "isobath-records";
const RESULT: &str = "isobath.result";
const KNOCK: &str = "isobath.knock";
const DEMAND: &str = "isobath.demand";

/// The name by which operators are known to NATS.
pub(crate) const OPERATOR: &str = "isobath fleet";

/// Waits for what goes to NATS.
pub(crate) fn wait<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(work)
}

/// A connection that mends itself, and all that the fleet keeps on the server.
#[derive(Clone)]
pub struct Bus {
    client: Client,
    /// With the patience of those who hand over.
    jetstream: jetstream::Context,
    fleets: kv::Store,
    agents: kv::Store,
    leases: kv::Store,
    results: Stream,
    records: object_store::ObjectStore,
}

impl Bus {
    /// Connects, and fails if the server is not there by then.
    ///
    /// # Errors
    /// When it is not there, or has no `JetStream`.
    pub async fn open(access: &Access, name: &str) -> anyhow::Result<Self> {
        let connection = connect(access, name, None).await?;
        Self::on(&connection).await.map_err(|error| {
            let place = place(&access.nats);
            match connection.refused() {
                Some(refused) => anyhow!(
                    "NATS at {place} refuses: {refused} - use a key that may do this (--nkey FILE)"
                ),
                None => error.context(format!(
                    "NATS at {place} cannot be used - start it with 'nats-server -js'"
                )),
            }
        })
    }

    /// What the fleet keeps on the server, made where it is missing.
    ///
    /// # Errors
    /// When the server is not there, or has no `JetStream`.
    pub async fn on(connection: &Connection) -> anyhow::Result<Self> {
        // What goes on inside is large, and kept off the callers' stacks.
        Box::pin(Self::make(connection.client.clone())).await
    }

    async fn make(client: Client) -> anyhow::Result<Self> {
        let context = |patience| {
            let mut context = jetstream::new(client.clone());
            context.set_timeout(patience);
            context
        };
        let (jetstream, patient) = (context(PATIENCE), context(HAND_OVER));
        let bucket = |bucket: &str, max_age, history, storage| kv::Config {
            bucket: bucket.to_owned(),
            max_age,
            history,
            storage,
            ..kv::Config::default()
        };
        // Leases must outlive the server's process: their holders do. Presence is said again anyway.
        let fleets = bucket(FLEETS, Duration::ZERO, REVISIONS, StorageType::File);
        let agents = bucket(AGENTS, PRESENCE, 1, StorageType::Memory);
        let leases = bucket(LEASES, lease::LENGTH, 1, StorageType::File);
        let results = stream::Config {
            name: RESULTS.to_owned(),
            subjects: vec![format!("{RESULT}.>")],
            max_messages_per_subject: 1,
            discard: DiscardPolicy::New,
            discard_new_per_subject: true,
            allow_direct: true,
            storage: StorageType::File,
            num_replicas: 1,
            ..stream::Config::default()
        };
        let records = object_store::Config {
            bucket: RECORDS.to_owned(),
            ..object_store::Config::default()
        };
        Ok(Self {
            fleets: store(&jetstream, fleets).await?,
            agents: store(&jetstream, agents).await?,
            leases: store(&jetstream, leases).await?,
            results: self::results(&patient, results).await?,
            records: match patient.get_object_store(RECORDS).await {
                Ok(records) => records,
                Err(_) => patient.create_object_store(records).await?,
            },
            jetstream: patient,
            client,
        })
    }

    /// Says that an agent is there.
    ///
    /// # Errors
    /// When the server does not take it.
    pub async fn say(&self, presence: &Presence) -> anyhow::Result<()> {
        let value = serde_json::to_vec(presence)?;
        self.agents
            .put(presence.name.as_str(), value.into())
            .await?;
        Ok(())
    }

    /// Takes an agent off the list at once: it ends in order.
    ///
    /// # Errors
    /// When the server does not take it.
    pub async fn leave(&self, name: &Name) -> anyhow::Result<()> {
        Ok(self.agents.delete(name.as_str()).await?)
    }

    /// The agents that are there, by name.
    ///
    /// # Errors
    /// When the server does not say.
    pub async fn present(&self) -> anyhow::Result<Vec<Presence>> {
        // One that says so meanwhile is listed twice.
        let keys: BTreeSet<String> = self.agents.keys().await?.try_collect().await?;
        let entries = futures::iter(keys).map(async |key| {
            let value = self.agents.get(key.as_str()).await?;
            let presence = value.and_then(|value| parse::<Presence>(&value));
            anyhow::Ok(presence.filter(|presence| presence.name.as_str() == key))
        });
        let entries = entries.buffer_unordered(GETS);
        let mut present: Vec<_> = entries
            .try_filter_map(async |entry| Ok(entry))
            .try_collect()
            .await?;
        present.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(present)
    }

    /// Asks agent `name` to be let in.
    ///
    /// # Errors
    /// When it does not answer, or does not let us.
    pub async fn knock(
        &self,
        name: &Name,
        knock: &Knock,
    ) -> anyhow::Result<(std::net::SocketAddr, String)> {
        let payload = serde_json::to_vec(knock)?;
        let answer = self
            .client
            .request(format!("{KNOCK}.{name}.{}", knock.run.from), payload.into())
            .await;
        let answer = answer.map_err(|error| {
            anyhow!("agent '{name}' does not answer ({error}) - is it running?")
        })?;
        match parse::<Welcome>(&answer.payload) {
            Some(Welcome::Come { address, key }) => Ok((address, key)),
            Some(Welcome::No { reason }) => bail!("agent '{name}' refuses: {reason}"),
            None => {
                bail!("agent '{name}' says what this version does not understand - update both")
            }
        }
    }

    /// Those who ask agent `name` to be let in.
    ///
    /// # Errors
    /// When the server does not take it.
    pub async fn knocks(&self, name: &Name) -> anyhow::Result<async_nats::Subscriber> {
        Ok(self.client.subscribe(format!("{KNOCK}.{name}.*")).await?)
    }

    /// Asks agent `name` to take part in a run now.
    ///
    /// # Errors
    /// When it does not answer, or will not.
    pub async fn demand(&self, name: &Name, demand: &Demand) -> anyhow::Result<()> {
        let payload = serde_json::to_vec(demand)?;
        let answer = self
            .client
            .request(format!("{DEMAND}.{name}"), payload.into());
        let answer = answer.await.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => anyhow!(
                "agent '{name}' does not take runs on demand - is it running, is it as new as this program, and do the server's users let it hear {DEMAND}.{name} ('isobath fleet users' prints them)?"
            ),
            _ => anyhow!(
                "agent '{name}' did not answer ({error}) - {} may take place all the same",
                demand.run
            ),
        })?;
        match parse::<Promise>(&answer.payload) {
            Some(Promise::Yes) => Ok(()),
            Some(Promise::No { reason }) => bail!("agent '{name}' refuses: {reason}"),
            None => {
                bail!("agent '{name}' says what this version does not understand - update both")
            }
        }
    }

    /// What operators ask of agent `name`.
    ///
    /// # Errors
    /// When the server does not take it.
    pub async fn demands(&self, name: &Name) -> anyhow::Result<async_nats::Subscriber> {
        Ok(self.client.subscribe(format!("{DEMAND}.{name}")).await?)
    }

    /// Who asks to be let in, by the subject to which nobody else may publish.
    pub fn knocker(message: &async_nats::Message) -> Option<Name> {
        message.subject.rsplit('.').next()?.parse().ok()
    }

    /// Answers all that is `asked`, for as long as there is a connection.
    ///
    /// # Errors
    /// When there is none any more.
    pub async fn answer_all<A: Serialize>(
        &self,
        mut asked: async_nats::Subscriber,
        answer: impl Fn(&async_nats::Message) -> A,
    ) -> anyhow::Result<()> {
        while let Some(message) = asked.next().await {
            let payload = serde_json::to_vec(&answer(&message))?;
            if let Some(reply) = message.reply {
                self.client.publish(reply, payload.into()).await?;
            }
        }
        bail!("the server ended the subscription")
    }
}

/// A bucket as it has to be, whoever made it: leases that others forget sooner or later hold nothing.
async fn store(jetstream: &jetstream::Context, config: kv::Config) -> anyhow::Result<kv::Store> {
    let (bucket, wanted) = (config.bucket.clone(), config.max_age);
    let store = match jetstream.get_key_value(&bucket).await {
        Ok(store) => store,
        Err(_) => jetstream.create_key_value(config).await?,
    };
    let kept = store.status().await?.max_age();
    if kept != wanted {
        bail!(
            "its bucket {bucket} keeps entries for {} s, and {} s are needed (0: for good) - was it made by another version? Delete it, or use another server or account",
            kept.as_secs(),
            wanted.as_secs()
        );
    }
    Ok(store)
}

/// The stream of outcomes, which must refuse a run's second.
async fn results(jetstream: &jetstream::Context, config: stream::Config) -> anyhow::Result<Stream> {
    let mut results = jetstream.get_or_create_stream(config.clone()).await?;
    if !results.cached_info().config.allow_direct {
        // Made by an earlier version.
        jetstream.update_stream(config).await?;
        results = jetstream.get_stream(RESULTS).await?;
    }
    let kept = &results.cached_info().config;
    if kept.max_messages_per_subject != 1 || !kept.discard_new_per_subject {
        bail!(
            "its stream {RESULTS} takes more than one outcome of a run - was it made by something else? Use another server or account"
        );
    }
    Ok(results)
}

/// What others say is theirs to answer for: what does not parse is not there.
pub(crate) fn parse<T: DeserializeOwned>(octets: &[u8]) -> Option<T> {
    serde_json::from_slice(octets).ok()
}
