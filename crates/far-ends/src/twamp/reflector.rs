//! The Session-Reflector, for those senders that have agreed on a session.

use crate::stamp::{OPEN, put_reply};
use crate::{Request, Responder};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Octets of a sender's packet before its padding, and of a reflector's (RFC 5357 sections 4.1.2 and 4.2.1).
const SENDER: usize = 14;
const REFLECTOR: usize = 41;
/// Sessions that are known at once.
const MOST: usize = 10_000;

/// Sessions, by their sender's address.
#[derive(Debug, Default)]
pub struct Agreed(Mutex<BTreeMap<SocketAddr, Session>>);

/// A session: the number of the next reply, once it has started.
type Session = Option<u32>;

impl Agreed {
    /// A session of this sender's; false where it has one already, or there are too many.
    pub(super) fn agree(&self, peer: SocketAddr) -> bool {
        let mut sessions = self.lock();
        let is_new = sessions.len() < MOST && !sessions.contains_key(&peer);
        if is_new {
            sessions.insert(peer, None);
        }
        is_new
    }

    /// From now on its packets are answered.
    pub(super) fn start(&self, peer: SocketAddr) {
        if let Some(session) = self.lock().get_mut(&peer) {
            session.get_or_insert(0);
        }
    }

    /// It is over.
    pub(super) fn end(&self, peer: SocketAddr) {
        self.lock().remove(&peer);
    }

    /// The number of the next reply to this sender, where it has a session.
    fn next(&self, peer: SocketAddr) -> Option<u32> {
        let mut sessions = self.lock();
        let next = sessions.get_mut(&peer)?.as_mut()?;
        let number = *next;
        *next = next.wrapping_add(1);
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

impl Responder for Reflector {
    fn respond(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> bool {
        let octets = request.octets;
        let peer = SocketAddr::new(request.peer.ip().to_canonical(), request.peer.port());
        let Some(number) = (octets.len() >= SENDER)
            .then(|| self.0.next(peer))
            .flatten()
        else {
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
}
