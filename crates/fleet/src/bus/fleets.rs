//! Fleets and their revisions.

use super::{Bus, FLEETS, parse};
use crate::Name;
use crate::revisions::Document;
use anyhow::bail;
use async_nats::jetstream::kv::{self, Operation, UpdateErrorKind};
use async_nats::jetstream::stream::DirectGetErrorKind;
use async_nats::{Statistics, Subscriber};
use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

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

    /// Every revision of every fleet from this sequence number of the stream on (1: all that are kept), the oldest first, and then those
    /// that come.
    ///
    /// # Errors
    /// When the server does not take it.
    pub async fn watch_fleets(&self, sequence: u64) -> anyhow::Result<Changes> {
        let hints = self.client.subscribe(format!("$KV.{FLEETS}.*")).await?;
        let turn = Duration::from_millis(self.client.server_info().client_id % SPREAD_MS);
        tokio::time::sleep(turn).await;
        let statistics = self.client.statistics();
        Ok(Changes {
            fleets: self.fleets.clone(),
            hints,
            sequence,
            looks: Looks::default(),
            turn,
            unanswered: 0,
            connects: statistics.connects.load(Ordering::Relaxed),
            statistics,
        })
    }
}

/// Revisions of fleets, as they come.
///
/// A server keeps state for each consumer of a stream, and refuses thousands of them. So agents have none: what is published to the bucket
/// is heard as any message is, as a hint that there is something to fetch, and fetched by its sequence number in the stream, which costs the server
/// nothing while nothing happens. A hint may be ahead of what is stored, or be lost with a connection; and all agents have it at the same
/// moment, so each waits for a time of its own.
pub struct Changes {
    fleets: kv::Store,
    hints: Subscriber,
    /// The sequence number from which on nothing has been fetched.
    sequence: u64,
    looks: Looks,
    /// When it is this connection's turn, after all have heard of something.
    turn: Duration,
    /// Requests without an answer in a row.
    unanswered: u32,
    /// How often the connection had come about when this was last looked at: what was said in between is lost.
    connects: u64,
    statistics: Arc<Statistics>,
}

impl Changes {
    /// The next one.
    ///
    /// # Errors
    /// When the server is away, or does not answer.
    pub async fn next(&mut self) -> anyhow::Result<(Name, Document)> {
        loop {
            if let Some(found) = self.fetch().await? {
                return Ok(found);
            }
            self.wait().await?;
        }
    }

    /// The sequence number from which on another one goes on where this one ends.
    pub const fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Waits until there may be something to fetch.
    async fn wait(&mut self) -> anyhow::Result<()> {
        let end = Instant::now() + self.looks.wait();
        while Instant::now() < end {
            let heard = timeout_at(end.min(Instant::now() + GLANCE), self.hints.next()).await;
            let connects = self.statistics.connects.load(Ordering::Relaxed);
            let is_anew = std::mem::replace(&mut self.connects, connects) != connects;
            match heard {
                Ok(None) => bail!("the server ended the subscription"),
                Err(_) if !is_anew => continue,
                _ => {}
            }
            tokio::time::sleep(self.turn).await;
            // One look is enough for all that has been said meanwhile.
            while let Some(Some(_)) = self.hints.next().now_or_never() {}
            self.looks = Looks::HINTED;
            return Ok(());
        }
        if self.looks.is_idle() {
            self.check().await?;
        }
        self.looks.again();
        Ok(())
    }

    /// Begins anew in a bucket that was made anew.
    async fn check(&mut self) -> anyhow::Result<()> {
        let last = self.fleets.stream.get_info().await?.state.last_sequence;
        if last.saturating_add(1) < self.sequence {
            self.sequence = 1;
        }
        Ok(())
    }

    /// What is stored already.
    async fn fetch(&mut self) -> anyhow::Result<Option<(Name, Document)>> {
        let (stream, prefix) = (&self.fleets.stream, &self.fleets.prefix);
        loop {
            let all = format!("{prefix}>");
            let next = stream.direct_get_next_for_subject(all, Some(self.sequence));
            let message = match next.await {
                Ok(message) => message,
                Err(error) if error.kind() == DirectGetErrorKind::NotFound => {
                    self.unanswered = 0;
                    return Ok(None);
                }
                // The server is asked by many; one that refuses does not answer at all.
                Err(error)
                    if error.kind() == DirectGetErrorKind::TimedOut
                        && self.unanswered < MOST_UNANSWERED =>
                {
                    self.unanswered += 1;
                    self.looks = Looks::HINTED;
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            };
            (self.sequence, self.unanswered) = (message.sequence + 1, 0);
            // A fleet that is deleted, by other means, has no document.
            let name = message.subject.strip_prefix(prefix.as_str());
            let name = name.and_then(|name| name.parse().ok());
            if let (Some(name), Some(document)) = (name, parse(&message.payload)) {
                return Ok(Some((name, document)));
            }
        }
    }
}

/// How often it is looked whether the connection was made anew.
const GLANCE: Duration = Duration::from_secs(1);
/// Requests in a row that a busy server may leave without an answer.
const MOST_UNANSWERED: u32 = 4;
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

    const fn is_idle(self) -> bool {
        self.0 + 1 == WAITS.len()
    }

    fn again(&mut self) {
        self.0 = (self.0 + 1).min(WAITS.len() - 1);
    }
}
