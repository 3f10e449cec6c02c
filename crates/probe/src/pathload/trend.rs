//! Whether the one-way delays of a stream rise.

use crate::train::{Arrival, Passage};

/// Above the first of each pair a test says that delays rise, below the second that they do not (pathload 1.3; the paper calls
/// them thresholds of PCT and PDT).
const PCT: [f64; 2] = [0.66, 0.54];
const PDT: [f64; 2] = [0.55, 0.45];
/// The standard error of a median of n, times the root of n, in interquartile ranges of what it is the median of (normal).
const MEDIAN_ERROR: f64 = 1.253 / 1.349;
/// The fewest groups by which anything can be told.
const LEAST_GROUPS: usize = 5;

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

/// What a test says of a figure.
fn judge(figure: f64, [rising, level]: [f64; 2]) -> Trend {
    if figure > rising {
        Trend::Rising
    } else if figure < level {
        Trend::Level
    } else {
        Trend::Unclear
    }
}

impl Trend {
    /// Of the delays of a stream, some of which may be lost.
    pub fn of(passage: &Passage) -> Self {
        Self::of_arrivals(&passage.arrivals)
    }

    /// Of probes that follow each other.
    pub(crate) fn of_arrivals(arrivals: &[Arrival]) -> Self {
        let delays = arrivals.iter().map(Arrival::delay_ns);
        let delays: Vec<i64> = delays.collect();
        let (medians, noise) = medians(&delays);
        match (pct(&medians, noise), pdt(&medians)) {
            (Some(pct), Some(pdt)) => Self::both(judge(pct, PCT), judge(pdt, PDT)),
            _ => Self::Unclear,
        }
    }

    /// What two tests say together: either alone decides, unless they contradict each other.
    const fn both(one: Self, other: Self) -> Self {
        match (one, other) {
            (Self::Rising, Self::Rising | Self::Unclear) | (Self::Unclear, Self::Rising) => {
                Self::Rising
            }
            (Self::Level, Self::Level | Self::Unclear) | (Self::Unclear, Self::Level) => {
                Self::Level
            }
            _ => Self::Unclear,
        }
    }
}

/// The median delay of each of about `sqrt(K)` groups of neighbours, of short streams smaller ones: single probes that were held up count for nothing. In
/// nanoseconds above the least, so that no offset of clocks costs precision. With them the noise of one of them: what the
/// delays within most groups scatter about it.
fn medians(delays: &[i64]) -> (Vec<f64>, f64) {
    let size = delays.len().isqrt().min(delays.len() / LEAST_GROUPS).max(1);
    let Some(least) = delays.iter().min() else {
        return (Vec::new(), 0.0);
    };
    let above = |delay: &i64| i128::from(*delay) - i128::from(*least);
    let (mut medians, mut spreads) = (Vec::new(), Vec::new());
    for group in delays.chunks_exact(size) {
        let mut group: Vec<f64> = group.iter().map(|delay| above(delay) as f64).collect();
        group.sort_unstable_by(f64::total_cmp);
        medians.extend(stats::quantile(&group, 0.5));
        let quartiles = stats::quantile(&group, 0.75).zip(stats::quantile(&group, 0.25));
        spreads.extend(quartiles.map(|(high, low)| high - low));
    }
    spreads.sort_unstable_by(f64::total_cmp);
    let spread = stats::quantile(&spreads, 0.5).unwrap_or(0.0);
    (medians, spread * MEDIAN_ERROR / (size as f64).sqrt())
}

/// The share of groups that are later than the one before by more than noise: near 1 when delays rise throughout (*pairwise
/// comparison test*). The paper counts every rise, so that half of the pairs do where nothing changes; its hosts told time in
/// microseconds, and most of these were ties.
fn pct(medians: &[f64], noise: f64) -> Option<f64> {
    let pairs = medians.windows(2);
    let rises = pairs.clone().filter(|pair| pair[1] - pair[0] > noise);
    let rises = rises.count();
    (medians.len() >= LEAST_GROUPS).then(|| rises as f64 / pairs.len() as f64)
}

/// How much of all that delays change is in one direction: 1 when they only rise, 0 when they end where they began
/// (*pairwise difference test*).
fn pdt(medians: &[f64]) -> Option<f64> {
    let changes: f64 = medians
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).abs())
        .sum();
    let net = medians.last()? - medians.first()?;
    if medians.len() < LEAST_GROUPS {
        return None;
    }
    Some(if changes > 0.0 { net / changes } else { 0.0 })
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

    #[test]
    fn a_queue_that_builds_up_is_seen_and_an_outlier_is_not() {
        let mut rising = passage((0..100).map(|i| 20_000 + i * 5));
        assert_eq!(Trend::of(&rising), Trend::Rising);
        // Ten probes of a hundred are held up, one in each group.
        for held in rising.arrivals.iter_mut().step_by(10) {
            held.arrived_ns += 3_000_000;
        }
        assert_eq!(Trend::of(&rising), Trend::Rising);
        assert_eq!(Trend::of(&passage((0..100).map(|i| 500 - i))), Trend::Level);
        assert_eq!(Trend::of(&passage(vec![700; 100])), Trend::Level);
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
    fn two_tests_that_contradict_each_other_say_nothing() {
        // Most pairs rise, and one large fall takes it all back.
        let saw = (0..100).map(|i| if i < 90 { i } else { 0 });
        assert_eq!(Trend::of(&passage(saw)), Trend::Unclear);
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
