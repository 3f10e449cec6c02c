//! One packet in the making: its gaps, and what is between them.
//!
//! RFC 815's algorithm: a list of gaps, of which at first there is one, from 0 to nobody knows where. A fragment that plugs a
//! gap leaves at most two smaller ones; the last fragment closes the open end. When no gap is left the packet is whole (T section
//! 4.6.1, figure 4.8). Octets are kept in place, so nothing has to be put in order at the end.

use crate::packet::Fragment;

/// The longest packet of IP.
pub(super) const MOST: usize = 65_535;

/// The most gaps that a packet may have. A packet of an Ethernet has fewer fragments than that, and who sends more gaps than a
/// path's reordering makes wants memory for lists instead of for octets.
const MOST_GAPS: usize = 128;

/// A gap from an offset to the one behind its end; the last one has no end before the last fragment has come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Gap {
    from: usize,
    to: Option<usize>,
}

impl Gap {
    fn holds(&self, from: usize, to: usize) -> bool {
        self.from <= from && self.to.is_none_or(|end| to <= end)
    }

    fn touches(&self, from: usize, to: usize) -> bool {
        self.from < to && self.to.is_none_or(|end| from < end)
    }
}

/// What a fragment did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fit {
    /// It plugged a gap, or a part of one.
    Plugged,
    /// All of it was there.
    Repeated,
    /// Part of it was there, or it says another end, or it leaves more than [`MOST_GAPS`]: two packets have one identifier, or somebody
    /// forges (RFC 5722).
    Overlaps,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    gaps: Vec<Gap>,
    octets: Vec<u8>,
    fragments: u32,
}

impl Bucket {
    pub(super) fn new() -> Self {
        Self {
            gaps: vec![Gap { from: 0, to: None }],
            octets: Vec::new(),
            fragments: 0,
        }
    }

    /// Fragments that have been taken.
    pub(super) const fn fragments(&self) -> u32 {
        self.fragments
    }

    /// Octets that are kept.
    pub(super) const fn kept(&self) -> usize {
        self.octets.len()
    }

    pub(super) fn is_whole(&self) -> bool {
        self.gaps.is_empty()
    }

    pub(super) fn into_octets(self) -> Vec<u8> {
        self.octets
    }

    /// Takes a fragment.
    pub(super) fn enter(&mut self, fragment: &Fragment<'_>) -> Fit {
        let from = usize::from(fragment.offset);
        let to = from + fragment.octets.len();
        if to > MOST {
            return Fit::Overlaps;
        }
        let Some(place) = self.gaps.iter().position(|gap| gap.holds(from, to)) else {
            return self.without_gap(from, to, fragment);
        };
        let gap = self.gaps[place];
        // The last one plugs the open end, and no other: everything behind it must still be missing.
        if fragment.is_last && gap.to.is_some() || to == from && !fragment.is_last {
            return Fit::Overlaps;
        }
        self.plug(place, from, to, fragment.is_last);
        if self.gaps.len() > MOST_GAPS {
            return Fit::Overlaps;
        }
        if self.octets.len() < to {
            self.octets.resize(to, 0);
        }
        if let Some(room) = self.octets.get_mut(from..to) {
            room.copy_from_slice(fragment.octets);
        }
        self.fragments += 1;
        Fit::Plugged
    }

    /// A fragment that lies in no gap is there already, wholly or in part.
    fn without_gap(&self, from: usize, to: usize, fragment: &Fragment<'_>) -> Fit {
        let missing = self.gaps.iter().any(|gap| gap.touches(from, to));
        let same = self.octets.get(from..to) == Some(fragment.octets);
        let is_end = self.end() == Some(to);
        if missing || !same || fragment.is_last && !is_end {
            Fit::Overlaps
        } else {
            Fit::Repeated
        }
    }

    /// Where the packet ends, once that is known.
    fn end(&self) -> Option<usize> {
        let is_open = self.gaps.last().is_some_and(|gap| gap.to.is_none());
        (!is_open).then(|| {
            let gap = self.gaps.last().and_then(|gap| gap.to).unwrap_or(0);
            gap.max(self.octets.len())
        })
    }

    /// What is left of a gap on both sides of what plugs it.
    fn plug(&mut self, place: usize, from: usize, to: usize, is_last: bool) {
        let gap = self.gaps[place];
        let left = (gap.from < from).then_some(Gap {
            from: gap.from,
            to: Some(from),
        });
        let is_right_left = !is_last && gap.to != Some(to);
        let right = is_right_left.then_some(Gap {
            from: to,
            to: gap.to,
        });
        self.gaps
            .splice(place..=place, left.into_iter().chain(right));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fragment(octets: &[u8], from: usize, to: usize) -> Fragment<'_> {
        Fragment {
            id: 1,
            offset: u16::try_from(from).unwrap(),
            is_last: to == octets.len(),
            protocol: 6,
            octets: &octets[from..to],
        }
    }

    /// The cases of T figure 4.8, of a packet of ten octets: middle, left, right, the open end, and the whole gap.
    ///
    /// Holds manager/gap-list.
    #[test]
    fn gaps_shrink_split_and_vanish() {
        let octets: Vec<u8> = (0..10).collect();
        let mut bucket = Bucket::new();
        let gap = |from, to| Gap { from, to };
        let mut enter = |from, to| {
            assert_eq!(bucket.enter(&fragment(&octets, from, to)), Fit::Plugged);
            bucket.gaps.clone()
        };
        assert_eq!(enter(4, 6), [gap(0, Some(4)), gap(6, None)]);
        assert_eq!(enter(0, 1), [gap(1, Some(4)), gap(6, None)]);
        assert_eq!(enter(8, 10), [gap(1, Some(4)), gap(6, Some(8))]);
        assert_eq!(enter(3, 4), [gap(1, Some(3)), gap(6, Some(8))]);
        assert_eq!(enter(6, 8), [gap(1, Some(3))]);
        assert_eq!(enter(1, 3), []);
        assert!(bucket.is_whole());
        assert_eq!((bucket.fragments(), bucket.into_octets()), (6, octets));
    }

    /// Holds manager/gap-list.
    #[test]
    fn who_contradicts_is_found_out() {
        let octets = vec![7; 20];
        let mut bucket = Bucket::new();
        assert_eq!(bucket.enter(&fragment(&octets, 5, 10)), Fit::Plugged);
        assert_eq!(bucket.enter(&fragment(&octets, 5, 10)), Fit::Repeated);
        assert_eq!(bucket.enter(&fragment(&octets, 7, 9)), Fit::Repeated);
        assert_eq!(bucket.enter(&fragment(&octets, 8, 12)), Fit::Overlaps);
        let other = vec![8; 20];
        assert_eq!(bucket.enter(&fragment(&other, 5, 10)), Fit::Overlaps);
        assert_eq!(bucket.enter(&fragment(&octets[..8], 2, 8)), Fit::Overlaps);
        assert_eq!(
            bucket.enter(&fragment(&octets[..3], 1, 3)),
            Fit::Overlaps,
            "an end before what is there"
        );
        let far = Fragment {
            id: 1,
            offset: u16::MAX,
            is_last: true,
            protocol: 6,
            octets: &octets,
        };
        assert_eq!(
            bucket.enter(&far),
            Fit::Overlaps,
            "longer than a packet can be"
        );
        assert_eq!(bucket.enter(&fragment(&octets, 10, 20)), Fit::Plugged);
        assert_eq!(bucket.enter(&fragment(&octets, 10, 20)), Fit::Repeated);
    }

    #[test]
    fn a_packet_of_more_gaps_than_a_path_makes_is_given_up() {
        let octets = vec![7; 2 * MOST_GAPS + 2];
        let mut bucket = Bucket::new();
        for number in 1..MOST_GAPS {
            let fit = bucket.enter(&fragment(&octets, 2 * number, 2 * number + 1));
            assert_eq!(fit, Fit::Plugged, "gap {number}");
        }
        let fit = bucket.enter(&fragment(&octets, 2 * MOST_GAPS, 2 * MOST_GAPS + 1));
        assert_eq!(fit, Fit::Overlaps);
    }

    proptest! {
        /// Holds manager/fragments.
        #[test]
        fn a_packet_is_put_together_in_any_order(
            octets in prop::collection::vec(any::<u8>(), 1..2_000),
            cuts in prop::collection::btree_set(1_usize..2_000, 0..12),
            order in any::<prop::sample::Index>(),
            again in any::<prop::sample::Index>(),
        ) {
            let mut edges: Vec<usize> = cuts.into_iter().filter(|cut| *cut < octets.len()).collect();
            edges.insert(0, 0);
            edges.push(octets.len());
            let mut pieces: Vec<_> = edges.windows(2).map(|w| (w[0], w[1])).collect();
            let middle = order.index(pieces.len());
            pieces.rotate_left(middle);
            let step = pieces.len() / 2;
            pieces.swap(0, step);
            let mut bucket = Bucket::new();
            for (index, &(from, to)) in pieces.iter().enumerate() {
                prop_assert!(!bucket.is_whole());
                prop_assert_eq!(bucket.enter(&fragment(&octets, from, to)), Fit::Plugged);
                let (from, to) = pieces[again.index(index + 1)];
                prop_assert_eq!(bucket.enter(&fragment(&octets, from, to)), Fit::Repeated);
            }
            prop_assert!(bucket.is_whole());
            prop_assert_eq!(bucket.into_octets(), octets);
        }

        #[test]
        fn nothing_that_is_said_breaks_it(
            pieces in prop::collection::vec((any::<u16>(), 0_usize..3_000, any::<bool>()), 0..40)
        ) {
            let octets = vec![1; 3_000];
            let mut bucket = Bucket::new();
            for (offset, length, is_last) in pieces {
                let fit = bucket.enter(&Fragment { id: 0, offset, is_last, protocol: 6, octets: &octets[..length] });
                prop_assert!(bucket.kept() <= MOST && bucket.gaps.len() <= MOST_GAPS + 1);
                let gaps = bucket.gaps.windows(2);
                for pair in gaps {
                    prop_assert!(pair[0].to.unwrap() <= pair[1].from, "in order: {:?}", pair);
                }
                if fit == Fit::Overlaps {
                    break;
                }
            }
        }
    }
}
