//! What carries a session with a peer: its socket and its keys.

use crate::keepalive;
use crate::machine::{Leaving, Machine, Session};
use mgrp::envelope::{Carrier, TAG};
use mgrp::peer::Transmit;
use session::{DataKeys, OverlayKey, OverlayKeys, TagKey, Tagger};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use sys::clock;
use sys::udp::{BATCH, Event, Outgoing, UdpSocket};
use units::{Instant, Stamp, TrafficClass};

/// A session that has begun, as the thread of its control connection hands it over.
pub struct Joined {
    pub socket: UdpSocket,
    pub keys: Keys,
    pub session: Session,
    /// When something that must be the peer's came last, in nanoseconds: the control connection's thread looks at it.
    pub heard: Arc<AtomicU64>,
    /// Octets of its longest word since that was looked at.
    pub long: Arc<AtomicU16>,
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

/// See the [module](self).
pub(super) struct Line {
    pub(super) socket: UdpSocket,
    number: u64,
    carrier: Carrier,
    keys: Keys,
    /// Of packets that leave, and of those that come.
    taggers: [Tagger; 2],
    heard: Arc<AtomicU64>,
    long: Arc<AtomicU16>,
    /// The peer's words.
    newest: keepalive::Newest,
    /// Datagrams that are sealed and not sent.
    sealed: Vec<Vec<u8>>,
    /// Datagrams that the kernel has dropped on the socket for want of room.
    overflows: u32,
}

impl Line {
    /// How many more datagrams the kernel has dropped, when it has told of `overflows` in all.
    pub(super) fn overflowed(&mut self, overflows: u32) -> u64 {
        overflows
            .wrapping_sub(std::mem::replace(&mut self.overflows, overflows))
            .into()
    }

    /// Takes what is not the machine's of a session that has begun; the rest is.
    pub(super) fn new(joined: Joined) -> (Self, Session) {
        let Joined {
            socket,
            keys,
            session,
            heard,
            long,
        } = joined;
        let line = Self {
            socket,
            number: session.config.session,
            carrier: session.config.carrier,
            keys,
            taggers: [keys.out.0.tagger(), keys.inward.0.tagger()],
            heard,
            long,
            newest: keepalive::Newest::default(),
            sealed: Vec::with_capacity(BATCH),
            overflows: 0,
        };
        (line, session)
    }

    /// Sends what is due for peer `index`. A probe leaves by itself, for the sake of its time; what lies between probes leaves in batches.
    pub(super) fn transmit(
        &mut self,
        machine: &mut Machine,
        index: usize,
        is_exact: bool,
        stamp: Stamp,
    ) {
        let mut unsent = 0;
        while let Some(leaving) = machine.poll_transmit(index, is_exact, clock::now()) {
            match leaving {
                Leaving::Datagram(transmit) if transmit.is_probe => {
                    unsent += self.flush();
                    let (sequence, now) = (transmit.sequence, clock::now());
                    unsent += self.probe(transmit, stamp, now);
                    // The moment that is told to the tool is the one that is told to the receiver.
                    machine.sent(index, sequence, now);
                }
                Leaving::Datagram(transmit) => {
                    let datagram = self.seal(transmit, stamp, clock::now());
                    self.sealed.push(datagram);
                    if self.sealed.len() >= BATCH {
                        unsent += self.flush();
                    }
                }
                Leaving::Word(octets) => {
                    unsent += self.flush();
                    self.say(octets);
                }
            }
        }
        unsent += self.flush();
        if let Some(carriage) = machine.carriage(index) {
            carriage.unsent += unsent;
        }
    }

    /// Whether the path has said that single datagrams are too long.
    pub(super) fn is_too_long(&self) -> bool {
        let mut is_too_long = false;
        while let Ok(Some(event)) = self.socket.poll_event() {
            is_too_long |= matches!(event, Event::Icmp(error) if error.mtu.is_some());
        }
        is_too_long
    }

    /// Sends one with a probe; how many the kernel did not take.
    fn probe(&self, transmit: Transmit, stamp: Stamp, now: Instant) -> u64 {
        let datagram = self.seal(transmit, stamp, now);
        let sent = self.socket.send(&[outgoing(&datagram)]);
        u64::from(sent.map_or(0, |sent| sent.count) == 0)
    }

    fn seal(&self, transmit: Transmit, stamp: Stamp, now: Instant) -> Vec<u8> {
        let [tagger, _] = &self.taggers;
        transmit.seal(stamp.wall_at(now), |before, after| {
            tagger.tag(before, after)
        })
    }

    /// Gives the kernel what is sealed; how many it did not take. What finds no room there is lost, as in any interface's queue.
    fn flush(&mut self) -> u64 {
        let out: Vec<_> = self.sealed.iter().map(|sealed| outgoing(sealed)).collect();
        let (mut rest, mut unsent) = (&out[..], 0);
        while !rest.is_empty() {
            let sent = self.socket.send_train(rest).unwrap_or(0);
            unsent += u64::from(sent == 0);
            rest = rest.get(sent.max(1)..).unwrap_or_default();
        }
        drop(out);
        self.sealed.clear();
        unsent
    }

    /// Tells the peer, and every translator on the way, that this end is there.
    fn say(&self, octets: u16) {
        let (_, key) = &self.keys.out;
        let length = (octets, self.carrier.outside());
        keepalive::ask(&self.socket, self.number, key, length);
    }

    /// Whether these octets are a word of the peer's, and takes it if so.
    pub(super) fn takes_word(&mut self, octets: &[u8], now: Instant) -> bool {
        let (_, key) = &self.keys.inward;
        let word = keepalive::read(octets, self.number, key);
        let word = word.filter(|word| self.newest.admits(*word));
        let Some(word) = word else {
            return false;
        };
        self.hear(now);
        self.long.fetch_max(word.octets, Ordering::Relaxed);
        true
    }

    /// Something came that must be the peer's.
    pub(super) fn hear(&self, now: Instant) {
        self.heard.store(now.as_nanos(), Ordering::Relaxed);
    }

    /// The tag that a packet of the peer's has.
    pub(super) fn tag(&self, before: &[u8], after: &[u8]) -> [u8; TAG] {
        let [_, tagger] = &self.taggers;
        tagger.tag(before, after)
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
