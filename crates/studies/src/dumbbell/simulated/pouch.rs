//! Packets of connections while they travel as octets.
//!
//! A manager moves octets, and a simulated connection values. So a packet that goes into the overlay is kept here, and what travels in its place are
//! as many octets as the kernel's packet would have: an IPv4 header with the ends of the overlay, and behind it the number under which the packet
//! is kept. What is lost on the way is forgotten when [`MOST`] newer ones have come.

use sim::Parcel;
use sim::tcp::Tcp;
use std::collections::VecDeque;
use std::net::Ipv4Addr;

/// Packets that are kept: more than wait and are under way at any time.
const MOST: usize = 1 << 16;
/// Octets of an IPv4 header, behind which is the number.
const HEADER: usize = 20;
/// TCP among IP's protocols.
const TCP: u8 = 6;

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Pouch {
    /// The number of the first that is kept.
    first: u64,
    kept: VecDeque<Option<Parcel<Tcp>>>,
}

impl Pouch {
    /// Keeps a packet; the octets that go from one end to another in its place.
    pub(super) fn put(&mut self, packet: Parcel<Tcp>, [from, to]: [Ipv4Addr; 2]) -> Vec<u8> {
        let number = self.first + self.kept.len() as u64;
        let length = u16::try_from(packet.size).unwrap_or(u16::MAX);
        let mut octets = vec![0; usize::from(length)];
        let fields = [
            (0, &[0x45, packet.dscp.get() << 2][..]),
            (2, &length.to_be_bytes()),
            (9, &[TCP]),
            (12, &from.octets()),
            (16, &to.octets()),
            (HEADER, &number.to_be_bytes()),
        ];
        for (at, field) in fields {
            if let Some(room) = octets.get_mut(at..at + field.len()) {
                room.copy_from_slice(field);
            }
        }
        self.kept.push_back(Some(packet));
        if self.kept.len() > MOST {
            self.kept.pop_front();
            self.first += 1;
        }
        octets
    }

    /// The packet in whose place these octets have come; none that was forgotten, or has come before.
    pub(super) fn take(&mut self, octets: &[u8]) -> Option<Parcel<Tcp>> {
        let number = octets.get(HEADER..)?.first_chunk()?;
        let place = u64::from_be_bytes(*number).checked_sub(self.first)?;
        self.kept.get_mut(usize::try_from(place).ok()?)?.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use path::{Family, Packet};
    use sim::{Addressed, NodeId};
    use units::{Dscp, Ecn, FlowId, Instant};

    const ENDS: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 99, 0, 1), Ipv4Addr::new(10, 99, 0, 2)];

    fn packet(flow: u64) -> Parcel<Tcp> {
        Packet {
            size: 52,
            flow: FlowId(flow),
            family: Family::V4,
            dscp: Dscp::CS0,
            ecn: Ecn::NotEct,
            at: Instant::ZERO,
            body: Addressed {
                from: NodeId(0),
                to: NodeId(1),
                payload: Tcp::Confirm(Instant::ZERO),
            },
        }
    }

    #[test]
    fn a_packet_is_as_many_octets_as_it_is_long_and_comes_out_once() {
        let mut pouch = Pouch::default();
        let [one, other] = [2, 4].map(|flow| pouch.put(packet(flow), ENDS));
        assert_eq!((one.len(), mgrp_protocol(&one)), (52, Some(TCP)));
        assert_eq!(pouch.take(&other), Some(packet(4)));
        assert_eq!(pouch.take(&one), Some(packet(2)));
        assert_eq!(pouch.take(&one), None);
        assert_eq!(pouch.take(&[0; 27]), None);
    }

    /// As a manager reads it.
    fn mgrp_protocol(octets: &[u8]) -> Option<u8> {
        let length = u16::from_be_bytes([octets[2], octets[3]]);
        (octets[0] >> 4 == 4 && usize::from(length) == octets.len()).then(|| octets[9])
    }

    #[test]
    fn what_was_lost_on_the_way_is_forgotten() {
        let mut pouch = Pouch::default();
        let first = pouch.put(packet(2), ENDS);
        for _ in 0..MOST {
            pouch.put(packet(4), ENDS);
        }
        assert_eq!(pouch.take(&first), None);
        assert_eq!(pouch.kept.len(), MOST);
    }
}
