//! The connections that load the path in one direction.

use super::target::Target;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::JoinSet;
use web::responsiveness::client::Link;

/// The load of a direction; it ends when it is dropped.
pub(super) struct Load {
    is_down: bool,
    links: Vec<Link>,
    transfers: JoinSet<Result<(), String>>,
    counter: Arc<AtomicU64>,
}

impl Load {
    pub(super) fn new(direction: &str) -> Self {
        Self {
            is_down: direction == "down",
            links: Vec::new(),
            transfers: JoinSet::new(),
            counter: Arc::default(),
        }
    }

    /// One more connection.
    pub(super) async fn add(&mut self, target: &Target) -> Result<(), String> {
        let link = target.dialer.open().await?.link;
        self.links.push(link.clone());
        let counter = Arc::clone(&self.counter);
        if self.is_down {
            self.transfers
                .spawn(link.download(target.large.clone(), counter));
        } else {
            self.transfers
                .spawn(link.upload(target.upload.clone(), counter));
        }
        Ok(())
    }

    pub(super) const fn connections(&self) -> usize {
        self.links.len()
    }

    /// One of the connections, by a number that nobody can guess.
    pub(super) fn any(&self, random: u64) -> Option<Link> {
        let count = u64::try_from(self.links.len()).unwrap_or(1).max(1);
        let index = usize::try_from(random % count).unwrap_or_default();
        self.links.get(index).cloned()
    }

    /// Octets that were carried so far.
    pub(super) fn carried(&self) -> u64 {
        self.counter.load(Ordering::Relaxed)
    }

    /// Waits until a transfer ends, which none is to: why it did.
    pub(super) async fn broken(&mut self) -> String {
        match self.transfers.join_next().await {
            Some(Ok(Err(reason))) => reason,
            Some(Ok(Ok(()))) => "a transfer came to its end".to_owned(),
            Some(Err(error)) => error.to_string(),
            // There is nothing to wait for yet.
            None => std::future::pending().await,
        }
    }
}
