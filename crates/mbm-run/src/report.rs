//! The receiver's report of one packet: the reply to it, with the totals of the receiver's counters as its payload.
//!
//! ```text
//! |  header of 56 octets (kind 2: times and marks of the packet)  |  0
//! |  arrived   |  packets  |  lost  |  marked  |  flags           | 56  five numbers of 64 bits, most significant octet first
//! ```
//!
//! `arrived` counts packets that arrived, copies apart; `packets`, `lost` and `marked` are of those whose fate is settled
//! (a packet is lost when a later one has been there for a target round trip: more patience than RFC 8337 section 7.3 asks for). Flag 1:
//! a clock was set.

use mbm::loss::Counts;
use schema::mbm::plan::SHORTEST_PAYLOAD;
use session::wire::Probe;

/// Octets of the totals.
const TOTALS: usize = 40;
// A packet is no shorter than its report.
const _: () = assert!(Probe::LEN + TOTALS == SHORTEST_PAYLOAD as usize);
/// A clock was set since the stream began.
const STEPPED: u64 = 1;

/// Totals of the receiver's counters.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Totals {
    pub(super) arrived: u64,
    pub(super) settled: Counts,
    pub(super) clock_stepped: bool,
}

impl Totals {
    /// The payload.
    pub(super) fn emit(self) -> [u8; TOTALS] {
        let mut payload = [0; TOTALS];
        let flags = if self.clock_stepped { STEPPED } else { 0 };
        let Counts { packets, lost, ce } = self.settled;
        let numbers = [self.arrived, packets, lost, ce, flags];
        for (octets, number) in payload.chunks_exact_mut(8).zip(numbers) {
            octets.copy_from_slice(&number.to_be_bytes());
        }
        payload
    }

    /// What a payload says; `None` for one that is too short or cannot be true.
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let mut numbers = payload.chunks_exact(8).map(|octets| {
            octets
                .iter()
                .fold(0, |number, octet| number << 8 | u64::from(*octet))
        });
        let mut next = || numbers.next();
        let (arrived, packets, lost, ce, flags) = (next()?, next()?, next()?, next()?, next()?);
        let marks = lost.checked_add(ce)?;
        (marks <= packets).then_some(Self {
            arrived,
            settled: Counts { packets, lost, ce },
            clock_stepped: flags & STEPPED != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn totals_survive_the_wire(arrived: u64, packets: u64, clock_stepped: bool) {
            let settled = Counts { packets, lost: packets / 3, ce: packets / 5 };
            let totals = Totals { arrived, settled, clock_stepped };
            prop_assert_eq!(Totals::parse(&totals.emit()), Some(totals));
        }

        #[test]
        fn any_payload_is_read_or_refused(payload in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Some(totals) = Totals::parse(&payload) {
                prop_assert!(totals.settled.marks() <= totals.settled.packets);
            }
        }
    }
}
