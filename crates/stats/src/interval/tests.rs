//! Figures of scipy 1.17: `t.interval`, `ttest_ind(.., equal_var=False).confidence_interval`, `binom.cdf`, and
//! `bootstrap(.., method="percentile", n_resamples=200000)`.

use super::*;
use proptest::prelude::*;

const A: [f64; 5] = [12.1, 11.8, 12.6, 12.0, 11.9];
const B: [f64; 6] = [13.0, 12.7, 13.9, 12.4, 13.3, 12.9];

/// `numpy.random.default_rng(3).lognormal(3, 0.5, 25).round(1)`.
const X: [f64; 25] = [
    55.7, 5.6, 24.8, 15.1, 16.0, 18.0, 7.3, 17.9, 13.0, 105.8, 22.5, 16.8, 17.5, 14.4, 11.9, 16.5,
    25.6, 17.8, 32.4, 18.2, 20.3, 43.5, 26.4, 15.6, 18.3,
];
/// `numpy.random.default_rng(4).lognormal(3.3, 0.5, 30).round(1)`.
const Y: [f64; 30] = [
    19.6, 24.8, 62.3, 37.7, 11.9, 27.0, 19.9, 29.2, 12.1, 30.6, 30.5, 59.6, 31.8, 35.0, 12.9, 83.6,
    10.4, 47.0, 23.0, 17.5, 19.5, 19.4, 32.8, 25.7, 56.9, 10.9, 27.1, 17.4, 40.0, 9.4,
];

#[track_caller]
fn assert_interval(interval: Option<Interval>, expected: [f64; 3], tolerance: f64) {
    let found = interval.unwrap();
    for (figure, expected) in [found.estimate, found.low, found.high]
        .into_iter()
        .zip(expected)
    {
        assert!(
            (figure - expected).abs() <= tolerance,
            "{found:?} is not {expected}"
        );
    }
}

#[test]
fn a_mean_has_the_interval_of_scipy() {
    let sd = Moments::of(&A).unwrap().sd;
    assert!((sd - 0.311_448_230_047_948_36).abs() < 1e-12);
    let expected = [12.08, 11.693_285_945_445_18, 12.466_714_054_554_82];
    assert_interval(mean(&A, 0.95), expected, 1e-9);
    let expected = [
        13.033_333_333_333_333,
        12.487_357_780_835_934,
        13.579_308_885_830_732,
    ];
    assert_interval(mean(&B, 0.95), expected, 1e-9);
}

/// Figures of the same formula in numpy, with the quantile of scipy.
#[test]
fn of_values_that_resemble_their_neighbours_only_the_independent_ones_count() {
    let slow = [17.2, 17.6, 18.1, 18.3, 17.9, 17.1, 16.8, 17.0, 17.5, 18.0];
    let (interval, independent) = mean_in_time(&slow, 0.95).unwrap();
    let expected = [17.55, 16.276_253_836_970_98, 18.823_746_163_029_02];
    assert_interval(Some(interval), expected, 1e-9);
    assert!((independent - 3.006_134_969_325_151).abs() < 1e-9);
    // Neighbours that differ are no better than independent ones.
    let (restless, all) = mean_in_time(&A, 0.95).unwrap();
    assert_eq!(Some(restless), mean(&A, 0.95));
    assert!((all - 5.0).abs() < 1e-12);
    let still = mean_in_time(&[3.0; 4], 0.95).unwrap().0;
    assert_eq!((still.low, still.high), (3.0, 3.0));
    // A rise from end to end is one value, if that.
    let rising: Vec<f64> = (0..20).map(f64::from).collect();
    assert_eq!(mean_in_time(&rising, 0.95), None);
    assert_eq!(mean_in_time(&[1.0, 2.0], 0.95), None);
}

#[test]
fn a_difference_of_means_has_the_interval_of_scipy() {
    let difference = difference_of_means(&A, &B, 0.95);
    let expected = [
        0.953_333_333_333_333,
        0.371_356_095_295_068_4,
        1.535_310_571_371_598,
    ];
    assert_interval(difference, expected, 1e-9);
    assert!(difference.unwrap().excludes(0.0));
    assert!(!difference_of_means(&A, &A, 0.95).unwrap().excludes(0.0));
}

/// binom.cdf(0, 6) = 0.0156 and binom.cdf(1, 6) = 0.109; binom.cdf(39, 100) = 0.0176 and binom.cdf(40, 100) = 0.0284.
#[test]
fn a_median_lies_between_the_right_order_statistics() {
    let ranks = |n: u32| (1..=n).map(f64::from).collect::<Vec<_>>();
    assert_eq!(median(&ranks(5), 0.95), None, "five runs are too few");
    assert_interval(median(&ranks(6), 0.95), [3.5, 1.0, 6.0], 0.0);
    assert_interval(median(&ranks(10), 0.95), [5.5, 2.0, 9.0], 0.0);
    assert_interval(median(&ranks(20), 0.95), [10.5, 6.0, 15.0], 0.0);
    assert_interval(median(&ranks(100), 0.95), [50.5, 40.0, 61.0], 0.0);
}

/// Two thousand resamples against two hundred thousand: the ends are order statistics and vary by about a step.
#[test]
fn a_difference_of_medians_has_the_interval_of_scipy() {
    assert_interval(
        difference_of_medians(&X, &Y, 0.95, 1),
        [8.45, 1.35, 13.85],
        0.5,
    );
    let again = difference_of_medians(&X, &Y, 0.95, 1);
    assert_eq!(
        again,
        difference_of_medians(&X, &Y, 0.95, 1),
        "the seed decides"
    );
}

#[test]
fn too_few_samples_have_no_interval() {
    assert_eq!(mean(&[], 0.95), None);
    assert_eq!(mean(&[1.0, f64::NAN], 0.95), None);
    assert_eq!(mean(&A, 1.0), None, "certainty has no bounds");
    assert_eq!(difference_of_means(&A, &[1.0], 0.95), None);
    assert_eq!(difference_of_medians(&[1.0], &B, 0.95, 0), None);
    assert_eq!(median(&[], 0.95), None);
}

#[test]
fn equal_samples_are_certain() {
    assert_interval(mean(&[2.0; 3], 0.95), [2.0, 2.0, 2.0], 0.0);
    assert_interval(
        difference_of_means(&[1.0; 3], &[2.0; 3], 0.95),
        [1.0; 3],
        0.0,
    );
}

/// Of 400 sets of ten from a known distribution, about 380 intervals cover the truth; 3 s.d. of that count are 13.
#[test]
fn ninety_five_of_a_hundred_intervals_cover_the_truth() {
    let mut random = SplitMix64::new(42);
    let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
    let (mut means, mut medians) = (0, 0);
    for _ in 0..400 {
        let (a, b): (Vec<f64>, Vec<f64>) =
            (0..10).map(|_| (normal(), 2.0 * normal() + 1.0)).unzip();
        means += i32::from(!difference_of_means(&a, &b, 0.95).unwrap().excludes(1.0));
        medians += i32::from(!median(&a, 0.95).unwrap().excludes(0.0));
    }
    assert!((367..=393).contains(&means), "{means}");
    assert!(medians >= 367, "at least 0.95 by construction: {medians}");
}

proptest! {
    #[test]
    fn every_interval_holds_its_estimate(
        a in proptest::collection::vec(-1e6_f64..1e6, 2..30),
        b in proptest::collection::vec(-1e6_f64..1e6, 2..30),
        level in 0.5_f64..0.999,
    ) {
        for interval in [mean(&a, level), difference_of_means(&a, &b, level), median(&a, level)].into_iter().flatten() {
            prop_assert!(interval.low <= interval.estimate && interval.estimate <= interval.high);
        }
        let wide = mean(&a, 0.999).unwrap();
        let narrow = mean(&a, level).unwrap();
        prop_assert!(wide.high - wide.low >= narrow.high - narrow.low - 1e-6);
    }

    #[test]
    fn nothing_that_is_not_finite_comes_out(samples in proptest::collection::vec(proptest::num::f64::ANY, 0..12)) {
        let intervals = [mean(&samples, 0.95), difference_of_means(&samples, &A, 0.95)];
        for interval in intervals.into_iter().flatten() {
            prop_assert!(interval.low.is_finite() && interval.high.is_finite());
        }
    }
}
