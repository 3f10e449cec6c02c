//! One session with a peer: its machine, its socket, its keys.

use crate::counters::Carriage;
use crate::keepalive;
use crate::way::Way;
use mgrp::path_mtu::PathMtu;
use mgrp::peer::{self, Finished, Peer, Received, Transmit};
use mgrp::transaction::{Arrival, Transaction};
use session::{DataKeys, OverlayKey, OverlayKeys, TagKey, Tagger};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;
use sys::clock;
use sys::udp::{BATCH, Datagram, Event, Outgoing, UdpSocket};
use units::{Instant, Stamp, TrafficClass};

/// How often each end says that it is there: translators of addresses forget after 30 s or more (RFC 4787).
const ALIVE: Duration = Duration::from_secs(10);
/// What the path takes is asked for after this time at first, and while trains keep their time later by this at most.
const SETTLED: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_secs(30);

/// A session that has begun, as the thread of its control connection hands it over.
pub struct Joined {
    pub socket: UdpSocket,
    pub address: SocketAddr,
    pub way: Way,
    pub keys: Keys,
    pub config: peer::Config,
    /// When something that must be the peer's came last, in nanoseconds: the control connection's thread looks at it.
    pub heard: Arc<AtomicU64>,
    /// Octets of its longest word since that was looked at.
    pub long: Arc<AtomicU16>,
    /// Where its probes go that it wants to be told of.
    pub arrivals: SyncSender<Arrival>,
}

/// Which keys are whose: of packets, and of words of life.
#[derive(Clone, Copy)]
pub struct Keys {
    out: (OverlayKey, TagKey),
    inward: (OverlayKey, TagKey),
}

impl Keys {
    /// At the end that has dialled.
    pub const fn of_client(overlay: &OverlayKeys, session: &DataKeys) -> Self {
        Self {
            out: (overlay.to_server, session.to_server),
            inward: (overlay.to_client, session.to_client),
        }
    }

    /// At the end that was dialled.
    pub const fn of_server(overlay: &OverlayKeys, session: &DataKeys) -> Self {
        let client = Self::of_client(overlay, session);
        Self {
            out: client.inward,
            inward: client.out,
        }
    }
}

/// A transaction's place in the counters: which tool began it, and the tool's number for it.
pub(super) type Owner = (u64, u32);

/// See the [module](self).
pub(super) struct Link {
    pub(super) joined: Joined,
    pub(super) peer: Peer,
    pub(super) since: Instant,
    /// Transactions that are not over.
    pub(super) owners: HashMap<u64, Owner>,
    /// Of packets that leave, and of those that come.
    taggers: [Tagger; 2],
    alive_due: Instant,
    /// The peer's words.
    newest: keepalive::Newest,
    path: PathMtu,
    /// Datagrams that are sealed and not sent.
    sealed: Vec<Vec<u8>>,
}

impl Link {
    pub(super) fn new(joined: Joined, now: Instant) -> Self {
        Self {
            peer: Peer::new(joined.config),
            newest: keepalive::Newest::default(),
            // The other end may not be there yet.
            path: PathMtu::new(joined.config.mtu, now + SETTLED),
            taggers: [joined.keys.out.0.tagger(), joined.keys.inward.0.tagger()],
            joined,
            since: now,
            owners: HashMap::new(),
            alive_due: now,
            sealed: Vec::with_capacity(BATCH),
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

    /// Sends what is due. A probe leaves by itself, for the sake of its time; what lies between probes leaves in batches.
    pub(super) fn transmit(&mut self, stamp: Stamp, is_exact: bool, counters: &mut Carriage) {
        while let Some(transmit) = self.peer.poll_transmit(clock::now()) {
            if transmit.is_probe {
                self.flush(counters);
                self.probe(transmit, stamp, counters);
            } else {
                let datagram = self.seal(transmit, stamp, clock::now());
                self.sealed.push(datagram);
                if self.sealed.len() >= BATCH {
                    self.flush(counters);
                }
            }
        }
        self.flush(counters);
        if self.alive_due <= clock::now() {
            self.say_alive();
        }
        if self.path_due(is_exact) <= clock::now() {
            self.ask_path();
        }
    }

    /// Says the words by which is learnt how long packets may be.
    fn ask_path(&mut self) {
        let (_, key) = &self.joined.keys.out;
        let peer::Config {
            session, carrier, ..
        } = self.joined.config;
        while let Some(octets) = self.path.poll_word(clock::now()) {
            let length = (octets, carrier.outside());
            keepalive::ask(&self.joined.socket, session, key, length);
        }
        self.peer.set_path_mtu(self.path.mtu());
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

    /// Takes what the path has said of single datagrams. Nothing of it is believed, but that packets are too long is looked into.
    pub(super) fn take_events(&mut self) {
        while let Ok(Some(event)) = self.joined.socket.poll_event() {
            if matches!(event, Event::Icmp(error) if error.mtu.is_some()) {
                self.path.handle_too_long(clock::now());
            }
        }
    }

    /// The moment that is told to the tool is the one that is told to the receiver.
    fn probe(&mut self, transmit: Transmit, stamp: Stamp, counters: &mut Carriage) {
        let (sequence, now) = (transmit.sequence, clock::now());
        let datagram = self.seal(transmit, stamp, now);
        let sent = self.joined.socket.send(&[outgoing(&datagram)]);
        counters.unsent += u64::from(sent.map_or(0, |sent| sent.count) == 0);
        self.peer.sent(sequence, now);
    }

    fn seal(&self, transmit: Transmit, stamp: Stamp, now: Instant) -> Vec<u8> {
        let [tagger, _] = &self.taggers;
        transmit.seal(stamp.wall_at(now), |before, after| {
            tagger.tag(before, after)
        })
    }

    /// Gives the kernel what is sealed. What finds no room there is lost, as in any interface's queue.
    fn flush(&mut self, counters: &mut Carriage) {
        let out: Vec<_> = self.sealed.iter().map(|sealed| outgoing(sealed)).collect();
        let mut rest = &out[..];
        while !rest.is_empty() {
            let sent = self.joined.socket.send_train(rest).unwrap_or(0);
            counters.unsent += u64::from(sent == 0);
            rest = rest.get(sent.max(1)..).unwrap_or_default();
        }
        drop(out);
        self.sealed.clear();
    }

    /// Tells the peer, and every translator on the way, that this end is there.
    fn say_alive(&mut self) {
        self.alive_due = clock::now() + ALIVE;
        let (_, key) = &self.joined.keys.out;
        keepalive::say(&self.joined.socket, self.joined.config.session, key);
    }

    /// Takes a datagram; none for what is no packet, or is refused and counted.
    pub(super) fn receive(
        &mut self,
        datagram: &Datagram<'_>,
        stamp: Stamp,
        now: Instant,
    ) -> Option<Received> {
        let (_, key) = &self.joined.keys.inward;
        let word = keepalive::read(datagram.payload, self.joined.config.session, key);
        if let Some(word) = word.filter(|word| self.newest.admits(*word)) {
            self.hear(now);
            let long = &self.joined.long;
            long.fetch_max(word.octets, Ordering::Relaxed);
            return None;
        }
        let arrived = datagram.wall_ns.unwrap_or_else(|| stamp.wall_at(now));
        let [_, tagger] = &self.taggers;
        let tag = |before: &[u8], after: &[u8]| tagger.tag(before, after);
        let received = self.peer.handle(datagram.payload, arrived, now, tag).ok()?;
        self.hear(now);
        Some(received)
    }

    /// Sends a probe of the peer back. It is nobody's: what comes of it is not told.
    pub(super) fn send_back(&mut self, echo: Transaction, now: Instant, counters: &mut Carriage) {
        match self.peer.begin(echo, Duration::ZERO, now) {
            Ok(_) => counters.echoes += 1,
            Err(_) => counters.unechoed += 1,
        }
    }

    fn hear(&self, now: Instant) {
        let heard = &self.joined.heard;
        heard.store(now.as_nanos(), Ordering::Relaxed);
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

fn outgoing(payload: &[u8]) -> Outgoing<'_> {
    Outgoing {
        payload,
        to: None,
        from: None,
        class: TrafficClass::default(),
    }
}
