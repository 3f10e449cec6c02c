//! Where packets of applications wait for probes, and what of them a probe takes.
//!
//! Tools send probes in short bursts, applications space their packets out; so that they meet, packets wait a little (T section 4.4).
//! Each leaves at the latest a constant time after it came, inside a probe or by itself: the intervals between packets are
//! kept, and all are shifted by the same. They leave in the order in which they came.
//!
//! Where no probes are to be expected packets need not wait. Those that come then leave at once, but for the first of them, which find
//! others that still wait: these follow at half their intervals until the delay is used up, so that none overtakes another and they do
//! not leave as a clump.
//!
//! A probe takes from the head of the buffer (T section 4.5): the head packet whole if it fits and was not cut before; else as much of
//! it as there is room for, as a fragment, and the next probe takes on from there. Once a packet has been cut its rest may not
//! wait for other trains: it leaves when the train is over, or when its time is up.

use crate::ip;
use crate::packet::{FRAGMENT_HEADER, Fragment, Payload};
use std::collections::VecDeque;
use std::time::Duration;
use units::Instant;

/// The fewest octets of a packet that a fragment is worth its header for.
pub(crate) const LEAST: usize = 16;
/// The longest packet that can be cut: offsets of fragments have 16 bits.
const MOST: usize = 65_535;

/// What leaves: a packet, or a piece of one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cargo {
    octets: Vec<u8>,
    /// What it is a piece of, if it is one.
    piece: Option<Piece>,
    /// When it would have left if there were no riding: when it came.
    came: Instant,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Piece {
    id: u32,
    offset: usize,
    is_last: bool,
    protocol: u8,
}

impl Cargo {
    /// A packet that does not wait.
    pub const fn whole(packet: Vec<u8>, came: Instant) -> Self {
        Self {
            octets: packet,
            piece: None,
            came,
        }
    }

    /// As a packet on the wire carries it.
    pub fn payload(&self) -> Payload<'_> {
        let octets = self.octets.as_slice();
        self.piece.map_or(Payload::Whole(octets), |piece| {
            Payload::Fragment(Fragment {
                id: piece.id,
                offset: u16::try_from(piece.offset).unwrap_or(u16::MAX),
                is_last: piece.is_last,
                protocol: piece.protocol,
                octets,
            })
        })
    }

    /// Octets of the application's packet that it has.
    pub fn octets(&self) -> usize {
        self.octets.len()
    }

    /// Whether it is a piece of a packet that was cut.
    pub const fn is_piece(&self) -> bool {
        self.piece.is_some()
    }

    /// Whether nothing of its packet is left after it.
    pub fn is_end(&self) -> bool {
        self.piece.is_none_or(|piece| piece.is_last)
    }

    /// When its packet came from the application.
    pub const fn came(&self) -> Instant {
        self.came
    }

    /// Whether it would have left while a train did that lasted from and to these moments, and so competed with it (T section 4.5.2).
    pub fn competes(&self, train: [Instant; 2]) -> bool {
        (train[0]..=train[1]).contains(&self.came)
    }
}

/// A packet that waits.
#[derive(Debug)]
struct Waiting {
    packet: Vec<u8>,
    came: Instant,
    /// When it leaves at the latest; not before the one ahead of it.
    due: Instant,
    /// Where its rest begins, and the number of its fragments, once it has been cut.
    cut: Option<(usize, u32)>,
}

/// Packets that wait, the first that came first.
#[derive(Debug)]
pub struct Buffer {
    delay: Duration,
    /// Octets that may wait.
    most: usize,
    octets: usize,
    waiting: VecDeque<Waiting>,
    next_id: u32,
}

impl Buffer {
    /// Packets wait for `delay`, and at most `most` octets of them.
    pub const fn new(delay: Duration, most: usize) -> Self {
        Self {
            delay,
            most,
            octets: 0,
            waiting: VecDeque::new(),
            next_id: 0,
        }
    }

    /// Takes a packet that came at `now`, to wait for the delay or, unless it `holds`, to leave as soon as those before it have. Hands it
    /// back to be sent at once when there is no room, it is too long, or nothing waits here at all. A packet that is handed back while
    /// others wait overtakes them.
    pub fn push(&mut self, packet: Vec<u8>, holds: bool, now: Instant) -> Option<Vec<u8>> {
        let is_too_much = packet.len() > MOST || self.octets + packet.len() > self.most;
        if self.delay.is_zero() || is_too_much {
            return Some(packet);
        }
        self.octets += packet.len();
        let due = if holds {
            now + self.delay
        } else {
            self.soonest(now)
        };
        self.waiting.push_back(Waiting {
            packet,
            came: now,
            due,
            cut: None,
        });
        None
    }

    /// Packets that wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// When the first must leave.
    pub fn next_timeout(&self) -> Option<Instant> {
        self.waiting.front().map(|first| first.due)
    }

    /// What must leave at `now` by itself; asked until it says nothing.
    pub fn poll_due(&mut self, now: Instant) -> Option<Cargo> {
        let due = self.next_timeout()?;
        if due > now { None } else { self.rest() }
    }

    /// The rest of a packet that was cut, when the train is over.
    pub fn poll_cut(&mut self) -> Option<Cargo> {
        self.waiting.front()?.cut?;
        self.rest()
    }

    /// When the first is to leave: at once when it was cut, as far as a train under way is concerned.
    pub fn head(&self) -> Option<Instant> {
        let due = self.next_timeout()?;
        Some(if self.is_cut() { Instant::ZERO } else { due })
    }

    /// Whether the first was cut, so that its rest may not wait for another train.
    pub fn is_cut(&self) -> bool {
        self.waiting
            .front()
            .is_some_and(|first| first.cut.is_some())
    }

    /// What a probe with `room` octets of padding takes. With `may_cut` off only packets that fit as they are ride, and what is behind the
    /// first never overtakes it.
    pub fn fill(&mut self, room: usize, may_cut: bool) -> Option<Cargo> {
        let first = self.waiting.front()?;
        let from = first.cut.map_or(0, |(from, _)| from);
        let left = first.packet.len() - from;
        let fits = match first.cut {
            None => left <= room,
            Some(_) => left + FRAGMENT_HEADER <= room,
        };
        if fits {
            return self.rest();
        }
        if !may_cut {
            return None;
        }
        let take = room.saturating_sub(FRAGMENT_HEADER).min(left);
        // What is left over must be worth another one.
        (take >= LEAST).then(|| self.cut(take))?
    }

    /// What is to leave outside of probes, where a datagram has room for so many octets, and what is left of it.
    pub fn split(&mut self, cargo: Cargo, room: usize) -> (Cargo, Option<Cargo>) {
        let header = if cargo.is_piece() { FRAGMENT_HEADER } else { 0 };
        let take = room.saturating_sub(FRAGMENT_HEADER).max(LEAST);
        if cargo.octets() + header <= room || cargo.octets() <= take {
            return (cargo, None);
        }
        let (id, from, is_last, protocol) = match cargo.piece {
            Some(piece) => (piece.id, piece.offset, piece.is_last, piece.protocol),
            None => (
                self.number(),
                0,
                true,
                ip::protocol(&cargo.octets).unwrap_or(0),
            ),
        };
        let (mut octets, came) = (cargo.octets, cargo.came);
        let rest = octets.split_off(take);
        let piece = |octets, offset, is_last| Cargo {
            octets,
            piece: Some(Piece {
                id,
                offset,
                is_last,
                protocol,
            }),
            came,
        };
        (
            piece(octets, from, false),
            Some(piece(rest, from + take, is_last)),
        )
    }

    /// The number of the fragments of a packet that is cut.
    const fn number(&mut self) -> u32 {
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        id
    }

    /// When a packet that comes now and need not wait leaves: half as long after the one before it as it came after that.
    fn soonest(&self, now: Instant) -> Instant {
        let last = self.waiting.back();
        last.map_or(now, |last| now.max(last.due + now.since(last.came) / 2))
    }

    /// All that is left of the first.
    fn rest(&mut self) -> Option<Cargo> {
        let first = self.waiting.pop_front()?;
        self.octets -= first.packet.len();
        let Some((offset, id)) = first.cut else {
            return Some(Cargo::whole(first.packet, first.came));
        };
        Some(first.piece(id, offset, first.packet.len()))
    }

    /// The next `take` octets of the first, of which there are more.
    fn cut(&mut self, take: usize) -> Option<Cargo> {
        let cut = self.waiting.front()?.cut;
        let (from, id) = cut.unwrap_or_else(|| (0, self.number()));
        let first = self.waiting.front_mut()?;
        let to = (from + take).min(first.packet.len().saturating_sub(1));
        first.cut = Some((to, id));
        Some(first.piece(id, from, to))
    }
}

impl Waiting {
    /// The piece between two places, under the number of the packet's fragments.
    fn piece(&self, id: u32, from: usize, to: usize) -> Cargo {
        let octets = self.packet.get(from..to).unwrap_or_default();
        Cargo {
            octets: octets.to_vec(),
            piece: Some(Piece {
                id,
                offset: from,
                is_last: to == self.packet.len(),
                protocol: ip::protocol(&self.packet).unwrap_or(0),
            }),
            came: self.came,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reassembly::{Key, Limits, Reassembly};
    use core::net::{IpAddr, Ipv4Addr};
    use proptest::prelude::*;

    fn at(us: u64) -> Instant {
        Instant::from_nanos(us * 1_000)
    }

    fn buffer() -> Buffer {
        Buffer::new(Duration::from_millis(10), 100_000)
    }

    /// Holds manager/buffer.
    #[test]
    fn packets_leave_as_far_apart_as_they_came() {
        let mut buffer = buffer();
        for us in [0, 130, 131, 5_000] {
            assert_eq!(buffer.push(vec![4; 1_000], true, at(us)), None);
        }
        let mut left = Vec::new();
        while let Some(due) = buffer.next_timeout() {
            assert_eq!(buffer.poll_due(due - Duration::from_nanos(1)), None);
            while buffer.poll_due(due).is_some() {
                left.push(due);
            }
        }
        assert_eq!(left, [10_000, 10_130, 10_131, 15_000].map(at));
    }

    #[test]
    fn packets_that_need_not_wait_follow_those_that_do_until_the_delay_is_used_up() {
        let mut buffer = buffer();
        assert_eq!(buffer.push(vec![4; 10], false, at(0)), None);
        assert_eq!(buffer.next_timeout(), Some(at(0)), "at once");
        assert!(buffer.poll_due(at(0)).is_some());
        buffer.push(vec![4; 10], true, at(1_000));
        for ms in [2, 3, 9, 21, 22] {
            buffer.push(vec![4; 10], false, at(ms * 1_000));
        }
        let dues: Vec<_> = buffer.waiting.iter().map(|waiting| waiting.due).collect();
        assert_eq!(
            dues,
            [11_000, 11_500, 12_000, 15_000, 21_000, 22_000].map(at)
        );
    }

    /// The probes of T figures 4.4 and 4.5.
    ///
    /// Holds manager/empty-probe, manager/whole-rider, manager/cut-rider.
    #[test]
    fn probes_take_what_fits_and_cut_what_does_not() {
        let mut buffer = buffer();
        assert_eq!(buffer.fill(500, true), None, "nothing waits");
        buffer.push((0..=99).cycle().take(1_000).collect(), true, at(0));
        buffer.push(vec![9; 100], true, at(1));
        let fragment = |cargo: &Cargo| match cargo.payload() {
            Payload::Fragment(f) => (f.id, usize::from(f.offset), f.octets.len(), f.is_last),
            Payload::Whole(_) => panic!("cut it was"),
        };
        assert_eq!(buffer.fill(408, false), None, "nothing may be cut");
        let first = buffer.fill(408, true).unwrap();
        assert_eq!(fragment(&first), (0, 0, 400, false));
        assert_eq!(
            buffer.fill(FRAGMENT_HEADER + LEAST - 1, true),
            None,
            "not worth it"
        );
        assert_eq!(
            fragment(&buffer.fill(408, true).unwrap()),
            (0, 400, 400, false)
        );
        // The rest fits with its header, and the second packet as it is.
        assert_eq!(
            fragment(&buffer.fill(408, true).unwrap()),
            (0, 800, 200, true)
        );
        let second = buffer.fill(100, true).unwrap();
        assert_eq!(second.payload(), Payload::Whole(&[9; 100]));
        assert!(buffer.is_empty());
        assert!(first.competes([at(0), at(5)]) && !second.competes([at(2), at(5)]));
    }

    /// Holds manager/rest.
    #[test]
    fn the_rest_of_a_cut_packet_leaves_with_its_train() {
        let mut buffer = buffer();
        buffer.push(vec![1; 1_000], true, at(0));
        buffer.push(vec![2; 1_000], true, at(0));
        assert_eq!(buffer.poll_cut(), None);
        assert_eq!(buffer.fill(500, true).unwrap().octets(), 492);
        assert!(buffer.is_cut());
        assert_eq!(buffer.poll_cut().unwrap().octets(), 508);
        assert_eq!(buffer.poll_cut(), None, "the other is whole and waits on");
        assert_eq!(buffer.len(), 1);
    }

    /// Holds manager/global-delay.
    #[test]
    fn what_has_no_room_is_handed_back() {
        let mut small = Buffer::new(Duration::from_millis(10), 1_500);
        assert_eq!(small.push(vec![0; 1_000], true, at(0)), None);
        assert_eq!(
            small.push(vec![0; 1_000], true, at(0)),
            Some(vec![0; 1_000])
        );
        assert!(small.poll_due(at(10_000)).is_some());
        assert_eq!(
            small.push(vec![0; 1_000], true, at(10_000)),
            None,
            "there is room again"
        );
        let mut off = Buffer::new(Duration::ZERO, 1_500);
        assert_eq!(off.push(vec![0; 4], true, at(0)), Some(vec![0; 4]));
    }

    proptest! {
        #[test]
        fn what_comes_out_at_the_far_end_is_what_went_in(
            lengths in prop::collection::vec(1_usize..3_000, 1..20),
            rooms in prop::collection::vec(0_usize..1_500, 0..60),
        ) {
            let packets: Vec<Vec<u8>> = (0_u8..).zip(lengths).map(|(i, n)| vec![i; n]).collect();
            let mut buffer = buffer();
            for packet in &packets {
                prop_assert_eq!(buffer.push(packet.clone(), true, at(0)), None);
            }
            let mut table = Reassembly::new(Limits::default());
            let mut arrived = Vec::new();
            let mut carry = |cargo: Cargo| match cargo.payload() {
                Payload::Whole(octets) => arrived.push(octets.to_vec()),
                Payload::Fragment(fragment) => {
                    let source = IpAddr::V4(Ipv4Addr::LOCALHOST);
                    let key = Key { source, protocol: fragment.protocol, id: fragment.id };
                    arrived.extend(table.handle(key, &fragment, at(0)));
                }
            };
            for room in rooms {
                if let Some(cargo) = buffer.fill(room, true) {
                    prop_assert!(cargo.payload().length() <= room);
                    carry(cargo);
                }
            }
            while let Some(cargo) = buffer.poll_due(at(10_000)) {
                carry(cargo);
            }
            prop_assert_eq!(buffer.octets, 0);
            prop_assert_eq!(arrived, packets);
        }
    }
}
