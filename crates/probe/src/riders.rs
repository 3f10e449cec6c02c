//! Packets of applications that travel inside probes, and what is to be subtracted for them.
//!
//! What rides does not compete with the train that carries it. So a train finds what others leave, and that is more than is left beside
//! the applications as well. How much more has three answers ([`Competing`]).
//!
//! Papageorgiou 2008 (T), section 3.2.3.1, subtracts the rate of the riders that came while a train lasted, of the last train or on average
//! over several. It is a small sample, for trains take a tenth of the time, and it misses what came toward the end of a train and found no
//! room in it. The third answer takes no sample: whoever carries the applications' packets has counted what they
//! [offered](Offered) from the end of one train to the end of a later one, pauses included. Less what left beside the trains
//! and did compete, that is what these were *spared*. Both are counted as the wire has them: a packet as it leaves when it does not ride,
//! with all its headers, for that is how it competes when there is no train. What its carrying takes is no part of it. Bursts leave beside few trains and much then, and estimators that go by what
//! most trains say do not notice, so it is what left beside the train in the middle that counts.
//!
//! What is offered varies from train to train, so its mean over a few of them is uncertain, and what is found less that mean is as
//! uncertain besides: bounds are widened by two standard errors of the mean ([`Competing::beside`]).

use std::time::Duration;
use units::Rate;

/// What applications have sent to where a train went, up to its end. Two of these make a rate.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Offered {
    /// Octets that their packets take on the wire when they do not ride, since whenever.
    pub octets: u64,
    /// The train's end by a clock of the sender that only moves forward, in nanoseconds.
    pub at_ns: u64,
}

impl Offered {
    /// Whether it was counted on from `before`, and not anew.
    const fn follows(self, before: Self) -> bool {
        self.octets >= before.octets && self.at_ns >= before.at_ns
    }
}

/// Packets of applications that were carried inside probes instead of beside them (T, Table 3.1).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Riders {
    /// How many, and their octets.
    pub packets: u64,
    /// See `packets`.
    pub octets: u64,
    /// Octets of those that would have left while the train did, and so would have competed with it.
    pub competing_octets: u64,
    /// Octets on the wire of applications' packets that left while the train did, but not in it: they did compete.
    pub beside_octets: u64,
    /// What applications have offered; none where nobody counts that.
    pub offered: Option<Offered>,
}

/// Rates of applications' packets in bit/s, one of which is to be subtracted from what trains find.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Competing {
    /// Of the riders that would have competed with the last train.
    pub last_bps: f64,
    /// The same, on average over the trains.
    pub mean_bps: f64,
    /// What the trains were spared: what applications offered in their time, less what left beside the one of them in the middle. The mean
    /// above where that is not known, and nothing where nothing rode.
    pub spared_bps: f64,
    /// Two standard errors of that; zero where there were too few trains to tell.
    pub error_bps: f64,
}

impl Competing {
    /// Of a range that trains have found, what is left beside the applications: less what the trains were spared, and as much wider as that is
    /// uncertain. Nobody sent less than nothing.
    pub fn beside(&self, [low_bps, high_bps]: [f64; 2]) -> [f64; 2] {
        let least = (self.spared_bps - self.error_bps).max(0.0);
        let most = self.spared_bps + self.error_bps;
        [low_bps - most, high_bps - least].map(|bps| bps.max(0.0))
    }
}

/// Sums over several trains.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Of each train, the rate of the riders that would have competed, and of what left beside it.
    trains: Vec<[f64; 2]>,
    ridden: u64,
    /// At the end of the train before these, or else of the first; and of the last.
    offered: Option<[Offered; 2]>,
    intervals: Intervals,
}

/// Sums over the times from the end of a train to that of the next: of products of octets offered and seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Intervals {
    count: f64,
    octets: f64,
    seconds: f64,
    squares: [f64; 3],
}

impl Intervals {
    fn enter(&mut self, from: Offered, to: Offered) {
        let octets = (to.octets - from.octets) as f64;
        let seconds = (to.at_ns - from.at_ns) as f64 / 1e9;
        self.count += 1.0;
        self.octets += octets;
        self.seconds += seconds;
        let products = [octets * octets, octets * seconds, seconds * seconds];
        for (sum, product) in self.squares.iter_mut().zip(products) {
            *sum += product;
        }
    }

    /// The standard error of their mean rate in bit/s, as that of a ratio of two sums (Cochran 1977, section 6.4).
    fn error_bps(&self) -> Option<f64> {
        if self.count < 2.0 || self.seconds <= 0.0 {
            return None;
        }
        let rate = self.octets / self.seconds;
        let [octets, both, seconds] = self.squares;
        let residual = octets - 2.0 * rate * both + rate * rate * seconds;
        let variance = residual.max(0.0) * self.count / (self.count - 1.0);
        Some(variance.sqrt() / self.seconds * 8.0)
    }
}

impl Tally {
    /// Takes what rode on a train that lasted so long.
    pub(crate) fn enter(&mut self, riders: &Riders, lasted: Duration) {
        let rates =
            [riders.competing_octets, riders.beside_octets].map(|octets| bps(octets, lasted));
        self.trains.push(rates);
        self.ridden = self.ridden.saturating_add(riders.octets);
        if let Some(now) = riders.offered {
            let known = self.offered.filter(|[_, last]| now.follows(*last));
            match known {
                Some([_, last]) => self.intervals.enter(last, now),
                None => self.intervals = Intervals::default(),
            }
            self.offered = Some([known.map_or(now, |[first, _]| first), now]);
        }
    }

    /// Nothing yet of the trains that come next.
    pub(crate) fn next(&self) -> Self {
        Self {
            offered: self.offered.map(|[_, last]| [last; 2]),
            ..Self::default()
        }
    }

    pub(crate) fn competing(&self) -> Competing {
        let sum: f64 = self.trains.iter().map(|[competing, _]| competing).sum();
        let mean_bps = sum / self.trains.len().max(1) as f64;
        let spared = self.offered_bps();
        let spared = spared.map_or(mean_bps, |offered| (offered - self.beside_bps()).max(0.0));
        let error = self.intervals.error_bps().unwrap_or(0.0);
        let rode = self.ridden > 0;
        Competing {
            last_bps: self.trains.last().map_or(0.0, |[competing, _]| *competing),
            mean_bps,
            spared_bps: if rode { spared } else { 0.0 },
            error_bps: if rode { 2.0 * error } else { 0.0 },
        }
    }

    /// What left beside the train in the middle.
    fn beside_bps(&self) -> f64 {
        let mut rates: Vec<f64> = self.trains.iter().map(|[_, beside]| *beside).collect();
        rates.sort_by(f64::total_cmp);
        rates
            .get(rates.len().saturating_sub(1) / 2)
            .copied()
            .unwrap_or(0.0)
    }

    fn offered_bps(&self) -> Option<f64> {
        let [first, last] = self.offered?;
        let time = last
            .at_ns
            .checked_sub(first.at_ns)
            .filter(|time| *time > 0)?;
        let octets = last.octets.checked_sub(first.octets)?;
        Some(bps(octets, Duration::from_nanos(time)))
    }
}

fn bps(octets: u64, time: Duration) -> f64 {
    Rate::from_transfer(octets, time).map_or(0.0, |rate| rate.as_bps() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRAIN: Duration = Duration::from_millis(10);

    /// An application of 8 Mbit/s: 1,000 octets in a millisecond. A train of 10 ms at the end of each tenth of a second carries `ridden` octets of
    /// it, all but `missed` of which would have competed.
    fn tally(trains: u64, ridden: u64, beside: u64, missed: u64) -> Tally {
        let mut tally = Tally::default();
        for train in 1..=trains {
            let riders = Riders {
                packets: 1,
                octets: ridden,
                competing_octets: ridden - missed,
                beside_octets: beside,
                offered: Some(Offered {
                    octets: train * 100_000,
                    at_ns: train * 100_000_000,
                }),
            };
            tally.enter(&riders, TRAIN);
        }
        tally
    }

    /// Holds manager/rider-correction.
    #[test]
    fn trains_are_spared_what_is_offered_and_did_not_leave_beside_them() {
        let found = tally(3, 10_000, 0, 4_000).competing();
        for competing in [found.last_bps, found.mean_bps] {
            assert!((competing - 4.8e6).abs() < 1.0);
        }
        assert!((found.spared_bps - 8e6).abs() < 1.0);
        let found = tally(3, 5_000, 5_000, 0).competing();
        assert!((found.spared_bps - 4e6).abs() < 1.0);
        assert_eq!(tally(3, 0, 10_000, 0).competing(), Competing::default());
    }

    #[test]
    fn bounds_are_wider_by_two_standard_errors_of_what_was_offered() {
        let even = tally(10, 10_000, 0, 0).competing();
        assert!(even.error_bps < 1.0, "the same from train to train");
        // From train to train 50 and 150 kB in turns: 8 Mbit/s, give or take 4, over ten intervals.
        let mut tally = Tally::default();
        for train in 0..=10 {
            let riders = Riders {
                octets: 1,
                offered: Some(Offered {
                    octets: train * 100_000 - 50_000 * (train % 2),
                    at_ns: train * 100_000_000,
                }),
                ..Riders::default()
            };
            tally.enter(&riders, TRAIN);
        }
        let competing = tally.competing();
        assert!((competing.spared_bps - 8e6).abs() < 1.0);
        let error = 2.0 * 4e6 / 9_f64.sqrt();
        assert!((competing.error_bps - error).abs() < 1.0);
        let [low, high] = competing.beside([20e6, f64::INFINITY]);
        assert!((low - (12e6 - error)).abs() < 1.0 && high.is_infinite());
        assert_eq!(competing.beside([5e6; 2])[0].to_bits(), 0_f64.to_bits());
        let unsure = Competing {
            spared_bps: 1e6,
            error_bps: 2e6,
            ..Competing::default()
        };
        assert!(
            (unsure.beside([5e6; 2])[1] - 5e6).abs() < 1.0,
            "not more than was found"
        );
    }

    #[test]
    fn what_left_beside_one_train_of_several_has_no_say() {
        let mut tally = tally(3, 10_000, 0, 0);
        let burst = Riders {
            beside_octets: 50_000,
            offered: Some(Offered {
                octets: 400_000,
                at_ns: 400_000_000,
            }),
            ..Riders::default()
        };
        tally.enter(&burst, TRAIN);
        assert!((tally.competing().spared_bps - 8e6).abs() < 1.0);
    }

    #[test]
    fn the_time_before_the_first_train_counts_where_there_was_one_before() {
        let mut next = tally(3, 10_000, 0, 0).next();
        let riders = Riders {
            octets: 1,
            offered: Some(Offered {
                octets: 350_000,
                at_ns: 400_000_000,
            }),
            ..Riders::default()
        };
        next.enter(&riders, TRAIN);
        assert!((next.competing().spared_bps - 4e6).abs() < 1.0);
    }

    #[test]
    fn a_count_that_begins_anew_says_nothing_of_the_time_before() {
        let mut tally = tally(3, 10_000, 0, 4_000);
        let riders = Riders {
            octets: 10_000,
            competing_octets: 6_000,
            offered: Some(Offered {
                octets: 5,
                at_ns: 400_000_000,
            }),
            ..Riders::default()
        };
        tally.enter(&riders, TRAIN);
        let found = tally.competing();
        assert!((found.spared_bps - found.mean_bps).abs() < 1.0);
    }

    #[test]
    fn one_train_alone_says_what_came_while_it_lasted() {
        let found = tally(1, 10_000, 0, 4_000).competing();
        assert!((found.spared_bps - 4.8e6).abs() < 1.0);
    }
}
