//! NATS: the one thin place where what is decided elsewhere meets the server.
//!
//! | what | where |
//! |---|---|
//! | fleets, each with its revisions | key-value bucket `isobath-fleets`, kept |
//! | who is there | key-value bucket `isobath-agents`, forgotten after [`PRESENCE`] |
//! | hosts and links that are taken | key-value bucket `isobath-leases`, forgotten after [`lease::LENGTH`] |
//! | what became of runs | stream `isobath-results`, subjects `isobath.result.FLEET.MEASUREMENT.FROM.TO.INSTANT` |
//! | their records | object store `isobath-records` |
//! | to be let in | request and reply on `isobath.knock.NAME` |
//!
//! The stream takes one message a subject and refuses the next, so a run has one outcome however often it is handed over.

mod fleets;
mod leases;
mod results;

use crate::messages::{Knock, Presence, Welcome};
use crate::{Name, lease};
use anyhow::{Context as _, anyhow, bail};
use async_nats::jetstream::kv;
use async_nats::jetstream::stream::{self, DiscardPolicy, StorageType, Stream};
use async_nats::jetstream::{self, object_store};
use async_nats::{Client, ConnectOptions};
use futures_util::TryStreamExt as _;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// Who has said nothing for so long is not there.
pub const PRESENCE: Duration = Duration::from_secs(15);
/// A request that was not answered by then is not answered.
const PATIENCE: Duration = Duration::from_secs(2);
/// From one attempt to connect to the next, at most.
const RECONNECT: Duration = Duration::from_millis(500);
/// Repeated messages are recognised for so long by their ids, and after that by their subjects.
const DUPLICATES: Duration = Duration::from_secs(600);
/// Revisions of a fleet that are kept.
const REVISIONS: i64 = 64;

const FLEETS: &str = "isobath-fleets";
const AGENTS: &str = "isobath-agents";
const LEASES: &str = "isobath-leases";
const RESULTS: &str = "isobath-results";
const RECORDS: &str = "isobath-records";
const RESULT: &str = "isobath.result";
const KNOCK: &str = "isobath.knock";

/// Where NATS is, and how it lets us in.
#[derive(Clone, Debug, clap::Args)]
pub struct Access {
    /// The server's URL.
    #[arg(
        long,
        help = "NATS server: nats://HOST or tls://HOST, with USER:PASSWORD@ or TOKEN@ before HOST where it wants them",
        value_name = "URL",
        env = "ISOBATH_NATS",
        hide_env_values = true,
        default_value = "nats://127.0.0.1"
    )]
    pub nats: String,
    /// File with the certificates that vouch for the NATS server [default: the system's].
    #[arg(long, value_name = "FILE")]
    pub nats_ca: Option<std::path::PathBuf>,
}

impl Access {
    /// To the server at `url`, with what the system vouches for.
    pub fn at(url: &str) -> Self {
        Self {
            nats: url.to_owned(),
            nats_ca: None,
        }
    }
}

/// A connection that mends itself, and all that the fleet keeps on the server.
#[derive(Clone)]
pub struct Bus {
    client: Client,
    jetstream: jetstream::Context,
    fleets: kv::Store,
    agents: kv::Store,
    leases: kv::Store,
    results: Stream,
    records: object_store::ObjectStore,
}

/// Connects; who `is_patient` goes on trying in the background if the server is not there yet.
///
/// # Errors
/// When the address is none, or nobody is there and it has to be now.
pub async fn connect(access: &Access, name: &str, is_patient: bool) -> anyhow::Result<Client> {
    let delay = |attempts: usize| {
        let attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
        RECONNECT.min(Duration::from_millis(50).saturating_mul(attempts))
    };
    let mut options = ConnectOptions::new()
        .name(name)
        .request_timeout(Some(PATIENCE))
        .reconnect_delay_callback(delay);
    if is_patient {
        options = options.retry_on_initial_connect();
    }
    if let Some(file) = &access.nats_ca {
        options = options.add_root_certificates(file.clone());
    }
    let (url, who) = apart(&access.nats);
    options = match who {
        Some((token, None)) => options.token(token.to_owned()),
        Some((user, Some(password))) => {
            options.user_and_password(user.to_owned(), password.to_owned())
        }
        None => options,
    };
    let client = options.connect(url).await;
    client.map_err(|error| {
        let (place, error) = (place(&access.nats), error.to_string());
        let advice = if error.contains("authorization") {
            "give the right user and password (--nats SCHEME://USER:PASSWORD@HOST)"
        } else if error.contains("certificate") {
            "give the authority's certificate (--nats-ca FILE)"
        } else {
            "is it there? (--nats URL)"
        };
        anyhow!("NATS at {place} cannot be reached: {error} - {advice}")
    })
}

/// An address without what lets somebody in.
pub(crate) fn place(url: &str) -> String {
    apart(url).0
}

/// A user and his password, or a token alone; as they are written, without any escapes.
type Who<'a> = (&'a str, Option<&'a str>);

/// The server's URL, and apart from it what lets us in.
fn apart(url: &str) -> (String, Option<Who<'_>>) {
    let (scheme, rest) = url.split_once("://").unwrap_or(("nats", url));
    let (who, host) = match rest.rsplit_once('@') {
        Some((who, host)) => (Some(who), host),
        None => (None, rest),
    };
    let who = who.map(|who| match who.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (who, None),
    });
    (format!("{scheme}://{host}"), who)
}

impl Bus {
    /// Connects, and fails if the server is not there by then.
    ///
    /// # Errors
    /// When it is not there, or has no `JetStream`.
    pub async fn open(access: &Access, name: &str) -> anyhow::Result<Self> {
        let client = connect(access, name, false).await?;
        let opened = Self::on(client).await;
        opened.with_context(|| {
            format!(
                "NATS at {} cannot be used - start it with 'nats-server -js'",
                place(&access.nats)
            )
        })
    }

    /// What the fleet keeps on the server, made where it is missing.
    ///
    /// # Errors
    /// When the server is not there, or has no `JetStream`.
    pub async fn on(client: Client) -> anyhow::Result<Self> {
        // What goes on inside is large, and kept off the callers' stacks.
        Box::pin(Self::make(client)).await
    }

    async fn make(client: Client) -> anyhow::Result<Self> {
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(PATIENCE);
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
            duplicate_window: DUPLICATES,
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
            results: self::results(&jetstream, results).await?,
            records: match jetstream.get_object_store(RECORDS).await {
                Ok(records) => records,
                Err(_) => jetstream.create_object_store(records).await?,
            },
            jetstream,
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
        let mut present = Vec::new();
        let mut keys = self.agents.keys().await?;
        while let Some(key) = keys.try_next().await? {
            if let Some(value) = self.agents.get(key).await?
                && let Some(presence) = parse::<Presence>(&value)
            {
                present.push(presence);
            }
        }
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
            .request(format!("{KNOCK}.{name}"), payload.into())
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
        Ok(self.client.subscribe(format!("{KNOCK}.{name}")).await?)
    }

    /// Answers one of them.
    ///
    /// # Errors
    /// When the server does not take it.
    pub async fn answer(
        &self,
        message: &async_nats::Message,
        welcome: &Welcome,
    ) -> anyhow::Result<()> {
        if let Some(reply) = &message.reply {
            let payload = serde_json::to_vec(welcome)?;
            self.client.publish(reply.clone(), payload.into()).await?;
        }
        Ok(())
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
    let results = jetstream.get_or_create_stream(config).await?;
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

#[cfg(test)]
mod tests {
    use super::apart;

    #[test]
    fn what_lets_us_in_is_kept_apart_from_the_address() {
        for (url, address, who) in [
            ("nats://hub", "nats://hub", None),
            ("hub:4223", "nats://hub:4223", None),
            (
                "tls://a:b:@c@hub:1",
                "tls://hub:1",
                Some(("a", Some("b:@c"))),
            ),
            (
                "nats://t0ken@[::1]:1",
                "nats://[::1]:1",
                Some(("t0ken", None)),
            ),
        ] {
            assert_eq!(apart(url), (address.to_owned(), who));
        }
    }
}
