//! Packets right behind IP's header ([`IP_PROTOCOL`]), for peers whose files both say so.
//!
//! Translators of addresses and firewalls seldom let them pass, so it is tried when a session begins: each end hears a word of the
//! other that came this way, or UDP carries.
//!
//! ```text
//! near: manager    which says that it wants to; requests by UDP and words this way, until there is an answer
//! far:  words      three this way, once it has heard one
//! far:  ready      with raw; the near end that then hears none of the three hangs up and comes again for UDP
//! ```

use crate::keepalive;
use mgrp::envelope::IP_PROTOCOL;
use session::TagKey;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use sys::clock;
use sys::udp::{RecvBatch, UdpSocket};

/// A word that can come this way has come within this time: the peer repeats its own every 50 ms.
const PATIENCE: Duration = Duration::from_secs(1);
/// One of so many arrives.
const WORDS: usize = 3;
const APART: Duration = Duration::from_millis(50);
/// Octets that have room for a word and IPv4's longest header.
pub(super) const ROOM: usize = 256;

/// A socket between an address of this host and the peer's; nobody knows yet whether anything gets there.
///
/// # Errors
/// In words for the user, when the system gives none.
pub(super) fn open(local: Option<IpAddr>, peer: SocketAddr) -> Result<UdpSocket, String> {
    let local = local.ok_or("the system does not tell which address the peer uses")?;
    UdpSocket::raw(IP_PROTOCOL, local, peer).map_err(|error| error.to_string())
}

/// Answers what was heard, not all at once, so that one loss is not that of all.
pub(super) fn answer(socket: &UdpSocket, session: u64, key: &TagKey) {
    for _ in 0..WORDS {
        keepalive::say(socket, session, key);
        clock::sleep_until(clock::now() + APART);
    }
}

/// Whether a word of the other end, which has this key, comes before it is too late.
pub(super) fn hears(socket: &UdpSocket, session: u64, key: &TagKey) -> bool {
    let mut batch = RecvBatch::new(16, ROOM);
    let until = clock::now() + PATIENCE;
    while clock::now() < until {
        let ready = socket.wait(until.since(clock::now())).unwrap_or_default();
        if ready.event {
            while matches!(socket.poll_event(), Ok(Some(_))) {}
        }
        let count = socket.recv(&mut batch).unwrap_or(0);
        let mut words = batch.iter().take(count);
        if words.any(|datagram| keepalive::read(datagram.payload, session, key).is_some()) {
            return true;
        }
    }
    false
}
