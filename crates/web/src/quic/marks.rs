//! With which DSCP a server sends to whom: that with which the peer's own handshake came, as long as its connection is open.
//!
//! What handshakes came with is kept for some thousand peers. Of one whose connection is open it is kept as long as that, and what comes
//! meanwhile in its name changes nothing.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::Dscp;

/// Peers whose handshakes are remembered.
const MOST: usize = 4_096;

#[derive(Debug, Default)]
pub(super) struct Marks(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    recent: HashMap<SocketAddr, Dscp>,
    open: HashMap<SocketAddr, Dscp>,
}

/// Keeps the mark of a peer; dropped, it is forgotten.
#[derive(Debug)]
pub(super) struct Kept {
    marks: Arc<Marks>,
    peer: SocketAddr,
}

impl Marks {
    /// The DSCP of what is sent to `peer`.
    pub(super) fn of(&self, peer: SocketAddr) -> Dscp {
        let known = self.lock();
        let found = known.open.get(&peer).or_else(|| known.recent.get(&peer));
        found.copied().unwrap_or_default()
    }

    /// A packet of a handshake came from `peer` with this DSCP.
    pub(super) fn learn(&self, peer: SocketAddr, dscp: Dscp) {
        let mut known = self.lock();
        if known.recent.len() >= MOST {
            known.recent.clear();
        }
        known.recent.insert(peer, dscp);
    }

    /// The connection of `peer` is open: its mark stays what it is now.
    pub(super) fn keep(self: &Arc<Self>, peer: SocketAddr) -> Kept {
        let dscp = self.of(peer);
        self.lock().open.insert(peer, dscp);
        let marks = Arc::clone(self);
        Kept { marks, peer }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.marks.lock().open.remove(&self.peer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_connection_keeps_its_mark_whoever_else_comes() {
        let marks = Arc::new(Marks::default());
        let peer = |port: u16| SocketAddr::from(([192, 0, 2, 1], port));
        marks.learn(peer(1), Dscp::EF);
        assert_eq!(marks.of(peer(1)), Dscp::EF);
        let kept = marks.keep(peer(1));
        for port in 0..2 * u16::try_from(MOST).unwrap() {
            marks.learn(peer(port), Dscp::CS1);
        }
        assert_eq!(marks.of(peer(1)), Dscp::EF);
        drop(kept);
        assert_eq!(marks.of(peer(1)), Dscp::CS0, "forgotten");
        assert!(marks.0.lock().unwrap().recent.len() <= MOST);
    }
}
