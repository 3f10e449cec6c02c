//! What became of runs, and their records.

use super::retention::of_records;
use super::{Bus, PATIENCE, RECORDS, RESULT, parse};
use crate::outcome::{HandedOver, Outcome};
use crate::{Identity, Moment, Name, PublicKey, RunId};
use anyhow::{Context as _, anyhow, bail};
use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use async_nats::jetstream::consumer::{Consumer, DeliverPolicy};
use async_nats::jetstream::object_store::ObjectInfo;
use async_nats::jetstream::stream::{DirectGetErrorKind, Stream};
use async_nats::{HeaderMap, HeaderValue};
use data_encoding::{BASE64URL, HEXLOWER};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

/// A message may be a little longer than this.
const MOST_SUMMARY: usize = 512 << 10;
/// Headers of an outcome: a public key, and the signature of its owner under the message.
const SIGNER: &str = "Isobath-Signer";
const SIGNATURE: &str = "Isobath-Signature";

impl Bus {
    /// Keeps what became of a run, signed by `identity`; true if it was there already.
    ///
    /// # Errors
    /// When the server does not take it, or has been told of the run by somebody else.
    pub async fn keep(&self, outcome: &Outcome, identity: &Identity) -> anyhow::Result<bool> {
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
        headers.insert(SIGNER, identity.public().as_str());
        headers.insert(SIGNATURE, identity.sign(&value)?.as_str());
        let sent = self
            .jetstream
            .publish_with_headers(subject, headers, value.into());
        let refused = match sent.await?.await {
            Ok(_) => return Ok(false),
            Err(error) => error.into(),
        };
        // The stream refuses a second message of a subject; it refuses others, too.
        match self.outcome(&outcome.run).await? {
            Some(kept) if kept.signer == Some(identity.public()) || kept.outcome == *outcome => {
                Ok(true)
            }
            Some(_) => bail!("somebody else has already reported its outcome"),
            None => Err(refused),
        }
    }

    /// Keeps the files of a record; the SHA-256 of each.
    ///
    /// # Errors
    /// When one cannot be read, or the server does not take it.
    pub async fn keep_record(
        &self,
        run: &RunId,
        folder: &Path,
    ) -> anyhow::Result<BTreeMap<String, String>> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                files.push(entry.path());
            }
        }
        let mut digests = BTreeMap::new();
        for path in files {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let object = object(run, &name);
            let digest = sha256_of(&path)?;
            // Handed over by an earlier attempt, it need not be again.
            let kept = self.records.info(&object).await.ok();
            if kept.and_then(|kept| sha256(&kept.digest?)).as_ref() != Some(&digest) {
                let mut file = tokio::fs::File::open(&path).await?;
                self.records.put(object.as_str(), &mut file).await?;
            }
            digests.insert(name.into_owned(), digest);
        }
        Ok(digests)
    }

    /// Writes the files of the record that `outcome` tells of into `folder`, which must be there, if they have at most `most` octets together.
    ///
    /// # Errors
    /// When one is not there, is not the one that was signed, or cannot be written, or they are too long.
    pub async fn fetch_record(
        &self,
        outcome: &Outcome,
        folder: &Path,
        most: u64,
    ) -> anyhow::Result<()> {
        let mut left = most;
        let parts = self.jetstream.get_stream_no_info(of_records()).await?;
        for (name, digest) in &outcome.files {
            // It comes from somebody else: nothing of it leads out of the folder.
            anyhow::ensure!(
                Path::new(name).file_name() == Some(name.as_ref()),
                "'{name}' is no name of a file"
            );
            let object = object(&outcome.run, name);
            let found = self.records.info(object.as_str()).await;
            let found = found.with_context(|| format!("{object} is not in the object store"))?;
            let path = folder.join(name);
            let mut file = tokio::fs::File::create(&path).await?;
            let copied = copy(&parts, &found, left, &mut file).await;
            let copied = copied.with_context(|| format!("{object} cannot be fetched"))?;
            let rest = left.checked_sub(copied);
            left = rest.with_context(|| {
                format!(
                    "the record has more than {most} octets - fetch it by 'isobath fleet record'"
                )
            })?;
            file.sync_all().await?;
            let written = tokio::task::spawn_blocking(move || sha256_of(&path)).await?;
            // What the store says of it is not what was signed.
            anyhow::ensure!(
                written? == *digest,
                "{object} is not the file that was handed over"
            );
        }
        Ok(())
    }

    /// What became of `run`; none if nobody has said.
    ///
    /// # Errors
    /// When the server does not say.
    pub async fn outcome(&self, run: &RunId) -> anyhow::Result<Option<HandedOver>> {
        let found = self
            .results
            .direct_get_last_for_subject(format!("{RESULT}.{run}"));
        match found.await {
            Ok(found) => Ok(handed_over(&found.subject, &found.headers, &found.payload)),
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Everything that is kept of `fleet` (or of all fleets) now and came after `since`, in the order in which it came.
    ///
    /// # Errors
    /// When the server does not say.
    pub async fn outcomes(
        &self,
        fleet: Option<&Name>,
        since: Moment,
    ) -> anyhow::Result<Vec<HandedOver>> {
        let mut filter = RESULT.to_owned();
        match fleet {
            Some(fleet) => write!(filter, ".{fleet}.>")?,
            None => filter.push_str(".>"),
        }
        self.outcomes_under(filter, since).await
    }

    /// The same of the runs from one host to another alone.
    ///
    /// # Errors
    /// When the server does not say.
    pub async fn outcomes_of_pair(
        &self,
        fleet: Option<&Name>,
        [from, to]: [&Name; 2],
        since: Moment,
    ) -> anyhow::Result<Vec<HandedOver>> {
        let fleet = fleet.map_or("*", Name::as_str);
        let filter = format!("{RESULT}.{fleet}.*.{from}.{to}.*");
        self.outcomes_under(filter, since).await
    }

    /// The same of one measurement of a fleet.
    ///
    /// # Errors
    /// When the server does not say.
    pub async fn outcomes_of_measure(
        &self,
        fleet: &Name,
        measure: &Name,
        since: Moment,
    ) -> anyhow::Result<Vec<HandedOver>> {
        let filter = format!("{RESULT}.{fleet}.{measure}.>");
        self.outcomes_under(filter, since).await
    }

    async fn outcomes_under(
        &self,
        filter: String,
        since: Moment,
    ) -> anyhow::Result<Vec<HandedOver>> {
        if self.results.get_info().await?.state.messages == 0 {
            return Ok(Vec::new());
        }
        let mut outcomes = Vec::new();
        let mut consumer = self.consumer(filter, since).await?;
        let waiting = consumer.info().await?.num_pending;
        let mut messages = consumer.messages().await?;
        for _ in 0..waiting {
            let message = tokio::time::timeout(PATIENCE * 5, messages.next()).await;
            let message =
                message.context("NATS stopped in the middle of the results - try again")?;
            let Some(message) = message.transpose()? else {
                break;
            };
            outcomes.extend(told_by(&message));
            // Some of what was waiting may have become too old meanwhile.
            if message.info().is_ok_and(|info| info.pending == 0) {
                break;
            }
        }
        Ok(outcomes)
    }

    /// Everything that came after `since`, and then what comes, for as long as NATS is there.
    ///
    /// # Errors
    /// When the server does not say.
    pub async fn follow(
        &self,
        since: Moment,
    ) -> anyhow::Result<BoxStream<'static, anyhow::Result<HandedOver>>> {
        let consumer = self.consumer(format!("{RESULT}.>"), since).await?;
        let told = consumer
            .messages()
            .await?
            .filter_map(async |message| match message {
                Ok(message) => told_by(&message).map(Ok),
                Err(error) => Some(Err(error.into())),
            });
        Ok(told.boxed())
    }

    /// Reads what came under subjects like `filter` after `since`.
    async fn consumer(
        &self,
        filter: String,
        since: Moment,
    ) -> anyhow::Result<Consumer<OrderedConfig>> {
        let since = i128::from(since.as_millis()) * 1_000_000;
        let start_time = async_nats::datetime::from_nanos(since).map_err(|error| anyhow!(error))?;
        let consumer = self.results.create_consumer(OrderedConfig {
            filter_subject: filter,
            deliver_policy: DeliverPolicy::ByStartTime { start_time },
            ..OrderedConfig::default()
        });
        Ok(consumer.await?)
    }
}

/// Copies the parts of an object `to` a file until there are more than `most` octets; returns how many there are.
///
/// Each is asked for by itself. The client library reads an object by a consumer, which stays on the server for half a minute after
/// the last part, and a server takes only so many: reading hundreds of files in a row, as an experiment does, it refuses.
async fn copy(
    parts: &Stream<()>,
    object: &ObjectInfo,
    most: u64,
    to: &mut (impl AsyncWrite + Unpin),
) -> anyhow::Result<u64> {
    let subject = format!("$O.{RECORDS}.C.{}", object.nuid);
    let (mut next, mut copied) = (None, 0);
    for _ in 0..object.chunks {
        let part = parts.direct_get_next_for_subject(subject.as_str(), next);
        let part = part
            .await
            .context("one of its parts may be deleted already")?;
        to.write_all(&part.payload).await?;
        copied += part.payload.len() as u64;
        next = Some(part.sequence.saturating_add(1));
        if copied > most {
            break;
        }
    }
    // What the disk does not take is said here or never.
    to.flush().await?;
    Ok(copied)
}

fn told_by(message: &Message) -> Option<HandedOver> {
    let without = HeaderMap::new();
    let headers = message.headers.as_ref().unwrap_or(&without);
    handed_over(&message.subject, headers, &message.payload)
}

/// How a file of a run's record is called in the object store.
fn object(run: &RunId, file: &str) -> String {
    format!("{run}/{file}")
}

/// The SHA-256 of a file, in hexadecimal digits.
fn sha256_of(path: &Path) -> std::io::Result<String> {
    let (mut file, mut digest) = (std::fs::File::open(path)?, Sha256::new());
    let mut octets = vec![0; 1 << 16];
    loop {
        match file.read(&mut octets)? {
            0 => return Ok(HEXLOWER.encode(&digest.finalize())),
            read => digest.update(&octets[..read]),
        }
    }
}

/// A digest as the object store writes it, in hexadecimal digits.
fn sha256(digest: &str) -> Option<String> {
    let octets = BASE64URL.decode(digest.strip_prefix("SHA-256=")?.as_bytes());
    Some(HEXLOWER.encode(&octets.ok()?))
}

/// The outcome in a message; none if it is not that of the run in its subject.
fn handed_over(subject: &str, headers: &HeaderMap, payload: &[u8]) -> Option<HandedOver> {
    let outcome = parse::<Outcome>(payload)?;
    let run = subject.strip_prefix(RESULT)?.strip_prefix('.')?;
    let header = |name| headers.get(name).map(HeaderValue::as_str);
    let signer = header(SIGNER).and_then(|key| key.parse::<PublicKey>().ok());
    let signature = header(SIGNATURE).unwrap_or_default();
    let signer = signer.filter(|signer| signer.has_signed(payload, signature));
    (outcome.run.to_string() == run).then_some(HandedOver { outcome, signer })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Became, Times};

    #[test]
    fn an_outcome_counts_under_its_own_subject_alone_and_has_the_signer_who_signed_it() {
        let place = tempfile::tempdir().unwrap();
        let identity = Identity::read_or_make(&place.path().join("nkey")).unwrap();
        let run: RunId = "mesh.rtt.a.b.20261125T080000000Z".parse().unwrap();
        let times = Times {
            planned: run.instant,
            began: None,
            ended: run.instant,
        };
        let reason = "NATS was away".to_owned();
        let outcome = Outcome::without_record(run, None, times, Became::Missed, reason);
        let payload = serde_json::to_vec(&outcome).unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(SIGNER, identity.public().as_str());
        headers.insert(SIGNATURE, identity.sign(&payload).unwrap().as_str());
        let subject = "isobath.result.mesh.rtt.a.b.20261125T080000000Z";
        let signed = handed_over(subject, &headers, &payload).unwrap();
        assert_eq!(
            signed,
            HandedOver {
                outcome,
                signer: Some(identity.public())
            }
        );
        let elsewhere = "isobath.result.mesh.rtt.a.b.20261125T080001000Z";
        assert_eq!(handed_over(elsewhere, &headers, &payload), None);
        assert_eq!(handed_over(subject, &headers, &payload[1..]), None);
        let unsigned = handed_over(subject, &HeaderMap::new(), &payload).unwrap();
        assert_eq!(unsigned.signer, None);
        headers.insert(SIGNATURE, identity.sign(b"another").unwrap().as_str());
        assert_eq!(
            handed_over(subject, &headers, &payload).unwrap().signer,
            None
        );
    }

    #[test]
    fn a_digest_is_written_as_sha256sum_writes_it() {
        let digest = "SHA-256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=";
        let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(digest).as_deref(), Some(nothing));
        assert_eq!(sha256("MD5=00"), None);
        assert_eq!(sha256_of(Path::new("/dev/null")).unwrap(), nothing);
    }
}
