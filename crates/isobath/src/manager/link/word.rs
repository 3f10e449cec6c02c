//! What the ends of a session say by the way that packets take: that they are there, and that words as long as this one pass.
//!
//! A word is a datagram of the control session that wants no reply, of a stream of its own; a server's responder leaves it alone. One
//! that is longer than its header is answered over the control connection by its length ([`mgrp::path_mtu`]).

use session::TagKey;
use session::wire::{Flags, Kind, MAGIC, Probe};
use sys::clock;
use sys::udp::{Outgoing, UdpSocket};
use units::{Instant, TrafficClass};

/// The stream of these words.
const STREAM: u16 = 1;

/// Octets of a word that says no more than that this end is there.
pub(crate) const SHORT: usize = Probe::LEN;

/// Says a word of so many octets over a socket that is connected. One that cannot be sent is one that did not arrive: others follow.
pub(crate) fn say(socket: &UdpSocket, session: u64, key: &TagKey, octets: usize) {
    let word = Probe {
        kind: Kind::OneWay,
        class: TrafficClass::default(),
        arrived: TrafficClass::default(),
        stream: STREAM,
        flags: Flags::default(),
        sequence: 0,
        session,
        sent: clock::now(),
        received: Instant::ZERO,
        replied: Instant::ZERO,
    };
    let mut octets = vec![0; octets.max(SHORT)];
    if word.emit(&mut octets, key).is_ok() {
        let _ = socket.send(&[Outgoing {
            payload: &octets,
            to: None,
            from: None,
            class: TrafficClass::default(),
        }]);
    }
}

/// Whether these octets are a word of the session's other end, which has this key.
pub(crate) fn is_one(octets: &[u8], session: u64, key: &TagKey) -> bool {
    octets.starts_with(&MAGIC)
        && Probe::parse(octets).is_ok_and(|word| word.session == session)
        && Probe::verify(octets, key).is_ok()
}
