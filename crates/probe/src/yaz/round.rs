//! Streams of one rate, and whether they saw congestion.

use super::Options;
use super::spacing::Spacing;
use crate::riders::{Competing, Tally};
use crate::train::Passage;

/// A stream that lost this many packets was too fast (the tool).
const LOST: u32 = 2;

/// What a round says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// No congestion at this rate, which is the one that the sender kept, in bit/s.
    Clear { rate: f64 },
    /// Gaps changed by this share of them.
    Congested { change: f64 },
    /// Too little arrived.
    Nothing,
}

/// Sums over the streams so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    streams: u32,
    /// Mean gap at the sender, its change, and the squared standard error of that, in nanoseconds.
    sums: [f64; 3],
    /// Share that was lost, of the stream that lost most, if that was too much.
    lost: f64,
    nothing: bool,
    riders: Tally,
}

impl Round {
    /// The one that comes after this.
    pub(super) fn next(&self) -> Self {
        Self {
            riders: self.riders.next(),
            ..Self::default()
        }
    }

    /// Takes what came of a stream of packets of one size.
    pub(super) fn enter(&mut self, spacing: Option<Spacing>, passage: &Passage) {
        self.riders.enter(&passage.riders, passage.lasted);
        self.streams += 1;
        let lost = f64::from(passage.sent) * passage.loss();
        if lost + 0.5 > f64::from(LOST) {
            self.lost = self.lost.max(passage.loss());
        }
        let Some(spacing) = spacing else {
            self.nothing = true;
            return;
        };
        let error = spacing.standard_error_ns();
        let figures = [spacing.sent_ns, spacing.change_ns, error * error];
        for (sum, figure) in self.sums.iter_mut().zip(figures) {
            *sum += figure;
        }
    }

    /// What the streams say, once they do; all were of packets of `octets`.
    pub(super) fn verdict(&self, octets: u32, options: &Options) -> Option<Verdict> {
        if self.nothing {
            return Some(Verdict::Nothing);
        }
        let count = f64::from(self.streams.max(1));
        let sent_ns = (self.sums[0] / count).max(1.0);
        let change = (self.sums[1] / count / sent_ns).abs();
        // Twice the standard error of the mean over all streams, as a share of the gap.
        let doubt = 2.0 * self.sums[2].sqrt() / count / sent_ns;
        if self.lost > 0.0 {
            return Some(Verdict::Congested {
                change: change.max(self.lost),
            });
        }
        let last = self.streams >= options.streams;
        if change - doubt > options.tolerance || (last && change > options.tolerance) {
            return Some(Verdict::Congested { change });
        }
        let rate = f64::from(octets) * 8.0 * 1e9 / sent_ns;
        (last || change + doubt <= options.tolerance).then_some(Verdict::Clear { rate })
    }

    /// What is to be subtracted for riders.
    pub(super) fn competing(&self) -> Competing {
        self.riders.competing()
    }
}
