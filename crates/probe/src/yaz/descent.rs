//! From a rate that is too high to one that is not.

use super::Options;
use super::round::Verdict;

/// How a descent ended. Rates are in bit/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    /// This was the first rate without congestion.
    Found(f64),
    /// There was none at the highest rate that can be sent.
    Highest(f64),
    /// There was still some at the lowest.
    Lowest(f64),
    /// Not even the slowest stream arrived.
    Nothing,
}

impl End {
    /// The estimate, unless there is none.
    pub(super) const fn value(self) -> Option<f64> {
        match self {
            Self::Found(rate) | Self::Highest(rate) | Self::Lowest(rate) => Some(rate),
            Self::Nothing => None,
        }
    }
}

/// The rates of a descent, in bit/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Descent {
    rate: f64,
    least: f64,
    most: f64,
    /// Whether there was congestion yet.
    congested: bool,
}

impl Descent {
    /// The first one, from the highest rate.
    pub(super) fn new(options: &Options) -> Self {
        Self {
            rate: options.most(),
            least: options.least(),
            most: options.most(),
            congested: false,
        }
    }

    pub(super) const fn rate(&self) -> f64 {
        self.rate
    }

    /// Takes what a round says; how the descent ended, if it did, and then the next one begins.
    pub(super) fn enter(&mut self, verdict: Verdict, options: &Options) -> Option<End> {
        match verdict {
            Verdict::Clear { .. } if !self.congested && self.rate < self.most => {
                self.rate = (self.rate * 2.0).min(self.most);
                None
            }
            Verdict::Clear { rate } => Some(self.again(rate)),
            Verdict::Congested { change } => {
                self.congested = true;
                let lowest = self.rate <= self.least;
                // Half of the difference between the gaps, and no less than could have been seen.
                let step = (change / 2.0).max(options.tolerance.clamp(1e-3, 1.0) / 2.0);
                let slower = (self.rate / (1.0 + step)).max(self.least);
                self.follow(lowest, End::Lowest(self.least), slower)
            }
            Verdict::Nothing => {
                let lowest = self.rate <= self.least;
                let slower = (self.rate / 2.0).max(self.least);
                self.congested = true;
                self.follow(lowest, End::Nothing, slower)
            }
        }
    }

    /// Goes on with a slower rate unless this was the lowest.
    fn follow(&mut self, lowest: bool, end: End, slower: f64) -> Option<End> {
        if !lowest {
            self.rate = slower;
            return None;
        }
        self.start(self.least);
        Some(end)
    }

    /// `rate`, that of the sender, was clear.
    fn again(&mut self, rate: f64) -> End {
        let end = if self.congested {
            End::Found(rate)
        } else {
            End::Highest(rate)
        };
        self.start(rate);
        end
    }

    /// The next descent begins at twice the rate that this one found.
    fn start(&mut self, found: f64) {
        self.rate = (found * 2.0).clamp(self.least, self.most);
        self.congested = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a fluid: each gap changes by the share by which a stream overloads the link.
    fn round(rate: f64, available: f64, capacity: f64) -> Verdict {
        let change = ((rate - available) / capacity).max(0.0);
        if change > 0.01 {
            Verdict::Congested { change }
        } else {
            Verdict::Clear { rate }
        }
    }

    #[test]
    fn a_descent_ends_within_the_tolerance_of_the_capacity() {
        let options = Options::default();
        for available in [0.5e6, 5e6, 50e6] {
            let mut descent = Descent::new(&options);
            let mut rounds = 0;
            let end = loop {
                rounds += 1;
                let verdict = round(descent.rate(), available, 100e6);
                if let Some(end) = descent.enter(verdict, &options) {
                    break end;
                }
            };
            let End::Found(rate) = end else {
                panic!("{end:?}")
            };
            assert!(
                (available..=available + 1e6).contains(&rate),
                "{rate} {rounds}"
            );
            assert!((descent.rate() - 2.0 * rate).abs() < 1.0);
        }
    }

    #[test]
    fn a_descent_that_begins_too_low_goes_up_first() {
        let options = Options::default();
        let mut descent = Descent::new(&options);
        descent.start(1e6);
        while descent
            .enter(round(descent.rate(), 80e6, 100e6), &options)
            .is_none()
        {}
        assert!((160e6..164e6).contains(&descent.rate()));
    }

    #[test]
    fn nothing_that_arrives_and_nothing_that_is_free_are_told_apart() {
        let options = Options::default();
        let mut descent = Descent::new(&options);
        let end = (0..100).find_map(|_| descent.enter(Verdict::Nothing, &options));
        assert_eq!(end, Some(End::Nothing));
        let verdict = Verdict::Congested { change: 0.5 };
        let end = (0..1_000).find_map(|_| descent.enter(verdict, &options));
        assert_eq!(end, Some(End::Lowest(160e3)), "200 octets in 10 ms");
    }
}
