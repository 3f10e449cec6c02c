//! Leases: what [`crate::lease`] asks, of the bucket.

use super::{Bus, PATIENCE};
use crate::lease::{Answer, Ask};
use async_nats::jetstream::kv::Operation;

impl Bus {
    /// Asks for a lease, renews it or gives it back; `token` says whose it is.
    pub async fn lease(&self, ask: &Ask, token: &str) -> Answer {
        let answer = tokio::time::timeout(PATIENCE * 2, self.try_lease(ask, token)).await;
        answer.unwrap_or(Answer::Silence)
    }

    async fn try_lease(&self, ask: &Ask, token: &str) -> Answer {
        let value = || token.to_owned().into();
        let (key, stored) = match ask {
            Ask::Create(key) => (key, self.leases.create(key, value()).await.ok()),
            Ask::Renew(key, revision) => {
                (key, self.leases.update(key, value(), *revision).await.ok())
            }
            Ask::Remove(key, revision) => {
                let revision = Some(*revision);
                let removed = self.leases.delete_expect_revision(key, revision).await;
                return removed.map_or(Answer::Silence, |()| Answer::Gone);
            }
        };
        if let Some(revision) = stored {
            return Answer::Stored(revision);
        }
        match self.leases.entry(key).await {
            Ok(Some(entry)) if entry.operation != Operation::Put => Answer::Gone,
            Ok(Some(entry)) if entry.value == token => Answer::WasStored(entry.revision),
            Ok(Some(entry)) => Answer::Taken(String::from_utf8_lossy(&entry.value).into_owned()),
            Ok(None) => Answer::Gone,
            Err(_) => Answer::Silence,
        }
    }
}
