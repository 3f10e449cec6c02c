//! Streams of one rate, and what they say together.

use super::Verdict;
use super::trend::Trend;
use crate::riders::{Competing, Tally};
use crate::train::{Passage, Train};

/// The share of streams that must agree.
const AGREEMENT: f64 = 0.7;
/// A stream that loses more than this ends its fleet: the rate is too high.
const MUCH_LOST: f64 = 0.1;
/// Half of the streams may lose this much and no more.
const SOME_LOST: f64 = 0.03;
/// Those of a fleet; as many streams as it has may be sent again because they were not counted.
#[derive(Clone, Debug)]
pub(super) struct Fleet {
    streams: usize,
    trends: Vec<Trend>,
    lossy: usize,
    overloaded: bool,
    untimed: usize,
    riders: Tally,
}

/// The sender cannot keep the gaps.
pub(super) struct Untimed;

impl Fleet {
    pub(super) fn new(streams: usize) -> Self {
        Self {
            streams,
            trends: Vec::new(),
            lossy: 0,
            overloaded: false,
            untimed: 0,
            riders: Tally::default(),
        }
    }

    /// The one that comes after this.
    pub(super) fn next(&self) -> Self {
        Self {
            riders: self.riders.next(),
            ..Self::new(self.streams)
        }
    }

    /// Takes what came of a stream.
    pub(super) fn enter(&mut self, passage: &Passage, stream: &Train) -> Result<(), Untimed> {
        if !passage.is_timed(stream) {
            self.untimed += 1;
            return if self.untimed > self.streams {
                Err(Untimed)
            } else {
                Ok(())
            };
        }
        self.riders.enter(&passage.riders, passage.lasted);
        let loss = passage.loss();
        self.overloaded |= loss > MUCH_LOST;
        self.lossy += usize::from(loss > SOME_LOST);
        self.trends.push(Trend::of(passage));
        Ok(())
    }

    /// What they say, once they do: as soon as those that are left cannot change it.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        if self.overloaded || self.lossy * 2 > self.streams {
            return Some(Verdict::Above);
        }
        let count = |wanted| {
            let agree = self.trends.iter().filter(|trend| **trend == wanted);
            agree.count() as f64
        };
        let enough = AGREEMENT * self.streams as f64;
        let left = self.streams.saturating_sub(self.trends.len()) as f64;
        let (rising, level) = (count(Trend::Rising), count(Trend::Level));
        if rising >= enough {
            Some(Verdict::Above)
        } else if level >= enough {
            Some(Verdict::Below)
        } else {
            // Nor can those that are left make it one of the two.
            (rising.max(level) + left < enough).then_some(Verdict::Grey)
        }
    }

    /// What is to be subtracted for riders.
    pub(super) fn competing(&self) -> Competing {
        self.riders.competing()
    }
}
