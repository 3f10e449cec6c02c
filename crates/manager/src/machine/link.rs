//! One session with a peer: its machine, the words that keep it alive, and how long its packets may be.

use super::Leaving;
use crate::counters::Carriage;
use crate::way::Way;
use mgrp::path_mtu::PathMtu;
use mgrp::peer::{self, Finished, Peer};
use mgrp::transaction::{Arrival, Transaction};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::mpsc::SyncSender;
use std::time::Duration;
use units::Instant;

/// How often each end says that it is there: translators of addresses forget after 30 s or more (RFC 4787).
const ALIVE: Duration = Duration::from_secs(10);
/// What the path takes is asked for after this time at first, and while trains keep their time later by this at most.
const SETTLED: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_secs(30);

/// A session that has begun.
#[derive(Debug)]
pub struct Session {
    /// What was agreed upon.
    pub config: peer::Config,
    /// Where the peer is outside, and by what packets go there.
    pub address: SocketAddr,
    /// See `address`.
    pub way: Way,
    /// Where its probes go that it wants to be told of.
    pub arrivals: SyncSender<Arrival>,
}

/// A transaction's place in the counters: which tool began it, and the tool's number for it.
pub(super) type Owner = (u64, u32);

/// See the [module](self).
pub(super) struct Link {
    pub(super) session: Session,
    pub(super) peer: Peer,
    pub(super) since: Instant,
    /// Transactions that are not over.
    pub(super) owners: HashMap<u64, Owner>,
    alive_due: Instant,
    path: PathMtu,
}

impl Link {
    pub(super) fn new(session: Session, now: Instant) -> Self {
        Self {
            peer: Peer::new(session.config),
            // The other end may not be there yet.
            path: PathMtu::new(session.config.mtu, now + SETTLED),
            session,
            since: now,
            owners: HashMap::new(),
            alive_due: now,
        }
    }

    /// When something is to be done for it, while trains keep their time (`is_exact`) or none does.
    pub(super) fn next_timeout(&self, is_exact: bool) -> Instant {
        let due = self.alive_due.min(self.path_due(is_exact));
        let packets = self.peer.next_timeout();
        packets.map_or(due, |packets| packets.min(due))
    }

    /// Long words disturb trains, and wait, but not for ever.
    fn path_due(&self, is_exact: bool) -> Instant {
        let wait = if is_exact { PATIENCE } else { Duration::ZERO };
        self.path.next_timeout() + wait
    }

    /// What leaves now: packets, then the word that this end is there, then those by which is learnt how long packets may be.
    pub(super) fn poll_transmit(&mut self, is_exact: bool, now: Instant) -> Option<Leaving> {
        if let Some(transmit) = self.peer.poll_transmit(now) {
            return Some(Leaving::Datagram(transmit));
        }
        if self.alive_due <= now {
            self.alive_due = now + ALIVE;
            return Some(Leaving::Word(0));
        }
        if self.path_due(is_exact) > now {
            return None;
        }
        let octets = self.path.poll_word(now);
        self.peer.set_path_mtu(self.path.mtu());
        octets.map(Leaving::Word)
    }

    /// What the path was seen to take.
    pub(super) fn path_mtu(&self) -> Option<u16> {
        self.path.is_found().then(|| self.path.mtu())
    }

    /// The peer says that a word of so many octets came.
    pub(super) fn learn(&mut self, octets: u16, now: Instant) {
        self.path.handle_answer(octets, now);
        self.peer.set_path_mtu(self.path.mtu());
    }

    /// The path says that packets are too long.
    pub(super) fn too_long(&mut self, now: Instant) {
        self.path.handle_too_long(now);
    }

    /// Sends a probe of the peer back. It is nobody's: what comes of it is not told.
    pub(super) fn send_back(&mut self, echo: Transaction, now: Instant, counters: &mut Carriage) {
        match self.peer.begin(echo, Duration::ZERO, now) {
            Ok(_) => counters.echoes += 1,
            Err(_) => counters.unechoed += 1,
        }
    }

    /// The transactions that are over, and whose they were.
    pub(super) fn finished(&mut self) -> Vec<(Owner, Finished)> {
        let mut all = Vec::new();
        while let Some(finished) = self.peer.poll_finished() {
            if let Some(owner) = self.owners.remove(&finished.number) {
                all.push((owner, finished));
            }
        }
        all
    }

    /// Calls off what `is_meant`.
    pub(super) fn call_off(&mut self, is_meant: impl Fn(&Owner) -> bool) {
        let meant = self.owners.iter().filter(|(_, owner)| is_meant(owner));
        let numbers: Vec<_> = meant.map(|(number, _)| *number).collect();
        for number in numbers {
            self.peer.call_off(number);
        }
    }
}
