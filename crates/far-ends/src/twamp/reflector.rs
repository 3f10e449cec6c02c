//! The Session-Reflector, for those senders that have agreed on a session.

use crate::stamp::{OPEN, put_reply};
use crate::{Request, Responder};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::Dscp;

/// Octets of a sender's packet before its padding, and of a reflector's (RFC 5357 sections 4.1.2 and 4.2.1).
const SENDER: usize = 14;
const REFLECTOR: usize = 41;
/// Sessions that are known at once.
const MOST: usize = 10_000;

/// Sessions, by their sender's address.
#[derive(Debug, Default)]
pub struct Agreed(Mutex<BTreeMap<SocketAddr, Session>>);

#[derive(Clone, Copy, Debug, Default)]
struct Session {
    /// The number of the next reply, once it has started.
    next: Option<u32>,
    /// Of its packets, both ways.
    dscp: Dscp,
    /// When its last packet came, and from when on it is answered no more: by the wall clock, in nanoseconds since 1970.
    latest_ns: u64,
    ends_ns: Option<u64>,
}

impl Agreed {
    /// A session of this sender's at `wall_ns`; false where it has one already, or there are too many.
    pub(super) fn agree(&self, peer: SocketAddr, dscp: Dscp, wall_ns: u64) -> bool {
        let mut sessions = self.lock();
        // One that was stopped makes room for the next.
        let is_taken = sessions.get(&peer).is_some_and(|old| old.ends_ns.is_none());
        let is_new = sessions.len() < MOST && !is_taken;
        if is_new {
            let session = Session {
                dscp,
                latest_ns: wall_ns,
                ..Session::default()
            };
            sessions.insert(peer, session);
        }
        is_new
    }

    /// From now on its packets are answered.
    pub(super) fn start(&self, peer: SocketAddr) {
        if let Some(session) = self.lock().get_mut(&peer) {
            session.next.get_or_insert(0);
        }
    }

    /// It is answered until `ends_ns` only.
    pub(super) fn stop(&self, peer: SocketAddr, ends_ns: u64) {
        if let Some(session) = self.lock().get_mut(&peer) {
            session.ends_ns.get_or_insert(ends_ns);
        }
    }

    /// It is over.
    pub(super) fn end(&self, peer: SocketAddr) {
        self.lock().remove(&peer);
    }

    /// When the last packet of any of these came.
    pub(super) fn latest_ns(&self, peers: &[SocketAddr]) -> Option<u64> {
        let sessions = self.lock();
        let known = peers.iter().filter_map(|peer| sessions.get(peer));
        known.map(|session| session.latest_ns).max()
    }

    /// The number of the next reply to this sender at `wall_ns`, where it has a session.
    fn next(&self, peer: SocketAddr, wall_ns: u64) -> Option<u32> {
        let mut sessions = self.lock();
        let session = sessions.get_mut(&peer)?;
        if session.ends_ns.is_some_and(|ends| wall_ns > ends) {
            return None;
        }
        let next = session.next.as_mut()?;
        let number = *next;
        *next = next.wrapping_add(1);
        session.latest_ns = session.latest_ns.max(wall_ns);
        Some(number)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SocketAddr, Session>> {
        // What is behind it is whole after every statement.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See the module.
#[derive(Debug)]
pub struct Reflector(Arc<Agreed>);

impl Reflector {
    /// For those who are in `agreed`.
    pub const fn new(agreed: Arc<Agreed>) -> Self {
        Self(agreed)
    }
}

fn canonical(peer: SocketAddr) -> SocketAddr {
    SocketAddr::new(peer.ip().to_canonical(), peer.port())
}

impl Responder for Reflector {
    fn respond(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> bool {
        let octets = request.octets;
        if octets.len() < SENDER {
            return false;
        }
        let next = self
            .0
            .next(canonical(request.peer), request.received.wall_ns);
        let Some(number) = next else {
            return false;
        };
        out.clear();
        // As long as the request, where that has room for a reply: the padding is the sender's, cut at its end (section 4.2.1).
        out.resize(REFLECTOR, 0);
        put_reply(out, &OPEN, number, request);
        let padding = octets.len().saturating_sub(REFLECTOR);
        out.extend(&octets[SENDER..SENDER + padding]);
        true
    }

    /// The session's (RFC 5357 section 3.5).
    fn dscp(&self, peer: SocketAddr) -> Dscp {
        let sessions = self.0.lock();
        let session = sessions.get(&canonical(peer));
        session.map_or_else(Dscp::default, |session| session.dscp)
    }
}
