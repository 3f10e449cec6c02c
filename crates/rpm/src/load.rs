//! The connections that load the path in one direction.

use super::target::Target;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;
use web::responsiveness::client::Link;

/// How long a connection may take to open.
const PATIENCE: Duration = Duration::from_secs(10);

/// The load of a direction; it ends when it is dropped.
pub(super) struct Load {
    is_down: bool,
    /// Connections that were asked for.
    asked: usize,
    /// Those of them that are open.
    links: Arc<Mutex<Vec<Link>>>,
    transfers: JoinSet<Result<(), String>>,
    counter: Arc<AtomicU64>,
}

impl Load {
    pub(super) fn new(direction: &str) -> Self {
        Self {
            is_down: direction == "down",
            asked: 0,
            links: Arc::default(),
            transfers: JoinSet::new(),
            counter: Arc::default(),
        }
    }

    /// One more connection, which opens while time goes on: over a full queue that may take longer than an interval.
    pub(super) fn add(&mut self, target: &Target) {
        self.asked += 1;
        let (target, is_down) = (target.clone(), self.is_down);
        let (links, counter) = (Arc::clone(&self.links), Arc::clone(&self.counter));
        self.transfers.spawn(async move {
            let opened = tokio::time::timeout(PATIENCE, target.dialer.open()).await;
            let late = |_| {
                format!(
                    "a connection took more than {} s to open",
                    PATIENCE.as_secs()
                )
            };
            let link = opened.map_err(late)??.link;
            lock(&links).push(link.clone());
            if is_down {
                link.download(target.large, counter).await
            } else {
                link.upload(target.upload, counter).await
            }
        });
    }

    /// Connections that were asked for.
    pub(super) const fn asked(&self) -> usize {
        self.asked
    }

    /// Connections that are open.
    pub(super) fn connections(&self) -> usize {
        lock(&self.links).len()
    }

    /// One of the connections, by a number that nobody can guess.
    pub(super) fn any(&self, random: u64) -> Option<Link> {
        let links = lock(&self.links);
        let count = u64::try_from(links.len()).unwrap_or(1).max(1);
        let index = usize::try_from(random % count).unwrap_or_default();
        links.get(index).cloned()
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

fn lock(links: &Mutex<Vec<Link>>) -> MutexGuard<'_, Vec<Link>> {
    links.lock().unwrap_or_else(PoisonError::into_inner)
}
