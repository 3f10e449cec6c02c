//! The last chirps, of which an estimate is the mean.

use super::excursion::Reading;
use crate::riders::{Competing, Riders, Tally};
use std::collections::VecDeque;
use std::time::Duration;

/// As many readings as there is room for, and what rode on their chirps.
#[derive(Clone, Debug)]
pub(super) struct Window {
    size: usize,
    readings: VecDeque<(Reading, Riders, Duration)>,
}

impl Window {
    pub(super) fn new(size: usize) -> Self {
        Self {
            size: size.max(1),
            readings: VecDeque::new(),
        }
    }

    pub(super) fn enter(&mut self, reading: Reading, riders: Riders, lasted: Duration) {
        if self.readings.len() >= self.size {
            self.readings.pop_front();
        }
        self.readings.push_back((reading, riders, lasted));
    }

    /// The mean of what the chirps say, in bit/s, once there are as many as it takes.
    pub(super) fn mean(&self) -> Option<f64> {
        let all = self
            .readings
            .iter()
            .map(|(reading, ..)| reading.available_bps);
        (self.readings.len() >= self.size).then(|| all.sum::<f64>() / self.size as f64)
    }

    /// Whether in most of them delays did not rise to the end.
    pub(super) fn is_level(&self) -> bool {
        let rising = self.readings.iter().filter(|(reading, ..)| reading.rises);
        rising.count() * 2 < self.readings.len()
    }

    /// What is to be subtracted for riders.
    pub(super) fn competing(&self) -> Competing {
        let mut tally = Tally::default();
        for (_, riders, lasted) in &self.readings {
            tally.enter(riders, *lasted);
        }
        tally.competing()
    }
}
