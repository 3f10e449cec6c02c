//! What a packet on the bottleneck is, told from its own octets.
//!
//! The application's packets are known by their addresses and their port, or by being in a datagram of the overlay. A datagram of
//! the overlay that holds a probe says the probe's train and place ([`kit::tool`]), and what rides in it. Tags are not looked at:
//! in a lab there is nobody to forge them.

use kit::tool::told_by;
use mgrp::envelope::ENVELOPE;
use mgrp::packet::{Packet, Payload};
use session::wire::MAGIC;
use std::net::Ipv4Addr;

const TCP: u8 = 6;
const UDP: u8 = 17;
const UDP_HEADER: usize = 8;

/// A packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Seen {
    /// The application's, by itself.
    Source,
    /// A probe.
    Probe {
        /// Of which train, and at which place in it.
        train: u32,
        place: u32,
        /// Octets of the application's packet, or of a piece of it, that ride in it; none if nothing does.
        rider: Option<u32>,
    },
    /// Of others' connections.
    Cross,
    /// What else there is: the words of managers, acknowledgements of others.
    Other,
}

/// Whose packets are whose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    /// The host of the application and the tool, and the one they send to.
    pub(super) hosts: [Ipv4Addr; 2],
    /// The application's port there, when it goes beside the overlay.
    pub(super) source_port: u16,
    /// The overlay's.
    pub(super) overlay_port: u16,
    /// Those between which others' connections go.
    pub(super) others: Option<[Ipv4Addr; 2]>,
}

/// The parts of an IPv4 packet in one piece that tell what it is.
struct Parts<'a> {
    ends: [Ipv4Addr; 2],
    protocol: u8,
    port: u16,
    transport: &'a [u8],
}

impl<'a> Parts<'a> {
    fn of(octets: &'a [u8]) -> Option<Self> {
        let (header, _) = octets.split_first_chunk::<20>()?;
        // More fragments follow, or it is one at an offset (RFC 791).
        let is_whole = (header[6] & 0x3f, header[7]) == (0, 0);
        if header[0] >> 4 != 4 || !is_whole {
            return None;
        }
        let address =
            |at: usize| Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]);
        let transport = octets.get(usize::from(header[0] & 0x0f) * 4..)?;
        let port = transport.get(2..4)?;
        Some(Self {
            ends: [address(12), address(16)],
            protocol: header[9],
            port: u16::from_be_bytes([port[0], port[1]]),
            transport,
        })
    }
}

impl Ends {
    /// What the packet with these octets is.
    pub(super) fn look(&self, octets: &[u8]) -> Seen {
        let Some(parts) = Parts::of(octets) else {
            return Seen::Other;
        };
        match parts.protocol {
            TCP if parts.ends == self.hosts && parts.port == self.source_port => Seen::Source,
            TCP if Some(parts.ends) == self.others => Seen::Cross,
            UDP if parts.ends == self.hosts && parts.port == self.overlay_port => {
                overlay(parts.transport.get(UDP_HEADER..).unwrap_or_default())
            }
            _ => Seen::Other,
        }
    }
}

/// A datagram of the overlay.
pub(super) fn overlay(datagram: &[u8]) -> Seen {
    let packet = datagram.get(ENVELOPE..).map(Packet::parse);
    let Some(Ok(packet)) = packet.filter(|_| !datagram.starts_with(&MAGIC)) else {
        return Seen::Other;
    };
    match packet.probe.map(told_by) {
        None => Seen::Source,
        Some(None) => Seen::Other,
        Some(Some((train, place))) => Seen::Probe {
            train,
            place,
            rider: packet.payload.as_ref().map(octets_of),
        },
    }
}

/// Octets of an application's packet, without what the carrying takes.
fn octets_of(payload: &Payload<'_>) -> u32 {
    let octets = match payload {
        Payload::Whole(octets) => octets,
        Payload::Fragment(fragment) => fragment.octets,
    };
    u32::try_from(octets.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use kit::tool::number;
    use mgrp::envelope;
    use mgrp::packet::Fragment;
    use proptest::prelude::*;

    const HERE: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
    const THERE: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
    const OTHERS: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 77, 0, 3), Ipv4Addr::new(10, 77, 0, 4)];

    pub(in super::super) const ENDS: Ends = Ends {
        hosts: [HERE, THERE],
        source_port: 5_000,
        overlay_port: 4_890,
        others: Some(OTHERS),
    };

    fn ip(ends: [Ipv4Addr; 2], protocol: u8, port: u16, payload: &[u8]) -> Vec<u8> {
        let mut octets = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0];
        for end in ends {
            octets.extend_from_slice(&end.octets());
        }
        octets.extend_from_slice(&[0x12, 0x34]);
        octets.extend_from_slice(&port.to_be_bytes());
        octets.extend_from_slice(&[0; 4]);
        octets.extend_from_slice(payload);
        octets
    }

    fn sealed(packet: &Packet<'_>) -> Vec<u8> {
        let mut datagram = Vec::new();
        envelope::begin(77, &mut datagram);
        packet.emit(&mut datagram).unwrap();
        ip([HERE, THERE], UDP, 4_890, &datagram)
    }

    /// A packet of a probe of `octets` with a rider of so many octets.
    pub(in super::super) fn probe(train: u32, place: u32, octets: usize, rider: usize) -> Vec<u8> {
        let number = number(train, place);
        let mut packet = Packet {
            probe: Some(&number),
            ..Packet::default()
        };
        let room = vec![0; rider];
        packet.payload = (rider > 0).then_some(Payload::Whole(&room));
        packet.padding = octets - 44 - packet.length();
        sealed(&packet)
    }

    /// A packet of the application's of `octets`, beside the overlay.
    pub(in super::super) fn source(octets: usize) -> Vec<u8> {
        ip([HERE, THERE], TCP, 5_000, &vec![0; octets - 28])
    }

    #[test]
    fn each_packet_is_what_it_is() {
        assert_eq!(ENDS.look(&source(1_500)), Seen::Source);
        let alone = Packet {
            payload: Some(Payload::Whole(&[1; 100])),
            ..Packet::default()
        };
        assert_eq!(ENDS.look(&sealed(&alone)), Seen::Source);
        assert_eq!(ENDS.look(&ip(OTHERS, TCP, 80, &[0; 99])), Seen::Cross);
        let seen = |rider| Seen::Probe {
            train: 3,
            place: 9,
            rider,
        };
        assert_eq!(ENDS.look(&probe(3, 9, 300, 0)), seen(None));
        assert_eq!(ENDS.look(&probe(3, 9, 300, 120)), seen(Some(120)));
        let number = number(3, 9);
        let piece = Packet {
            probe: Some(&number),
            payload: Some(Payload::Fragment(Fragment {
                id: 1,
                offset: 0,
                is_last: false,
                protocol: 6,
                octets: &[0; 50],
            })),
            ..Packet::default()
        };
        assert_eq!(
            ENDS.look(&sealed(&piece)),
            seen(Some(50)),
            "without the piece's own header"
        );
    }

    #[test]
    fn what_is_of_nobody_known_is_of_others_or_else() {
        assert_eq!(
            ENDS.look(&ip([THERE, HERE], TCP, 5_000, &[0; 9])),
            Seen::Other
        );
        assert_eq!(
            ENDS.look(&ip([HERE, THERE], TCP, 4_890, &[0; 9])),
            Seen::Other
        );
        let word = [&MAGIC[..], &[0; 60]].concat();
        assert_eq!(
            ENDS.look(&ip([HERE, THERE], UDP, 4_890, &word)),
            Seen::Other
        );
        let mut fragment = source(100);
        fragment[6] = 0x20;
        assert_eq!(ENDS.look(&fragment), Seen::Other);
    }

    proptest! {
        #[test]
        fn any_octets_are_something(octets in prop::collection::vec(any::<u8>(), 0..120), cut in 0_usize..400) {
            ENDS.look(&octets);
            let mut packet = probe(1, 2, 300, 120);
            packet.truncate(cut);
            for (place, octet) in packet.iter_mut().rev().zip(&octets) {
                *place ^= octet;
            }
            ENDS.look(&packet);
        }
    }
}
