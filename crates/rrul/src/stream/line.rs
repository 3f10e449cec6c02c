//! Where the datagrams of a stream go that want no reply, and what each says of itself.

use session::TagKey;
use session::wire::{Flags, Kind, Probe};
use std::net::{IpAddr, SocketAddr};
use sys::clock;
use sys::udp::{Outgoing, UdpSocket};
use units::{Instant, TrafficClass};

/// A stream of datagrams, as one of its ends knows it.
pub(crate) struct Line<'a> {
    pub socket: &'a UdpSocket,
    /// Where to, and from which of this host's addresses; `None` for what the socket is bound and connected to.
    pub to: Option<SocketAddr>,
    pub from: Option<IpAddr>,
    /// Tags what is sent.
    pub key: &'a TagKey,
    pub session: u64,
    pub stream: u16,
    pub class: TrafficClass,
}

impl Line<'_> {
    /// Writes a datagram of this number, which leaves now, over the beginning of `buffer`.
    pub(crate) fn emit(&self, sequence: u32, kind: Kind, buffer: &mut [u8]) {
        let probe = Probe {
            kind,
            class: self.class,
            arrived: TrafficClass::default(),
            stream: self.stream,
            flags: Flags::default(),
            sequence,
            session: self.session,
            sent: clock::now(),
            received: Instant::ZERO,
            replied: Instant::ZERO,
        };
        // A datagram is at least as long as the header.
        let emitted = probe.emit(buffer, self.key);
        debug_assert!(emitted.is_ok());
    }

    pub(crate) fn outgoing<'b>(&self, payload: &'b [u8]) -> Outgoing<'b> {
        Outgoing {
            payload,
            to: self.to,
            from: self.from,
            class: self.class,
        }
    }

    /// The header of what arrived, if it is a datagram of this stream that the other end has tagged with `key`.
    pub(crate) fn ours(&self, datagram: &[u8], key: &TagKey) -> Option<Probe> {
        let probe = Probe::parse(datagram).ok()?;
        let is_ours =
            (probe.session, probe.stream, probe.kind) == (self.session, self.stream, Kind::OneWay);
        (is_ours && Probe::verify(datagram, key).is_ok()).then_some(probe)
    }
}
