//! Which packet an ICMP error is about.
//!
//! RFC 792 asks for 8 octets behind the IP header, which are UDP's header; RFC 1812 section 4.3.2.3 and RFC 4443 section 3 for as
//! much as fits, and hosts and newer routers do so. Where our own header is among it the packet's identifier is read there.
//! Where it is not, the one thing that is ours to choose in UDP's header is a port: each packet in flight then goes to a
//! destination port of its own. That has a price: whoever balances by flow spreads such packets over several ways, and
//! the error is no proof any more (a port can be guessed), so it is done only where nothing else helps.

use std::net::{IpAddr, SocketAddr};
use sys::udp::IcmpError;
use transport::PacketId;
use transport::wire::{MAGIC, SEGMENT_HEADER, VERSION};

/// Destination ports of packets that are known by their port: those of traceroute, and as many as can be in flight.
const FIRST_PORT: u16 = 33_434;
const PORTS: u16 = 16_384;

/// What an error says of the packet that it quotes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    /// It came as far as it was meant to: its hops were used up, or nobody listens at its port.
    Arrived,
    /// It was longer than a link takes that has packets of so many octets.
    TooLong(Option<u32>),
    /// It did not come there, and no other will: the number that the system has for the reason.
    Refused(i32),
    /// This host itself complains.
    Local(i32),
}

/// What `error` says.
pub(crate) fn verdict(error: &IcmpError) -> Verdict {
    let Some(kind) = error.kind else {
        return match error.mtu {
            Some(mtu) => Verdict::TooLong(Some(mtu)),
            None => Verdict::Local(error.errno),
        };
    };
    let v6 = error.reporter.is_some_and(|reporter| reporter.is_ipv6());
    let nobody_listens = if v6 { (1, 4) } else { (3, 3) };
    let too_long = if v6 { (2, 0) } else { (3, 4) };
    if error.is_hop_limit() || kind == nobody_listens {
        Verdict::Arrived
    } else if kind == too_long {
        Verdict::TooLong(error.mtu)
    } else {
        Verdict::Refused(error.errno)
    }
}

/// Finds packets by what is quoted of them.
#[derive(Debug)]
pub(crate) struct Quotes {
    session: u64,
    /// Where packets go, but for the port where that is their name.
    to: SocketAddr,
    /// The packet that went to each port last; none where packets are known by their own header.
    by_port: Option<Vec<Option<PacketId>>>,
    next: u16,
}

impl Quotes {
    /// For packets of `session` to `to`, whose errors quote `quoted` octets of them.
    pub(crate) fn new(session: u64, to: SocketAddr, quoted: usize) -> Self {
        let by_port = || vec![None; usize::from(PORTS)];
        Self {
            session,
            to,
            by_port: (quoted < SEGMENT_HEADER).then(by_port),
            next: 0,
        }
    }

    /// Whether packets are known by their port.
    pub(crate) const fn is_by_port(&self) -> bool {
        self.by_port.is_some()
    }

    /// Where packet `id` is to go.
    pub(crate) fn send(&mut self, id: PacketId) -> SocketAddr {
        let Some(by_port) = &mut self.by_port else {
            return self.to;
        };
        let number = self.next;
        self.next = (number + 1) % PORTS;
        by_port[usize::from(number)] = Some(id);
        SocketAddr::new(self.to.ip(), FIRST_PORT + number)
    }

    /// The packet that `error` is about, if it is one of ours.
    pub(crate) fn find(&mut self, error: &IcmpError) -> Option<PacketId> {
        let Some(by_port) = &mut self.by_port else {
            return header(error.quoted.as_bytes())
                .and_then(|(session, id)| (session == self.session).then_some(id));
        };
        let to = error
            .to
            .filter(|to| canonical(to.ip()) == canonical(self.to.ip()))?;
        let number = to.port().checked_sub(FIRST_PORT)?;
        by_port.get_mut(usize::from(number))?.take()
    }
}

fn canonical(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

/// Session and identifier in the header of a segment, of which the rest need not be there.
fn header(quoted: &[u8]) -> Option<(u64, PacketId)> {
    let header: &[u8; SEGMENT_HEADER] = quoted.first_chunk()?;
    let long = |at: usize| Some(u64::from_be_bytes(*header.get(at..)?.first_chunk()?));
    let is_ours = header[..4] == MAGIC && header[4] == VERSION;
    is_ours.then_some((long(16)?, PacketId(long(40)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sys::udp::Quoted;
    use transport::wire::{Address, emit_segment};
    use transport::{Segment, SegmentFlags, Seq};
    use units::Instant;

    const SESSION: u64 = 0x1011_1213_1415_1617;

    fn to() -> SocketAddr {
        "10.77.0.2:33434".parse().unwrap()
    }

    fn error(kind: (u8, u8), to: SocketAddr, quoted: &[u8]) -> IcmpError {
        IcmpError {
            errno: 113,
            kind: Some(kind),
            to: Some(to),
            reporter: Some(to.ip()),
            mtu: None,
            wall_ns: None,
            quoted: Quoted::of(quoted),
        }
    }

    fn octets(id: u64) -> Vec<u8> {
        let segment = Segment {
            seq: Seq(1),
            id: PacketId(id),
            len: 1_448,
            flags: SegmentFlags::default(),
            sent: Instant::ZERO,
        };
        let address = Address {
            session: SESSION,
            stream: 0,
        };
        let mut out = vec![0; 1_472];
        emit_segment(&segment, address, &mut out).unwrap();
        out
    }

    #[test]
    fn a_packet_is_known_by_its_header_where_that_is_quoted() {
        let mut quotes = Quotes::new(SESSION, to(), 64);
        assert_eq!(quotes.send(PacketId(9)), to());
        let head = &octets(0x0000_0009_dead_beef)[..64];
        let found = quotes.find(&error((3, 3), to(), head));
        assert_eq!(found, Some(PacketId(0x0000_0009_dead_beef)));
        assert_eq!(quotes.find(&error((3, 3), to(), &head[..47])), None);
        let mut others = Quotes::new(SESSION + 1, to(), 64);
        assert_eq!(others.find(&error((3, 3), to(), head)), None);
    }

    #[test]
    fn where_only_udps_header_is_quoted_a_packet_is_known_by_its_port_and_once() {
        let mut quotes = Quotes::new(SESSION, to(), 0);
        let (first, second) = (quotes.send(PacketId(1)), quotes.send(PacketId(2)));
        assert_ne!(first, second);
        assert_eq!(quotes.find(&error((11, 0), second, b"")), Some(PacketId(2)));
        assert_eq!(quotes.find(&error((11, 0), second, b"")), None);
        assert_eq!(quotes.find(&error((11, 0), first, b"")), Some(PacketId(1)));
        let stranger = "10.77.0.3:33434".parse().unwrap();
        assert_eq!(quotes.find(&error((11, 0), stranger, b"")), None);
    }

    #[test]
    fn ports_are_used_again_when_all_have_been() {
        let mut quotes = Quotes::new(SESSION, to(), 8);
        let first = quotes.send(PacketId(0));
        for id in 1..u64::from(PORTS) {
            quotes.send(PacketId(id));
        }
        assert_eq!(quotes.send(PacketId(77)), first);
        assert_eq!(quotes.find(&error((11, 0), first, b"")), Some(PacketId(77)));
    }

    #[test]
    fn what_an_error_means_depends_on_the_version_of_ip() {
        let v6: SocketAddr = "[fd77::2]:33434".parse().unwrap();
        assert_eq!(verdict(&error((3, 3), to(), b"")), Verdict::Arrived);
        assert_eq!(verdict(&error((11, 0), to(), b"")), Verdict::Arrived);
        assert_eq!(verdict(&error((1, 4), v6, b"")), Verdict::Arrived);
        assert_eq!(verdict(&error((3, 0), v6, b"")), Verdict::Arrived);
        assert_eq!(verdict(&error((3, 13), to(), b"")), Verdict::Refused(113));
        assert_eq!(verdict(&error((3, 4), to(), b"")), Verdict::TooLong(None));
    }

    proptest! {
        #[test]
        fn any_error_names_a_packet_or_none(
            quoted in prop::collection::vec(any::<u8>(), 0..80),
            port: u16,
            by_port: bool,
            kind: (u8, u8),
        ) {
            let mut quotes = Quotes::new(SESSION, to(), if by_port { 0 } else { 64 });
            quotes.send(PacketId(5));
            let error = error(kind, SocketAddr::new(to().ip(), port), &quoted);
            let _ = (verdict(&error), quotes.find(&error));
        }
    }
}
