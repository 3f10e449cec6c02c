//! Streams of one rate, and what they say together.

use super::Verdict;
use super::trend::Trend;
use crate::train::Passage;
use std::time::Duration;

/// The share of streams that must agree.
const AGREEMENT: f64 = 0.7;
/// A stream that loses more than this ends its fleet: the rate is too high.
const MUCH_LOST: f64 = 0.1;
/// Half of the streams may lose this much and no more.
const SOME_LOST: f64 = 0.03;
/// A stream whose sender took that much longer or less long than planned is not counted.
const UNTIMED: f64 = 0.05;

/// Those of a fleet; as many streams as it has may be sent again because they were not counted.
#[derive(Clone, Debug)]
pub(super) struct Fleet {
    streams: usize,
    trends: Vec<Trend>,
    lossy: usize,
    overloaded: bool,
    untimed: usize,
    /// Rates of the riders that would have competed, in bit/s, one for each stream.
    competing: Vec<f64>,
}

/// The sender cannot keep the gaps.
pub(super) struct Untimed;

impl Fleet {
    pub(super) const fn new(streams: usize) -> Self {
        Self {
            streams,
            trends: Vec::new(),
            lossy: 0,
            overloaded: false,
            untimed: 0,
            competing: Vec::new(),
        }
    }

    /// Takes what came of a stream that was to last so long.
    pub(super) fn enter(&mut self, passage: &Passage, planned: Duration) -> Result<(), Untimed> {
        if is_untimed(passage.lasted, planned) {
            self.untimed += 1;
            return if self.untimed > self.streams {
                Err(Untimed)
            } else {
                Ok(())
            };
        }
        let competing = passage.competing().map_or(0.0, |rate| rate.as_bps() as f64);
        self.competing.push(competing);
        let loss = passage.loss();
        self.overloaded |= loss > MUCH_LOST;
        self.lossy += usize::from(loss > SOME_LOST);
        self.trends.push(Trend::of(passage));
        Ok(())
    }

    /// What they say, once they do.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        if self.overloaded || self.lossy * 2 > self.streams {
            return Some(Verdict::Above);
        }
        if self.trends.len() < self.streams {
            return None;
        }
        let share = |wanted| {
            let agree = self.trends.iter().filter(|trend| **trend == wanted);
            agree.count() as f64 / self.streams.max(1) as f64
        };
        Some(if share(Trend::Rising) >= AGREEMENT {
            Verdict::Above
        } else if share(Trend::Level) >= AGREEMENT {
            Verdict::Below
        } else {
            Verdict::Grey
        })
    }

    /// Rate of riders that would have competed with the last stream, and with all on average, in bit/s.
    pub(super) fn competing(&self) -> [f64; 2] {
        let last = self.competing.last().copied().unwrap_or(0.0);
        let all: f64 = self.competing.iter().sum();
        [last, all / self.competing.len().max(1) as f64]
    }
}

/// Whether a stream lasted another time than it was to.
fn is_untimed(lasted: Duration, planned: Duration) -> bool {
    let off = lasted.as_secs_f64() - planned.as_secs_f64();
    off.abs() > UNTIMED * planned.as_secs_f64()
}
