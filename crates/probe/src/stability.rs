//! When a measurement of responsiveness has settled: the algorithm of draft-ietf-ippm-responsiveness-09 section 5.3.
//!
//! Time goes in intervals. With each one more connection loads the path, and there are two stages. First the goodput has to settle: the
//! moving average over the last MAD intervals is taken at the end of each, and it has settled when the standard deviation of the last MAD of
//! these averages is within SDT of the latest. Then the responsiveness of each interval has to do the same. What has not settled when time
//! runs out is reported with less confidence:
//!
//! | confidence | a stage |
//! |---|---|
//! | [`Confidence::High`] | settled |
//! | [`Confidence::Medium`] | had MAD intervals, and did not settle |
//! | [`Confidence::Low`] | had fewer |
//!
//! The draft's text takes the moving average for goodput and says of both that the *moving averages* are compared; for responsiveness its
//! algorithm compares the values of intervals, each of which is of the probes of the last MAD intervals. So it is here: the caller gives
//! that value.

use std::collections::VecDeque;

/// Moving Average Distance: intervals of a moving average.
pub const MAD: usize = 4;
/// Standard Deviation Tolerance.
pub const SDT: f64 = 0.05;

/// How far a figure may be trusted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Confidence {
    /// There were fewer than [`MAD`] intervals.
    Low,
    /// It did not settle.
    Medium,
    /// It settled.
    High,
}

impl Confidence {
    /// As a record says it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// A figure that settles, or does not.
#[derive(Clone, Debug, Default)]
pub struct Settling {
    values: VecDeque<f64>,
    intervals: usize,
    has_settled: bool,
}

impl Settling {
    /// The figure at the end of an interval. Says whether it has settled.
    pub fn push(&mut self, value: f64) -> bool {
        self.intervals += 1;
        self.values.push_back(value);
        if self.values.len() > MAD {
            self.values.pop_front();
        }
        // A path that carries nothing is steady, and has not settled at anything.
        let is_steady = value > 0.0 && self.deviation() <= SDT * value;
        self.has_settled |= self.values.len() == MAD && is_steady;
        self.has_settled
    }

    /// Whether it has settled.
    pub const fn has_settled(&self) -> bool {
        self.has_settled
    }

    /// How far the latest may be trusted.
    pub const fn confidence(&self) -> Confidence {
        match (self.has_settled, self.intervals < MAD) {
            (true, _) => Confidence::High,
            (false, true) => Confidence::Low,
            (false, false) => Confidence::Medium,
        }
    }

    fn deviation(&self) -> f64 {
        let n = self.values.len() as f64;
        let mean = self.values.iter().sum::<f64>() / n;
        let squares = self.values.iter().map(|value| (value - mean).powi(2));
        (squares.sum::<f64>() / n).sqrt()
    }
}

/// The mean of the last [`MAD`] values, or of as many as there are.
#[derive(Clone, Debug, Default)]
pub struct MovingAverage(VecDeque<f64>);

impl MovingAverage {
    /// The average with one more value.
    pub fn push(&mut self, value: f64) -> f64 {
        self.0.push_back(value);
        if self.0.len() > MAD {
            self.0.pop_front();
        }
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_within_a_twentieth_for_four_intervals_has_settled() {
        let mut settling = Settling::default();
        let told: Vec<_> = [50.0, 90.0, 100.0, 101.0, 100.0, 99.0]
            .into_iter()
            .map(|value| (settling.push(value), settling.confidence()))
            .collect();
        assert_eq!(told[2], (false, Confidence::Low));
        // 50 is still among the last four.
        assert_eq!(told[3], (false, Confidence::Medium));
        assert_eq!(told[4], (true, Confidence::High));
        assert!(settling.push(1.0), "it has settled once");
    }

    #[test]
    fn what_keeps_changing_never_settles() {
        let mut settling = Settling::default();
        assert!(!(0..50).any(|n| settling.push(if n % 2 == 0 { 10.0 } else { 12.0 })));
        assert_eq!(settling.confidence(), Confidence::Medium);
        assert!(!Settling::default().push(f64::NAN));
        let mut stalled = Settling::default();
        assert!(![0.0; 8].map(|value| stalled.push(value)).contains(&true));
    }

    #[test]
    fn a_moving_average_is_of_the_last_four() {
        let mut average = MovingAverage::default();
        let of: Vec<f64> = [4.0, 8.0, 0.0, 0.0, 4.0]
            .map(|value| average.push(value))
            .into();
        assert_eq!(of, [4.0, 6.0, 4.0, 3.0, 3.0]);
    }
}
