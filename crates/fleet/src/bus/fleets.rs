//! Fleets and their revisions.

use super::{Bus, parse};
use crate::Name;
use crate::revisions::Document;
use anyhow::bail;
use async_nats::jetstream::kv::{self, Operation, UpdateErrorKind};
use futures_util::TryStreamExt as _;

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

    /// Every change of every fleet from now on, by name; those that are there come first.
    ///
    /// # Errors
    /// When the server does not say.
    pub async fn watch_fleets(&self) -> anyhow::Result<kv::Watch> {
        Ok(self.fleets.watch_with_history(">").await?)
    }
}
