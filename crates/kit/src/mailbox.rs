//! Where datagrams that want no reply wait for whoever serves their session.
//!
//! One thread takes the datagrams of all sessions ([`super::responder`]). A stream that has a part at this end (a call, a
//! trace) has a mailbox: what arrives is kept there, and so is where the stream's requests came from, which is where its own
//! datagrams must go to pass address translators.

use crate::sampler::DatagramCounters;
use serde::{Deserialize, Serialize};
use session::Session;
use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;
use sys::clock;
use units::Instant;

/// A stream's datagrams have come within this time, or they do not come.
pub const HELLO: Duration = Duration::from_secs(10);
/// How often a mailbox is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// The mailboxes of all sessions. Clones are the same.
#[derive(Clone, Default)]
pub struct Mailboxes(Arc<RwLock<Register>>);

/// By session and stream.
type Register = HashMap<(u64, u16), Arc<Mailbox>>;

/// What has come for one stream.
pub struct Mailbox {
    /// The stream's other end, once it has sent a request.
    pub peer: OnceLock<Peer>,
    /// Arrivals that found no room.
    pub lost: AtomicU64,
    arrivals: Mutex<Arrivals>,
    most: usize,
    counters: Option<Arc<DatagramCounters>>,
}

/// What has arrived, each number once: a datagram that somebody plays again is none.
#[derive(Default)]
struct Arrivals {
    waiting: Vec<CallArrival>,
    heard: HashSet<u32>,
}

/// A datagram of a call, as it arrived.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct CallArrival {
    /// Which stream.
    pub stream: u16,
    /// Its number.
    pub seq: u32,
    /// When it was sent, on the sender's clock.
    pub sent_ns: u64,
    /// When it arrived, on the receiver's clock.
    pub arrived_ns: u64,
    /// Whether the receiver's kernel stamped it.
    pub kernel: bool,
    /// Traffic-class octet as it arrived.
    pub tos: Option<u8>,
}

/// Where a stream's requests came from, and at which address of this host they arrived.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// Address and port that the requests came from: where the stream's own datagrams go.
    pub address: SocketAddr,
    /// This host's address at which they arrived, where the kernel tells it.
    pub local: Option<IpAddr>,
}

/// A mailbox in the register; taken out when dropped.
pub struct Opened {
    register: Mailboxes,
    key: (u64, u16),
    mailbox: Arc<Mailbox>,
}

impl Mailboxes {
    /// Opens a mailbox for `stream` of `session` with room for `most` arrivals.
    pub fn open(&self, session: u64, stream: u16, most: usize) -> Opened {
        self.open_with(session, stream, most, None)
    }

    /// Opens one that only counts what arrives.
    pub fn open_counting(&self, session: u64, stream: u16) -> Opened {
        self.open_with(session, stream, 0, Some(Arc::default()))
    }

    fn open_with(
        &self,
        session: u64,
        stream: u16,
        most: usize,
        counters: Option<Arc<DatagramCounters>>,
    ) -> Opened {
        let mailbox = Arc::new(Mailbox {
            peer: OnceLock::new(),
            lost: AtomicU64::new(0),
            arrivals: Mutex::default(),
            most,
            counters,
        });
        let key = (session, stream);
        let mut register = self.0.write().unwrap_or_else(PoisonError::into_inner);
        register.insert(key, Arc::clone(&mailbox));
        drop(register);
        Opened {
            register: self.clone(),
            key,
            mailbox,
        }
    }

    /// The mailbox of `stream` of `session`, if there is one.
    pub fn find(&self, session: u64, stream: u16) -> Option<Arc<Mailbox>> {
        let register = self.0.read().unwrap_or_else(PoisonError::into_inner);
        register.get(&(session, stream)).cloned()
    }
}

impl Mailbox {
    /// What has been counted, of a mailbox that counts.
    pub fn counters(&self) -> Option<Arc<DatagramCounters>> {
        self.counters.clone()
    }

    /// Keeps an arrival of so many octets, unless there are too many, or it has arrived before; or counts it.
    pub fn put(&self, arrival: CallArrival, octets: usize) {
        if let Some(counters) = &self.counters {
            return counters.receives(octets);
        }
        let mut arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        if arrivals.heard.contains(&arrival.seq) {
            return;
        }
        if arrivals.heard.len() < self.most {
            arrivals.heard.insert(arrival.seq);
            arrivals.waiting.push(arrival);
        } else {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Takes all arrivals out.
    pub fn take(&self) -> Vec<CallArrival> {
        let mut arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut arrivals.waiting)
    }
}

impl Opened {
    /// Waits until the stream has shown by UDP where it comes from.
    ///
    /// # Errors
    /// In words for the client, when nothing came by `deadline` or the session is closed.
    pub fn wait_for_peer(&self, session: &Session, deadline: Instant) -> Result<Peer, String> {
        loop {
            if let Some(peer) = self.peer.get() {
                return Ok(*peer);
            }
            if clock::now() >= deadline || session.is_closed() {
                return Err(
                    "no datagram of yours arrived here - let UDP through to the same port as TCP"
                        .to_owned(),
                );
            }
            clock::sleep_until(clock::now() + LOOK);
        }
    }
}

impl std::ops::Deref for Opened {
    type Target = Mailbox;

    fn deref(&self) -> &Mailbox {
        &self.mailbox
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let mut register = self
            .register
            .0
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        register.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(seq: u32) -> CallArrival {
        CallArrival {
            stream: 7,
            seq,
            sent_ns: 0,
            arrived_ns: 0,
            kernel: true,
            tos: None,
        }
    }

    #[test]
    fn a_mailbox_is_found_while_it_is_open_and_holds_no_more_than_it_may() {
        let register = Mailboxes::default();
        let opened = register.open(1, 7, 2);
        let found = register.find(1, 7).unwrap();
        assert!(register.find(2, 7).is_none());
        (0..3).for_each(|seq| found.put(arrival(seq), 56));
        assert_eq!(opened.take(), [arrival(0), arrival(1)]);
        found.put(arrival(1), 56);
        assert_eq!(opened.take(), [], "somebody has played it again");
        assert_eq!(opened.lost.load(Ordering::Relaxed), 1);
        drop(opened);
        assert!(register.find(1, 7).is_none());
        let counting = register.open_counting(1, 7);
        (0..3).for_each(|_| counting.put(arrival(0), 1_200));
        let octets = counting.counters().unwrap();
        assert_eq!(octets.octets.load(Ordering::Relaxed), 3_600);
        assert_eq!(counting.take(), []);
    }
}
