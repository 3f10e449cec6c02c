//! Fleets and their revisions.

use super::{Bus, FLEETS, parse};
use crate::Name;
use crate::revisions::Document;
use anyhow::bail;
use async_nats::Subscriber;
use async_nats::jetstream::kv::{self, Operation, UpdateErrorKind};
use async_nats::jetstream::stream::DirectGetErrorKind;
use futures_util::{StreamExt as _, TryStreamExt as _};
use std::time::Duration;

impl Bus {
    /// All revisions of all fleets that are kept, the oldest first, with the entry's revision.
    ///
    /// # Errors
    /// When the server does not say.
    pub async fn fleets(&self) -> anyhow::Result<Vec<(Name, Vec<(u64, Document)>)>> {
        let mut fleets = Vec::new();
        let keys: Vec<String> = self.fleets.keys().await?.try_collect().await?;
        for key in keys {
            let Ok(name) = key.parse::<Name>() else {
                continue;
            };
            let revisions = self.revisions(&name).await?;
            fleets.push((name, revisions));
        }
        fleets.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(fleets)
    }

    /// The revisions of one fleet, the oldest first; none if there is no such fleet.
    ///
    /// # Errors
    /// When the server does not say.
    pub async fn revisions(&self, name: &Name) -> anyhow::Result<Vec<(u64, Document)>> {
        let mut revisions = Vec::new();
        let mut history = self.fleets.history(name.as_str()).await?;
        while let Some(entry) = history.try_next().await? {
            if entry.operation == Operation::Put
                && let Some(document) = parse::<Document>(&entry.value)
            {
                revisions.push((entry.revision, document));
            }
        }
        Ok(revisions)
    }

    /// Adds a revision to a fleet that has this entry's revision last (0: none).
    ///
    /// # Errors
    /// When somebody else was faster, or the server does not take it.
    pub async fn revise(&self, name: &Name, document: &Document, last: u64) -> anyhow::Result<()> {
        let value = serde_json::to_vec(document)?;
        let put = self.fleets.update(name.as_str(), value.into(), last).await;
        match put {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => {
                bail!("somebody else has just changed fleet '{name}' - look at it and try again")
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Every revision of every fleet that is kept, the oldest first, and then those that come.
    ///
    /// # Errors
    /// When the server does not take it.
    pub async fn watch_fleets(&self) -> anyhow::Result<Changes> {
        let hints = self.client.subscribe(format!("$KV.{FLEETS}.*")).await?;
        Ok(Changes {
            fleets: self.fleets.clone(),
            hints,
            next: 1,
            looks: Looks::default(),
            turn: Duration::from_millis(self.client.server_info().client_id % SPREAD_MS),
        })
    }
}

/// Revisions of fleets, as they come.
///
/// A server keeps state for each consumer of a stream, and refuses thousands of them. So agents have none: what is published to the bucket
/// is heard as any message is, as a hint that there is something to fetch, and fetched by its place in the stream, which costs the server
/// nothing while nothing happens. A hint may be ahead of what is stored, or be lost with a connection; and all agents have it at the same
/// moment, so each waits for a time of its own.
pub struct Changes {
    fleets: kv::Store,
    hints: Subscriber,
    /// The place in the stream from which on nothing has been fetched.
    next: u64,
    looks: Looks,
    /// When it is this connection's turn, after all have heard of something.
    turn: Duration,
}

impl Changes {
    /// The next one.
    ///
    /// # Errors
    /// When the server is away.
    pub async fn next(&mut self) -> anyhow::Result<(Name, Document)> {
        loop {
            if let Some(found) = self.fetch().await? {
                return Ok(found);
            }
            match tokio::time::timeout(self.looks.wait(), self.hints.next()).await {
                Ok(Some(_)) => {
                    self.looks = Looks::HINTED;
                    tokio::time::sleep(self.turn).await;
                }
                Ok(None) => bail!("the server ended the subscription"),
                Err(_) => self.looks.again(),
            }
        }
    }

    /// What is stored already.
    async fn fetch(&mut self) -> anyhow::Result<Option<(Name, Document)>> {
        let (stream, prefix) = (&self.fleets.stream, &self.fleets.prefix);
        loop {
            let all = format!("{prefix}>");
            let next = stream.direct_get_next_for_subject(all, Some(self.next));
            let message = match next.await {
                Ok(message) => message,
                Err(error) if error.kind() == DirectGetErrorKind::NotFound => return Ok(None),
                // It is asked by many. Whether it is there at all, presence finds out.
                Err(error) if error.kind() == DirectGetErrorKind::TimedOut => {
                    self.looks = Looks::HINTED;
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            };
            self.next = message.sequence + 1;
            // A fleet that is deleted, by other means, has no document.
            let name = message.subject.strip_prefix(prefix.as_str());
            let name = name.and_then(|name| name.parse().ok());
            if let (Some(name), Some(document)) = (name, parse(&message.payload)) {
                return Ok(Some((name, document)));
            }
        }
    }
}

/// Over so many milliseconds agents fetch what all have heard of at once.
const SPREAD_MS: u64 = 400;

/// When to look next.
#[derive(Clone, Copy)]
struct Looks(usize);

/// Soon after a hint, and now and then without one.
const WAITS: [Duration; 4] = [
    Duration::from_millis(50),
    Duration::from_millis(250),
    Duration::from_secs(1),
    Duration::from_secs(30),
];

impl Default for Looks {
    fn default() -> Self {
        Self(WAITS.len() - 1)
    }
}

impl Looks {
    const HINTED: Self = Self(0);

    const fn wait(self) -> Duration {
        WAITS[self.0]
    }

    fn again(&mut self) {
        self.0 = (self.0 + 1).min(WAITS.len() - 1);
    }
}
