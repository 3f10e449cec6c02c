//! A set over time, in bounded memory.
//!
//! How long a set lasts is known at its end only, and a set need not be in the order of its starts. So moments are counted
//! in bins that are the wider the later they are: 1/128 s wide in the first 4 s, and twice as wide in each stretch that is
//! as long as all before it. At the end all bins become as wide as those of the last start. What is counted does not
//! depend on the order, and courses of parts add up.

use crate::{Body, Vector};
use core::time::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bins of the first stretch; each later one has half of it.
const BINS: usize = 512;
/// The narrowest bins to a second.
const PER_SECOND: u64 = 128;

/// Starts and octets over time, in bins of one width from the beginning of the trace to the last start.
///
/// When an ADU was said a vector does not tell: how long the ones before it took is the network's. Here an ADU is at the start of its connection plus
/// all waits before it, as if ADUs took no time; what comes after the last start is left out.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Course {
    /// Width of a bin, in seconds: a power of two.
    pub bin_s: f64,
    /// Connections that start in each bin. The last bin is as a rule not full.
    pub starts: Vec<u64>,
    /// Octets that initiators say in each bin.
    pub initiator_bytes: Vec<u64>,
    /// Octets that acceptors say in each bin.
    pub acceptor_bytes: Vec<u64>,
}

/// Starts, octets of initiators, octets of acceptors.
type Bin = [u64; 3];

/// What a [`Course`] is made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments {
    /// Level `k` has bins of `2^k` times the narrowest, over twice the stretch of the level before it; those of that stretch stay
    /// empty but on the first.
    levels: Vec<Vec<Bin>>,
}

impl Moments {
    pub(super) fn enter(&mut self, vector: &Vector) {
        self.add(vector.start, 0, 1);
        // One clock for both ends of a sequential connection, one for each of a concurrent one.
        let mut clocks = [vector.start; 2];
        for turn in vector.body.turns() {
            let clock = match vector.body {
                Body::Sequential { .. } => 0,
                Body::Concurrent { .. } => turn.side.index(),
            };
            clocks[clock] = clocks[clock].saturating_add(turn.wait);
            self.add(clocks[clock], 1 + turn.side.index(), turn.bytes);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let missing = other.levels.len().saturating_sub(self.levels.len());
        self.levels.extend((0..missing).map(|_| vec![[0; 3]; BINS]));
        for (bins, more) in self.levels.iter_mut().zip(&other.levels) {
            for (bin, more) in bins.iter_mut().zip(more) {
                add(bin, *more);
            }
        }
    }

    /// All up to the last start.
    pub(super) fn course(&self, last_start: Duration) -> Course {
        let (level, last) = place(last_start);
        let mut bins = vec![[0; 3]; BINS];
        for (number, narrow) in self.levels.iter().enumerate().take(level + 1) {
            if number > 0 {
                bins = halved(&bins);
            }
            for (bin, more) in bins.iter_mut().zip(narrow) {
                add(bin, *more);
            }
        }
        bins.truncate(last + 1);
        if self.levels.is_empty() {
            bins.clear();
        }
        let column = |at: usize| bins.iter().map(|bin| bin[at]).collect();
        Course {
            bin_s: (1_u128 << level) as f64 / PER_SECOND as f64,
            starts: column(0),
            initiator_bytes: column(1),
            acceptor_bytes: column(2),
        }
    }

    fn add(&mut self, at: Duration, what: usize, much: u64) {
        let (level, bin) = place(at);
        while self.levels.len() <= level {
            self.levels.push(vec![[0; 3]; BINS]);
        }
        let cell = &mut self.levels[level][bin][what];
        *cell = cell.saturating_add(much);
    }
}

/// The level whose bins reach just as far as this moment, and the bin of it.
fn place(at: Duration) -> (usize, usize) {
    let narrow = at.as_nanos() * u128::from(PER_SECOND) / 1_000_000_000;
    let mut level = 0;
    while narrow >> level >= BINS as u128 {
        level += 1;
    }
    (level, usize::try_from(narrow >> level).unwrap_or(BINS - 1))
}

/// The same in bins of twice the width.
fn halved(bins: &[Bin]) -> Vec<Bin> {
    let mut wide = vec![[0; 3]; BINS];
    for (at, bin) in bins.iter().enumerate() {
        add(&mut wide[at / 2], *bin);
    }
    wide
}

fn add(bin: &mut Bin, more: Bin) {
    for (sum, more) in bin.iter_mut().zip(more) {
        *sum = sum.saturating_add(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::samples::{a, any_vector, b, concurrent, ms, sequential, vector};
    use proptest::prelude::*;

    fn course(set: &[Vector]) -> Course {
        let mut moments = Moments::default();
        for vector in set {
            moments.enter(vector);
        }
        let last = set.iter().map(|vector| vector.start).max();
        moments.course(last.unwrap_or_default())
    }

    /// Holds tmix/offered-load.
    #[test]
    fn octets_are_where_the_waits_put_them() {
        let mut web = vector(sequential(&[a(10, 0), b(20, 900), a(5, 1_000)], None));
        web.start = ms(500);
        let mut chat = vector(concurrent(&[a(1, 0), b(2, 100), a(4, 300)], [None; 2]));
        chat.start = ms(1_450);
        let mut late = vector(sequential(&[b(7, 60_000)], None));
        late.start = ms(5_100);
        let found = course(&[late, web, chat]);
        // 5.1 s need bins of 1/64 s.
        assert!((found.bin_s - 1.0 / 64.0).abs() < 1e-12);
        assert_eq!(found.starts.len(), 327);
        let filled = |column: &[u64]| {
            let filled = column.iter().enumerate().filter(|(_, much)| **much > 0);
            filled.map(|(at, much)| (at, *much)).collect::<Vec<_>>()
        };
        assert_eq!(filled(&found.starts), [(32, 1), (92, 1), (326, 1)]);
        // At 0.5, 1.45, 1.75 and 2.4 s.
        assert_eq!(
            filled(&found.initiator_bytes),
            [(32, 10), (92, 1), (112, 4), (153, 5)]
        );
        // At 1.4 and 1.55 s; what comes after the last start is left out.
        assert_eq!(filled(&found.acceptor_bytes), [(89, 20), (99, 2)]);
    }

    #[test]
    fn an_hour_has_bins_of_eight_seconds() {
        let mut late = vector(sequential(&[a(1, 0)], None));
        late.start = ms(3_599_000);
        let found = course(&[late]);
        assert!((found.bin_s - 8.0).abs() < 1e-12);
        assert_eq!((found.starts.len(), found.starts[449]), (450, 1));
        assert!(course(&[]).starts.is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn parts_add_up_and_no_start_is_lost(set in prop::collection::vec(any_vector(), 1..12), at in 0..12_usize) {
            let (one, other) = set.split_at(at.min(set.len()));
            let parts = [one, other].map(|part| {
                let mut moments = Moments::default();
                for vector in part {
                    moments.enter(vector);
                }
                moments
            });
            let mut all = parts[0].clone();
            all.merge(&parts[1]);
            let last = set.iter().map(|vector| vector.start).max().unwrap_or_default();
            let found = all.course(last);
            prop_assert_eq!(&found, &course(&set));
            prop_assert_eq!(found.starts.iter().sum::<u64>(), set.len() as u64);
        }
    }
}
