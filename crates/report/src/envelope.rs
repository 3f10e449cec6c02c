//! A line over time in bounded space: the smallest and the largest value of each bin, where they occurred.
//!
//! Taking every tenth point of a line loses the one spike that the user felt; averaging ten points halves it. A line
//! through the minimum and the maximum of each bin, in the order in which they occurred, covers every pixel that the
//! whole line would, as long as a bin is not wider than a pixel.
//!
//! How long the run is need not be known: when the bins run out, neighbours are joined and bins are twice as wide from
//! then on. So a run of any length ends with between [`MOST_BINS`]`/2` and [`MOST_BINS`] bins (or with its own points).
//!
//! **Gaps stay gaps.** [`Envelope::gap`] says that between two points there is nothing to draw: a probe was lost, or a
//! stream stood still. The line is interrupted there, however narrow the gap.

use crate::number::{seconds, short};
use serde::{Deserialize, Serialize};

/// The most bins of a line. A figure is at most about 1,000 pixels wide.
pub(crate) const MOST_BINS: usize = 1_200;

/// Width of the first bins: below the spacing of any probe that lasts for more than a second.
const FIRST_BIN_NS: u64 = 1_000_000;

/// Points of a line over time, ready for drawing.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Line {
    /// Seconds since the run's start.
    pub(crate) t_s: Vec<f64>,
    /// Value at each; null where the line is interrupted.
    pub(crate) v: Vec<Option<f64>>,
    /// Width of the bins of which minimum and maximum were kept; null when these are all points.
    pub(crate) bin_s: Option<f64>,
    /// How many points were measured.
    pub(crate) n: u64,
}

#[derive(Clone, Copy, Debug)]
struct Bin {
    low: (u64, f64),
    high: (u64, f64),
    n: u64,
}

impl Bin {
    fn join(&mut self, later: &Self) {
        if later.low.1 < self.low.1 {
            self.low = later.low;
        }
        if later.high.1 > self.high.1 {
            self.high = later.high;
        }
        self.n += later.n;
    }
}

/// Collects the points of one line. They may come in any order within a bin, and bins in any order.
#[derive(Clone, Debug)]
pub(crate) struct Envelope {
    width_ns: u64,
    bins: Vec<Option<Bin>>,
    gaps: Vec<u64>,
}

impl Default for Envelope {
    fn default() -> Self {
        Self {
            width_ns: FIRST_BIN_NS,
            bins: Vec::new(),
            gaps: Vec::new(),
        }
    }
}

impl Envelope {
    /// Adds the value `v` at `t_ns`. What is not finite is left out.
    pub(crate) fn push(&mut self, t_ns: u64, v: f64) {
        if !v.is_finite() {
            return;
        }
        let bin = Bin {
            low: (t_ns, v),
            high: (t_ns, v),
            n: 1,
        };
        let at = self.place(t_ns);
        if at >= self.bins.len() {
            self.bins.resize(at + 1, None);
        }
        match &mut self.bins[at] {
            Some(there) => there.join(&bin),
            empty => *empty = Some(bin),
        }
    }

    /// The line is interrupted at `t_ns`.
    pub(crate) fn gap(&mut self, t_ns: u64) {
        // Gaps closer than a bin cannot be told apart.
        let at = self.place(t_ns) as u64 * self.width_ns;
        if self.gaps.last().is_none_or(|&last| last < at) {
            self.gaps.push(t_ns);
        }
    }

    /// The bin of `t_ns`, after making bins wide enough that there is one.
    fn place(&mut self, t_ns: u64) -> usize {
        loop {
            let at = t_ns / self.width_ns;
            match usize::try_from(at) {
                Ok(at) if at < MOST_BINS => return at,
                _ => self.widen(),
            }
        }
    }

    fn widen(&mut self) {
        self.width_ns = self.width_ns.saturating_mul(2);
        let narrow = std::mem::take(&mut self.bins);
        self.bins = narrow.chunks(2).map(joined).collect();
        let width = self.width_ns;
        self.gaps.dedup_by_key(|t_ns| *t_ns / width);
    }

    /// The line.
    pub(crate) fn line(&self) -> Line {
        let mut line = Line::default();
        let mut gaps = self.gaps.iter().copied().peekable();
        let mut paired = false;
        for bin in self.bins.iter().flatten() {
            let (first, second) = if bin.low.0 <= bin.high.0 {
                (bin.low, bin.high)
            } else {
                (bin.high, bin.low)
            };
            let mut is_gap = false;
            while gaps.next_if(|&gap| gap <= first.0).is_some() {
                is_gap = true;
            }
            if is_gap && !line.v.is_empty() {
                line.t_s.push(seconds(first.0));
                line.v.push(None);
            }
            line.point(first);
            if bin.n > 1 {
                line.point(second);
                paired |= bin.n > 2;
            }
            line.n += bin.n;
        }
        line.bin_s = paired.then(|| seconds(self.width_ns));
        line
    }
}

impl Line {
    fn point(&mut self, (t_ns, v): (u64, f64)) {
        self.t_s.push(seconds(t_ns));
        self.v.push(Some(short(v)));
    }
}

fn joined(pair: &[Option<Bin>]) -> Option<Bin> {
    match pair {
        [Some(early), Some(late)] => {
            let mut bin = *early;
            bin.join(late);
            Some(bin)
        }
        [one, other] => one.or(*other),
        [one] => *one,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(line: &Line) -> Vec<f64> {
        line.v.iter().copied().flatten().collect()
    }

    #[test]
    fn a_short_line_is_kept_as_it_is() {
        let mut envelope = Envelope::default();
        for i in 0..50_u32 {
            envelope.push(u64::from(i) * 10_000_000, f64::from(i % 7));
        }
        let line = envelope.line();
        assert_eq!((line.n, line.bin_s), (50, None));
        assert_eq!(values(&line)[..8], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0]);
    }

    #[test]
    fn the_one_spike_of_a_long_run_is_kept_at_its_instant() {
        let mut envelope = Envelope::default();
        for i in 0..300_000_u64 {
            let v = if i == 123_457 { 900.0 } else { 20.0 };
            envelope.push(i * 1_000_000, v);
        }
        let line = envelope.line();
        assert!(line.t_s.len() <= 2 * MOST_BINS, "{} points", line.t_s.len());
        let spike = line.v.iter().position(|&v| v == Some(900.0)).unwrap();
        assert!((line.t_s[spike] - 123.457).abs() < 1e-9);
        assert_eq!(line.n, 300_000);
        assert!(line.bin_s.is_some());
    }

    #[test]
    fn a_gap_interrupts_the_line() {
        let mut envelope = Envelope::default();
        for t in [0, 10, 20, 500, 510_u64] {
            if t == 500 {
                envelope.gap(300_000_000);
            }
            envelope.push(t * 1_000_000, 1.0);
        }
        let line = envelope.line();
        let holes: Vec<_> = line.v.iter().map(Option::is_none).collect();
        assert_eq!(holes, [false, false, false, true, false, false]);
    }

    #[test]
    fn absurd_times_cost_no_memory() {
        let mut envelope = Envelope::default();
        envelope.push(u64::MAX, 1.0);
        envelope.push(0, 2.0);
        envelope.gap(u64::MAX);
        assert_eq!(values(&envelope.line()).len(), 2);
    }
}
