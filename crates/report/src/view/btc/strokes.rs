//! Vertical strokes over time in bounded space: at an instant, the segments from one number to another.
//!
//! A sender's segments follow each other, so a burst is one stroke as well as thirty. Strokes that touch are joined when
//! they are in one bin of time, and when there are too many all the same, bins are made twice as wide. What is lost is the
//! order within a bin, never a number.

use serde::Serialize;

/// Bins wider than a second are of no use: from there on strokes are joined whether they touch or not.
const WIDEST_US: u64 = 1 << 20;

/// One stroke: when, in microseconds, and the first and last number.
type Stroke = (u64, u64, u64);

/// Collects strokes.
#[derive(Clone, Debug)]
pub(super) struct Strokes {
    most: usize,
    width_us: u64,
    all: Vec<Stroke>,
    n: u64,
}

/// Strokes as a page has them: each number but those of `more` as its difference from the one before, which makes them
/// short.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Drawn {
    /// Microseconds since the transfer's start.
    t_us: Vec<i64>,
    /// First number.
    first: Vec<i64>,
    /// How many more follow it.
    more: Vec<u64>,
    /// Width of the bins in which they were joined; null when each is there.
    bin_s: Option<f64>,
    /// How many there were.
    n: u64,
}

impl Strokes {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most: most.max(2),
            width_us: 1,
            all: Vec::new(),
            n: 0,
        }
    }

    /// Adds the numbers `first` to `last` at `t_ns`.
    pub(super) fn push(&mut self, t_ns: u64, first: u64, last: u64) {
        self.n += 1;
        self.all.push((t_ns / 1_000, first, last));
        while self.all.len() > self.most {
            self.join();
            if self.all.len() > self.most / 2 {
                self.width_us = self.width_us.saturating_mul(2);
            }
        }
    }

    fn join(&mut self) {
        self.all.sort_unstable();
        let (width, takes_all) = (self.width_us, self.width_us >= WIDEST_US);
        self.all.dedup_by(|next, kept| {
            let touch = next.1 <= kept.2.saturating_add(1) && kept.1 <= next.2.saturating_add(1);
            let is_same = next.0 / width == kept.0 / width && (touch || takes_all);
            if is_same {
                kept.1 = kept.1.min(next.1);
                kept.2 = kept.2.max(next.2);
            }
            is_same
        });
    }

    pub(super) fn drawn(mut self) -> Drawn {
        self.all.sort_unstable();
        let mut drawn = Drawn {
            bin_s: (self.width_us > 1).then_some(self.width_us as f64 / 1e6),
            n: self.n,
            ..Drawn::default()
        };
        let (mut t_before, mut before) = (0, 0);
        for (t_us, first, last) in self.all {
            drawn.t_us.push(difference(t_before, t_us));
            drawn.first.push(difference(before, first));
            drawn.more.push(last.saturating_sub(first));
            (t_before, before) = (t_us, first);
        }
        drawn
    }
}

/// `to` less `from`; what no transfer reaches is cut off.
pub(crate) fn difference(from: u64, to: u64) -> i64 {
    let cut = |v: u64| i64::try_from(v).unwrap_or(i64::MAX);
    cut(to) - cut(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every number that the strokes cover.
    fn covered(drawn: &Drawn) -> Vec<i64> {
        let mut first = 0;
        let mut all = Vec::new();
        for (step, &more) in drawn.first.iter().zip(&drawn.more) {
            first += step;
            all.extend(first..=first + i64::try_from(more).unwrap());
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    #[test]
    fn few_strokes_stay_as_they_are() {
        let mut strokes = Strokes::new(10);
        strokes.push(5_000, 3, 3);
        strokes.push(9_000, 1, 2);
        let drawn = strokes.drawn();
        assert_eq!(
            (&*drawn.t_us, &*drawn.first, &*drawn.more),
            (&[5, 4][..], &[3, -2][..], &[0, 1][..])
        );
        assert_eq!(drawn.bin_s, None);
    }

    #[test]
    fn no_number_is_lost_when_there_are_too_many() {
        let mut strokes = Strokes::new(500);
        for i in 0..100_000_u64 {
            strokes.push(i * 12_000, i, i);
        }
        let drawn = strokes.drawn();
        assert!(drawn.t_us.len() <= 500, "{}", drawn.t_us.len());
        assert_eq!(covered(&drawn), (0..100_000).collect::<Vec<i64>>());
        assert!(drawn.bin_s.is_some_and(|s| s < 0.01), "{:?}", drawn.bin_s);
    }

    #[test]
    fn absurd_rows_cost_neither_memory_nor_time() {
        let mut strokes = Strokes::new(100);
        for i in 0..10_000_u64 {
            strokes.push(i.wrapping_mul(0x9e37_79b9_7f4a_7c15), u64::MAX - i * 7, 5);
        }
        assert!(strokes.drawn().t_us.len() <= 100);
    }
}
