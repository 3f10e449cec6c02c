//! The far end of loads: connections that are greeted wait for the session that they name.

use super::{Bulk, Engine, GREETING};
use crate::quic::Open;
use crate::server::Pages;
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::Duration;
use sys::clock;
use tokio::runtime::Handle;

/// For the greeting, once there is a connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// The loads of a session, as they come. Dropped, no more are taken.
#[derive(Debug)]
pub struct Loads {
    pub(crate) token: u64,
    pub(crate) pages: Pages,
    pub(crate) arrived: Receiver<Bulk>,
}

/// A session that has loads.
#[derive(Debug)]
pub(crate) struct Expected {
    /// Its client's address.
    pub(crate) peer: IpAddr,
    pub(crate) arrived: SyncSender<Bulk>,
}

impl Loads {
    /// The next one, if it comes within `timeout`.
    pub fn next(&self, timeout: Duration) -> Option<Bulk> {
        match self.arrived.recv_timeout(timeout) {
            Ok(bulk) => Some(bulk),
            Err(RecvTimeoutError::Timeout) => None,
            // Another has taken its place: nothing comes any more.
            Err(RecvTimeoutError::Disconnected) => {
                thread::park_timeout(timeout);
                None
            }
        }
    }
}

impl Drop for Loads {
    fn drop(&mut self) {
        self.pages.expect_no_more(self.token);
    }
}

/// Waits for the greeting on a new connection, and hands the load over.
pub(crate) async fn take(open: Open, arrived: SyncSender<Bulk>) -> Option<()> {
    let greeted = async {
        let (sending, mut receiving) = open.0.accept_bi().await.ok()?;
        let mut greeting = [0; GREETING];
        receiving.read_exact(&mut greeting).await.ok()?;
        Some((sending, receiving, greeting))
    };
    let (sending, receiving, greeting) = tokio::time::timeout(PATIENCE, greeted).await.ok()??;
    let bulk = Bulk {
        engine: Engine::Shared(Handle::current()),
        established: clock::now(),
        open,
        sending,
        receiving,
        greeting,
    };
    arrived.try_send(bulk).ok()
}
