//! What of a TCP stream arrived in each bin, holes or not.
//!
//! The kernel counts octets when they are in order (`tcpi_bytes_received`): while a lost segment is missing the count stands
//! still, and when it comes the count jumps by all that waited behind it. Bins of 100 ms would show nothing and then four times
//! the link's rate. Segments are counted as they come, and so are those that came out of order (`tcpi_data_segs_in`,
//! `tcpi_rcv_ooopack`). So octets say *how much*, and segments say *when*: in bins in which nothing came out of order it is learnt
//! what a segment carries; what came out of order is counted as so many of these, and taken off the jump that brings it into
//! order. What was counted too much by that (duplicates) is taken off the bins that follow, so the sum is that of the octets; at
//! the end of a stream that stops in a hole it has also those that arrived behind it.

/// How much of what a segment carries is believed of one bin.
const LEARNT: f64 = 0.25;
/// What was counted too much is taken off later bins, of each one part in so many.
const REPAID: u64 = 10;

/// Segments since the stream's start.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Segments {
    /// With payload, copies among them.
    pub all: u64,
    /// Those of them that came while something before them was missing.
    pub out_of_order: u64,
}

/// One end of a stream; it is told of each bin in turn.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    /// Octets in order so far, and segments.
    bytes: u64,
    segments: Segments,
    /// Octets that a segment carries; zero until known.
    carried: f64,
    /// Octets counted before they were in order.
    ahead: u64,
}

impl Arrivals {
    /// Octets that arrived in the bin that ends now, with so many `bytes` in order and `segments` in all since the stream's
    /// start. In the `last` bin nothing is put off any more.
    pub fn bin(&mut self, bytes: u64, segments: Option<Segments>, last: bool) -> u64 {
        let grown = bytes.saturating_sub(self.bytes);
        self.bytes = bytes.max(self.bytes);
        let Some(now) = segments else {
            return self.repaid(grown, u64::MAX);
        };
        let came = now.all.saturating_sub(self.segments.all);
        let waits = now.out_of_order.saturating_sub(self.segments.out_of_order);
        self.segments = now;
        if last {
            return self.repaid(grown, u64::MAX);
        }
        if waits > 0 {
            return self.beside_a_hole(grown, came.saturating_sub(waits), waits);
        }
        // What is more than came in order had waited.
        let in_order = self.octets(came);
        if self.ahead == 0 && came > 0 {
            self.learn(grown as f64 / came as f64);
        }
        self.repaid(grown, grown.saturating_sub(in_order).max(grown / REPAID))
    }

    /// Something is missing, or was: of what came `in_order` segments were, and the others wait.
    fn beside_a_hole(&mut self, grown: u64, in_order: u64, waits: u64) -> u64 {
        // Those that wait may be released in the very same bin.
        let waiting = self.octets(waits);
        self.ahead += waiting;
        let released = grown.saturating_sub(self.octets(in_order));
        waiting + self.repaid(grown, released)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "octets of a tenth of a second"
    )]
    fn octets(&self, segments: u64) -> u64 {
        (segments as f64 * self.carried) as u64
    }

    fn learn(&mut self, carried: f64) {
        let believed = if self.carried > 0.0 { LEARNT } else { 1.0 };
        self.carried += (carried - self.carried) * believed;
    }

    /// What is in order now, less what was counted before, of which at most so much is taken off.
    fn repaid(&mut self, grown: u64, most: u64) -> u64 {
        let off = self.ahead.min(grown).min(most);
        self.ahead -= off;
        grown - off
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Octets of a segment, and segments that a link of 20 Mbit/s carries in a bin.
    const MSS: u64 = 1_448;
    const BIN: u64 = 172;
    const BINS: u64 = 60;

    /// A stream whose segments arrive steadily. The first of each of these ranges of segments is lost, and comes again in place
    /// of the last. A burst of `burst` segments counts as one.
    fn steady(holes: &[std::ops::Range<u64>], burst: u64) -> Vec<f64> {
        let mut arrivals = Arrivals::default();
        let mut out_of_order = 0;
        let found = (1..=BINS).map(|bin| {
            let all = bin * BIN;
            let hole = holes.iter().find(|hole| hole.contains(&all));
            let in_order = hole.map_or(all, |hole| hole.start);
            let waited = holes.iter().map(|hole| {
                let until = all.min(hole.end - 1);
                until.saturating_sub(hole.start.max(all - BIN))
            });
            out_of_order += waited.sum::<u64>();
            let segments = Segments {
                all: all / burst,
                out_of_order: out_of_order / burst,
            };
            arrivals.bin(in_order * MSS, Some(segments), bin == BINS)
        });
        let found: Vec<u64> = found.collect();
        assert_eq!(found.iter().sum::<u64>(), BINS * BIN * MSS);
        found
            .iter()
            .map(|bytes| *bytes as f64 / (BIN * MSS) as f64)
            .collect()
    }

    #[test]
    fn no_bin_has_more_than_the_link_carried_and_the_sum_is_exact() {
        // Filled at the end of a bin, in its middle, within one bin, and across many.
        let holes = [1_568..2_236, 3_290..3_350, 4_400..4_900, 5_600..8_130];
        for burst in [1, 4, 11] {
            for share in steady(&holes, burst) {
                assert!((0.9..1.1).contains(&share), "bursts of {burst}: {share}");
            }
        }
    }

    #[test]
    fn without_a_count_of_segments_octets_are_counted_as_they_are_in_order() {
        let mut arrivals = Arrivals::default();
        assert_eq!(arrivals.bin(1_000, None, false), 1_000);
        assert_eq!(arrivals.bin(1_000, None, false), 0);
        assert_eq!(arrivals.bin(9_000, None, true), 8_000);
    }

    #[test]
    fn copies_that_came_too_late_are_taken_off_again() {
        let mut arrivals = Arrivals::default();
        let mut told = |bytes: u64, all: u64, out_of_order: u64, last: bool| {
            arrivals.bin(bytes * MSS, Some(Segments { all, out_of_order }), last) / MSS
        };
        assert_eq!(told(100, 100, 0, false), 100);
        // Of the fifty that wait ten are copies; then the missing one comes.
        assert_eq!(told(100, 150, 50, false), 50);
        let all = [
            told(241, 251, 50, false),
            told(341, 351, 50, false),
            told(441, 451, 50, true),
        ];
        assert_eq!(150 + all.iter().sum::<u64>(), 441);
    }

    proptest! {
        #[test]
        fn whatever_the_counts_the_sum_is_that_of_the_octets(
            steps in prop::collection::vec((0_u64..400_000, 0_u64..400, 0_u64..400, any::<bool>()), 1..80),
        ) {
            let (mut arrivals, mut all) = (Arrivals::default(), 0);
            let (mut bytes, mut segments) = (0, Segments::default());
            let end = steps.len() - 1;
            for (index, (more, came, waits, tells)) in steps.into_iter().enumerate() {
                bytes += more;
                segments.all += came;
                segments.out_of_order += waits;
                all += arrivals.bin(bytes, tells.then_some(segments), index == end);
                prop_assert_eq!(all, bytes + arrivals.ahead);
            }
        }
    }
}
