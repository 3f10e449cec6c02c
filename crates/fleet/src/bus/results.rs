//! What became of runs, and their records.

use super::{Bus, PATIENCE, RESULT, parse};
use crate::outcome::Outcome;
use crate::{Moment, Name, RunId};
use anyhow::{Context as _, anyhow};
use async_nats::HeaderMap;
use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use futures_util::StreamExt as _;
use std::fmt::Write as _;
use std::path::Path;

/// A message may be a little longer than this.
const MOST_SUMMARY: usize = 512 << 10;

impl Bus {
    /// Keeps what became of a run; true if it was there already.
    ///
    /// # Errors
    /// When the server does not take it.
    pub async fn keep(&self, outcome: &Outcome) -> anyhow::Result<bool> {
        let mut value = serde_json::to_vec(outcome)?;
        if value.len() > MOST_SUMMARY {
            // It is in the record's run.json.
            let summary = serde_json::Value::Null;
            value = serde_json::to_vec(&Outcome {
                summary,
                ..outcome.clone()
            })?;
        }
        let subject = format!("{RESULT}.{}", outcome.run);
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Msg-Id", outcome.run.to_string().as_str());
        let sent = self
            .jetstream
            .publish_with_headers(subject.clone(), headers, value.into());
        let error = match sent.await?.await {
            Ok(ack) => return Ok(ack.duplicate),
            Err(error) => error,
        };
        // The stream refuses a second message of a subject; it refuses others, too.
        let kept = self.results.get_last_raw_message_by_subject(&subject).await;
        if kept.is_ok() {
            Ok(true)
        } else {
            Err(error.into())
        }
    }

    /// Keeps the files of a record.
    ///
    /// # Errors
    /// When one cannot be read, or the server does not take it.
    pub async fn keep_record(&self, run: &RunId, folder: &Path) -> anyhow::Result<()> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                files.push(entry.path());
            }
        }
        files.sort();
        for path in files {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let mut file = tokio::fs::File::open(&path).await?;
            let object = format!("{run}/{name}");
            self.records.put(object.as_str(), &mut file).await?;
        }
        Ok(())
    }

    /// Everything that is kept of `fleet` (or of all fleets) now and came after `since`, in the order in which it came.
    ///
    /// # Errors
    /// When the server does not say.
    pub async fn outcomes(
        &self,
        fleet: Option<&Name>,
        since: Moment,
    ) -> anyhow::Result<Vec<Outcome>> {
        let info = self.results.get_info().await?;
        let mut filter = RESULT.to_owned();
        match fleet {
            Some(fleet) => write!(filter, ".{fleet}.>")?,
            None => filter.push_str(".>"),
        }
        let mut outcomes = Vec::new();
        if info.state.messages == 0 {
            return Ok(outcomes);
        }
        let since = i128::from(since.as_millis()) * 1_000_000;
        let start_time = async_nats::datetime::from_nanos(since).map_err(|error| anyhow!(error))?;
        let deliver_policy = DeliverPolicy::ByStartTime { start_time };
        let consumer = self.results.create_consumer(OrderedConfig {
            filter_subject: filter,
            deliver_policy,
            ..OrderedConfig::default()
        });
        let mut consumer = consumer.await?;
        let waiting = consumer.info().await?.num_pending;
        let mut messages = consumer.messages().await?;
        for _ in 0..waiting {
            let message = tokio::time::timeout(PATIENCE * 5, messages.next()).await;
            let message =
                message.context("NATS stopped in the middle of the results - try again")?;
            let Some(message) = message.transpose()? else {
                break;
            };
            outcomes.extend(parse::<Outcome>(&message.payload));
        }
        Ok(outcomes)
    }
}
