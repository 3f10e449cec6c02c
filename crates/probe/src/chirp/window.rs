//! The last chirps, of which an estimate is the mean.

use super::excursion::Reading;
use std::collections::VecDeque;
use units::Rate;

/// As many readings as there is room for, and the rates in bit/s of riders that would have competed with them.
#[derive(Clone, Debug)]
pub(super) struct Window {
    size: usize,
    readings: VecDeque<(Reading, f64)>,
}

impl Window {
    pub(super) fn new(size: usize) -> Self {
        Self {
            size: size.max(1),
            readings: VecDeque::new(),
        }
    }

    pub(super) fn enter(&mut self, reading: Reading, competing: Option<Rate>) {
        if self.readings.len() >= self.size {
            self.readings.pop_front();
        }
        let competing = competing.map_or(0.0, |rate| rate.as_bps() as f64);
        self.readings.push_back((reading, competing));
    }

    /// The mean of what the chirps say, in bit/s, once there are as many as it takes.
    pub(super) fn mean(&self) -> Option<f64> {
        let all = self
            .readings
            .iter()
            .map(|(reading, _)| reading.available_bps);
        (self.readings.len() >= self.size).then(|| all.sum::<f64>() / self.size as f64)
    }

    /// Whether in most of them delays did not rise to the end.
    pub(super) fn is_level(&self) -> bool {
        let rising = self.readings.iter().filter(|(reading, _)| reading.rises);
        rising.count() * 2 < self.readings.len()
    }

    /// Of the last chirp, and on average.
    pub(super) fn competing(&self) -> [f64; 2] {
        let last = self
            .readings
            .back()
            .map_or(0.0, |(_, competing)| *competing);
        let all: f64 = self.readings.iter().map(|(_, competing)| competing).sum();
        [last, all / self.readings.len().max(1) as f64]
    }
}
