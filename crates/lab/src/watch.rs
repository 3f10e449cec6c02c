//! A log of single packets: when each entered a link, when it was due at the other end, and when it left.
//!
//! Queue lengths and bins say what a path was like when a packet crossed it; to know what happened to *this* packet, it must
//! be recognised. A lab does not know what the programs in it say to each other, so it is told how the datagrams begin that
//! are worth a note ([`Watch`]), and keeps the first octets of each: whoever wrote them can tell which one it was.

use packet::{Frame, udp_payload};
use path::Packet;
use units::Instant;

/// Octets of a payload that a note keeps.
pub const KEPT: usize = 64;
/// Most notes of a direction that wait to be taken, some 10 MB. Older ones stay; newer ones are counted as unlogged.
pub(crate) const MOST_WAITING: usize = 100_000;

/// Which packets are noted one by one: UDP datagrams in one piece whose payload begins with these octets.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Watch {
    /// How the payload begins; empty is every datagram.
    pub prefix: Vec<u8>,
}

/// One packet's passage of one direction of a link. A packet that was dropped has none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Passage {
    /// When the runner had read it from the sending node.
    pub entered: Instant,
    /// Its logical departure.
    pub due: Instant,
    /// When the runner handed it to the receiving node; behind `due` by the runner's lateness.
    pub left: Instant,
    octets: [u8; KEPT],
    length: usize,
}

impl Watch {
    /// The passage of `packet`, which has left its path, if it is one to note; `now` is asked for the moment at which it
    /// leaves.
    pub(crate) fn note(
        &self,
        packet: &Packet<Frame>,
        now: impl FnOnce() -> Instant,
    ) -> Option<Passage> {
        let payload = udp_payload(packet.body.bytes())?;
        let kept = payload.get(..payload.len().min(KEPT))?;
        if !kept.starts_with(&self.prefix) {
            return None;
        }
        let mut octets = [0; KEPT];
        octets[..kept.len()].copy_from_slice(kept);
        Some(Passage {
            entered: packet.body.entered,
            due: packet.at,
            left: now(),
            octets,
            length: kept.len(),
        })
    }
}

impl Passage {
    /// The first octets of its UDP payload, at most [`KEPT`].
    pub fn payload(&self) -> &[u8] {
        &self.octets[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::{Pool, split};
    use path::Family;
    use proptest::prelude::*;
    use sys::tun::VNET_HEADER;
    use units::{Dscp, Ecn, FlowId};

    const ENTERED: Instant = Instant::from_nanos(1_000);
    const DUE: Instant = Instant::from_nanos(2_000);
    const LEFT: Instant = Instant::from_nanos(2_003);

    /// The packet that starts with this IP header and goes on with a UDP header and `payload`.
    fn packet(header: &[u8], payload: &[u8]) -> Packet<Frame> {
        let mut read = vec![0; VNET_HEADER];
        read.extend_from_slice(header);
        read.extend_from_slice(&[0x12, 0x34, 0x13, 0x1a, 0, 0, 0, 0]);
        read.extend_from_slice(payload);
        let mut body = None;
        split(&read, ENTERED, &mut Pool::default(), |frame| {
            body = Some(frame);
        });
        Packet {
            size: 0,
            flow: FlowId(0),
            family: Family::V4,
            dscp: Dscp::CS0,
            ecn: Ecn::NotEct,
            at: DUE,
            body: body.unwrap(),
        }
    }

    /// An IPv4 header with `options` words of options.
    fn v4(options: u8, fragment: u8, protocol: u8) -> Vec<u8> {
        let mut header = vec![0; 20 + 4 * usize::from(options)];
        (header[0], header[7], header[9]) = (0x45 + options, fragment, protocol);
        header
    }

    fn v6(next: u8) -> Vec<u8> {
        let mut header = vec![0; 40];
        (header[0], header[6]) = (0x60, next);
        header
    }

    fn note(packet: &Packet<Frame>) -> Option<Passage> {
        let watch = Watch {
            prefix: b"ab".to_vec(),
        };
        watch.note(packet, || LEFT)
    }

    #[test]
    fn a_datagram_is_noted_by_its_beginning_in_both_families() {
        for header in [v4(0, 0, 17), v4(3, 0, 17), v6(17)] {
            let passage = note(&packet(&header, b"abc")).unwrap();
            assert_eq!(passage.payload(), b"abc");
            let times = (passage.entered, passage.due, passage.left);
            assert_eq!(times, (ENTERED, DUE, LEFT));
            for other in [&b"bbc"[..], b"a", b""] {
                assert_eq!(note(&packet(&header, other)), None);
            }
        }
    }

    #[test]
    fn what_is_no_whole_datagram_is_not_noted() {
        for header in [v4(0, 0, 6), v4(0, 8, 17), v6(44), vec![0x15; 20]] {
            assert_eq!(note(&packet(&header, b"abc")), None, "{header:?}");
        }
    }

    proptest! {
        #[test]
        fn any_packet_is_noted_or_not_and_no_more_is_kept_than_there_is_room(
            header in prop_oneof![Just(v4(0, 0, 17)), Just(v6(17)), prop::collection::vec(any::<u8>(), 1..60)],
            length in 0_usize..200,
        ) {
            let payload = vec![b'x'; length];
            let everything = Watch { prefix: Vec::new() };
            if let Some(passage) = everything.note(&packet(&header, &payload), || LEFT) {
                prop_assert!(passage.payload().len() <= KEPT);
            }
        }
    }
}
