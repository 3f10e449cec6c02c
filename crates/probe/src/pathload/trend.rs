//! Whether the one-way delays of a stream rise.
//!
//! Cross traffic comes in packets. On a link with few of them delays are a saw: one packet of it adds at once what takes long to drain, and most
//! neighbours fall even where the queue grows. So not neighbours are compared, but every probe with every later one
//! (H. B. Mann, "Nonparametric tests against trend", Econometrica 13(3), 1945; Kendall's tau): the share of pairs that are in
//! order less that of pairs that are not. It is 1 when delays only rise, and 0 where they do not; a probe that was held up counts as one.
//!
//! Like every measure by ranks it knows no unit: it compares the rise with whatever else the delays do. A rise over the whole stream as
//! high as the delays scatter evenly makes it 1/2, and one of half that height about 0.3.

use crate::train::{Arrival, Passage};

/// From the first on delays rise, up to the second they do not: the rise is as high as the scatter, or half of that.
const TAU: [f64; 2] = [0.5, 0.3];
/// The fewest probes by which anything can be told.
const LEAST_PROBES: usize = 5;
/// Two clocks may drift apart by this much, whatever queues do: twice 200 ppm, and some adjustment.
const DRIFT: f64 = 500e-6;

/// What a stream says.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Trend {
    /// Its rate was above what was available.
    Rising,
    /// It was not.
    Level,
    /// Nothing.
    Unclear,
}

impl Trend {
    /// Of the delays of a stream, some of which may be lost.
    pub fn of(passage: &Passage) -> Self {
        Self::of_arrivals(&passage.arrivals)
    }

    /// Of probes that follow each other.
    pub(crate) fn of_arrivals(arrivals: &[Arrival]) -> Self {
        let [rising, level] = TAU;
        match tau(arrivals) {
            Some(tau) if tau >= rising => Self::Rising,
            Some(tau) if tau <= level => Self::Level,
            _ => Self::Unclear,
        }
    }
}

/// Kendall's tau of delays in the order of their departure; none of too few. A pair whose delays differ by no more than clocks drift
/// apart in the time between them is a tie.
fn tau(arrivals: &[Arrival]) -> Option<f64> {
    if arrivals.len() < LEAST_PROBES {
        return None;
    }
    let (mut in_order, mut pairs) = (0.0, 0.0);
    for (place, early) in arrivals.iter().enumerate() {
        for late in arrivals.iter().skip(place + 1) {
            let apart = late.sent_ns.saturating_sub(early.sent_ns) as f64;
            // A difference of two clocks' differences: their offset is gone before it could cost precision.
            let rise = late.delay_ns().saturating_sub(early.delay_ns()) as f64;
            pairs += 1.0;
            if rise.abs() > DRIFT * apart {
                in_order += rise.signum();
            }
        }
    }
    Some(in_order / pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn passage(delays_us: impl IntoIterator<Item = i64>) -> Passage {
        let arrivals = (0..).zip(delays_us).map(|(number, delay_us)| {
            let sent_ns = 1_000_000_000 + u64::from(number) * 100_000;
            Arrival {
                number,
                sent_ns,
                arrived_ns: sent_ns.saturating_add_signed(delay_us * 1_000),
                back: None,
            }
        });
        let arrivals: Vec<_> = arrivals.collect();
        Passage {
            sent: u32::try_from(arrivals.len()).unwrap(),
            arrivals,
            ..Passage::default()
        }
    }

    /// Holds manager/pathload-trend.
    #[test]
    fn a_queue_that_builds_up_is_seen_and_an_outlier_is_not() {
        let mut rising = passage((0..100).map(|i| 20_000 + i * 5));
        assert_eq!(Trend::of(&rising), Trend::Rising);
        // Ten probes of a hundred are held up, one in each ten.
        for held in rising.arrivals.iter_mut().step_by(10) {
            held.arrived_ns += 3_000_000;
        }
        assert_eq!(Trend::of(&rising), Trend::Rising);
        assert_eq!(Trend::of(&passage((0..100).map(|i| 500 - i))), Trend::Level);
        assert_eq!(Trend::of(&passage(vec![700; 100])), Trend::Level);
    }

    /// Holds manager/pathload-trend.
    #[test]
    fn a_saw_that_climbs_is_a_rise_though_most_neighbours_fall() {
        // Every 25th probe finds one more packet of 1,200 us before it; in between the queue drains by 1,200 us, or by half of that.
        let saw = |drained: i64| {
            (0..100).map(move |i| i / 25 * (1_200 - drained) - i % 25 * drained / 25)
        };
        assert_eq!(Trend::of(&passage(saw(600))), Trend::Rising);
        assert_eq!(Trend::of(&passage(saw(1_200))), Trend::Level);
    }

    #[test]
    fn clocks_that_drift_apart_are_no_queue() {
        // A probe each 100 us: 400 ppm are 40 ns from one to the next, 2,500 ppm a queue.
        let drifting = |ppm: u64| {
            let mut stream = passage(vec![700; 100]);
            for (place, arrival) in (0..).zip(&mut stream.arrivals) {
                arrival.arrived_ns += place * ppm / 10;
            }
            Trend::of(&stream)
        };
        assert_eq!(drifting(400), Trend::Level);
        assert_eq!(drifting(2_500), Trend::Rising);
    }

    #[test]
    fn a_queue_that_comes_and_goes_is_no_trend() {
        // Up in two groups, down in two, and so on: half of the pairs rise, and nothing is left at the end.
        let wave = [0, 40, 80, 40].into_iter().flat_map(|delay| [delay; 10]);
        assert_eq!(Trend::of(&passage(wave.cycle().take(100))), Trend::Level);
    }

    #[test]
    fn noise_of_the_clocks_is_no_trend() {
        let mut chance = stats::random::SplitMix64::new(7);
        let mut streams = |rise_us: f64| {
            let mut stream = || {
                let mut delay = |i: i64| rise_us * i as f64 / 100.0 + 40.0 * chance.unit();
                #[expect(clippy::cast_possible_truncation, reason = "some microseconds")]
                let delays: Vec<_> = (0..100).map(|i| delay(i) as i64).collect();
                Trend::of(&passage(delays))
            };
            let trends: Vec<_> = (0..1_000).map(|_| stream()).collect();
            let count = |wanted| trends.iter().filter(|trend| **trend == wanted).count();
            (count(Trend::Level), count(Trend::Rising))
        };
        // 40 us of noise on delays that do not change, and that rise by five times as much.
        let (level, rising) = streams(0.0);
        assert!(level > 900 && rising < 10, "{level} {rising}");
        let (level, rising) = streams(200.0);
        assert!(level == 0 && rising > 990, "{level} {rising}");
    }

    #[test]
    fn a_rise_that_is_taken_back_says_nothing() {
        let hill = (0..100).map(|i| if i < 85 { i } else { 0 });
        assert_eq!(Trend::of(&passage(hill)), Trend::Unclear);
        assert_eq!(Trend::of(&passage([1, 2, 3])), Trend::Unclear, "too few");
        assert_eq!(Trend::of(&Passage::default()), Trend::Unclear);
    }

    proptest! {
        #[test]
        fn an_offset_of_the_clocks_changes_nothing(
            delays in prop::collection::vec(0_i64..1_000_000, 0..120),
            offset in -900_000_i64..1_000_000_000,
        ) {
            let moved = delays.iter().map(|delay| delay + offset).collect::<Vec<_>>();
            prop_assert_eq!(Trend::of(&passage(delays)), Trend::of(&passage(moved)));
        }
    }
}
