use super::*;
use crate::random::SplitMix64;
use proptest::prelude::*;

/// 600 bins of 100 ms.
const BINS: usize = 600;

/// Standard normal values, as sums of twelve uniform ones.
fn normal(seed: u64) -> impl FnMut() -> f64 {
    let mut random = SplitMix64::new(seed);
    move || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

/// `level` of each bin with relative noise of standard deviation `cv`.
fn noisy(cv: f64, seed: u64, level: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut normal = normal(seed);
    (0..BINS)
        .map(|i| (level(i) * (1.0 + cv * normal())).max(0.0))
        .collect()
}

/// A tooth that rises from `least` to 1 in `period` bins.
fn tooth(i: usize, period: usize, least: f64) -> f64 {
    least + (1.0 - least) * (i % period) as f64 / period as f64
}

/// 10 s of 50 Mbit/s, then 20 Mbit/s.
fn boost(i: usize) -> f64 {
    if i < 100 { 50.0 } else { 20.0 }
}

/// Doubles every 400 ms until it is 1 after two seconds.
fn slow_start(i: usize) -> f64 {
    if i < 20 {
        2_f64.powf((i as f64 - 20.0) / 4.0)
    } else {
        1.0
    }
}

#[track_caller]
fn assert_step(series: &[f64], at: usize, tolerance: usize) -> Step {
    let step = step_down(series, Least::default()).unwrap();
    assert!(step.at.abs_diff(at) <= tolerance, "{step:?} is not at {at}");
    step
}

#[test]
fn the_end_of_a_boost_is_found_to_the_bin() {
    let step = assert_step(&noisy(0.0, 0, boost), 100, 0);
    assert_eq!(
        (step.before, step.after, step.separation),
        (50.0, 20.0, 1.0)
    );
    assert!((step.drop() - 0.6).abs() < 1e-12);
    let odd = noisy(0.0, 0, |i| if i < 103 { 50.0 } else { 20.0 });
    assert_step(&odd, 103, 0);
}

#[test]
fn noise_ramp_and_sawtooth_do_not_hide_a_boost() {
    for seed in 0..20 {
        assert_step(&noisy(0.2, seed, boost), 100, 10);
        assert_step(&noisy(0.2, seed, |i| boost(i) * tooth(i, 20, 0.5)), 100, 20);
        assert_step(&noisy(0.1, seed, |i| boost(i) * tooth(i, 80, 0.7)), 100, 20);
        assert_step(&noisy(0.1, seed, |i| boost(i) * slow_start(i)), 100, 3);
        assert_step(&noisy(0.1, seed, |i| boost(i + 50) * slow_start(i)), 50, 3);
    }
}

#[test]
fn of_two_steps_the_last_is_told() {
    for seed in 0..20 {
        let short = noisy(0.1, seed, |i| [100.0, 50.0, 20.0, 20.0][(i / 50).min(2)]);
        let step = assert_step(&short, 100, 3);
        assert!(
            (step.before - 50.0).abs() < 5.0,
            "the level just before: {step:?}"
        );
        assert_step(&noisy(0.1, seed, |i| [50.0, 35.0, 20.0][i / 200]), 400, 12);
    }
}

#[test]
fn an_outage_neither_makes_nor_hides_a_step() {
    for start in (0..560).step_by(20) {
        let cut = |i: usize| f64::from(!(start..start + 50).contains(&i));
        let flat = noisy(0.1, start as u64, |i| 20.0 * cut(i));
        assert_eq!(
            step_down(&flat, Least::default()),
            None,
            "outage at {start}"
        );
        if !(60..=120).contains(&start) {
            assert_step(&noisy(0.1, start as u64, |i| boost(i) * cut(i)), 100, 3);
        }
    }
}

/// The level of a bin.
type Level = fn(usize) -> f64;

#[test]
fn what_tcp_does_by_itself_is_no_boost() {
    let tame: [(&str, Level); 9] = [
        ("constant", |_| 20.0),
        ("slow start", |i| 20.0 * slow_start(i)),
        ("Reno, 2 s", |i| 20.0 * tooth(i, 20, 0.5)),
        ("Reno, 20 s, cut short", |i| 20.0 * tooth(i + 50, 200, 0.5)),
        ("Cubic, 15 s", |i| 20.0 * tooth(i + 70, 150, 0.7)),
        ("dips of 1 s", |i| if i % 100 < 10 { 6.0 } else { 20.0 }),
        ("slow drift", |i| 50.0 - 30.0 * i as f64 / 600.0),
        ("less in the middle", |i| {
            if (200..400).contains(&i) { 10.0 } else { 20.0 }
        }),
        ("a step up", |i| if i < 200 { 10.0 } else { 20.0 }),
    ];
    for (name, level) in tame {
        for seed in 0..20 {
            let series = noisy(0.1, seed, level);
            assert_eq!(
                step_down(&series, Least::default()),
                None,
                "{name} with seed {seed}"
            );
        }
    }
}

#[test]
fn a_step_that_is_too_small_or_too_short_does_not_count() {
    let small = noisy(0.0, 0, |i| if i < 100 { 24.0 } else { 20.0 });
    assert_eq!(step_down(&small, Least::default()), None);
    let least = Least {
        drop: 0.1,
        ..Least::default()
    };
    assert_eq!(step_down(&small, least).unwrap().at, 100);
    let short = noisy(0.0, 0, |i| if i < 560 { 50.0 } else { 20.0 });
    assert_eq!(step_down(&short, Least::default()), None);
}

/// `ruptures.Binseg(model="l1", min_size=4, jump=1).predict(n_bkps=1)` of ruptures 1.1.10 finds 9, 14 and 20, and so
/// does `model="l2"`. The values are two levels times `numpy.random.default_rng(7).normal(1, 0.1)`, rounded.
#[test]
fn the_best_split_is_that_of_ruptures() {
    let series: [(usize, &[f64]); 3] = [
        (
            9,
            &[
                50.0, 51.5, 48.6, 45.5, 47.7, 45.0, 50.3, 56.7, 47.5, 18.8, 21.0, 20.7, 20.2, 18.1,
                19.9, 21.4, 17.3, 19.1, 16.2, 17.4, 16.3, 19.5, 17.5, 20.5, 20.3, 19.6, 15.0, 18.9,
            ],
        ),
        (
            14,
            &[
                25.4, 28.6, 27.1, 27.6, 33.2, 27.6, 29.9, 32.7, 28.2, 29.7, 30.3, 30.2, 26.3, 30.2,
                25.0, 18.6, 23.9, 22.3, 20.6, 26.4, 23.7, 19.4, 22.2, 23.3, 21.6, 23.5, 21.9, 23.5,
            ],
        ),
        (
            20,
            &[
                40.8, 38.1, 40.5, 35.3, 37.7, 39.2, 43.6, 44.6, 34.7, 36.8, 42.6, 32.0, 38.1, 39.6,
                45.0, 42.8, 38.7, 38.5, 39.0, 46.1, 34.5, 34.9, 37.3, 35.6, 35.3, 32.0, 36.0, 34.4,
            ],
        ),
    ];
    for (at, values) in series {
        assert_eq!(best_split(values, (4, 4)), Some(at));
    }
}

proptest! {
    #[test]
    fn any_series_is_answered(
        series in proptest::collection::vec(prop_oneof![-1e9_f64..1e9, proptest::num::f64::ANY], 0..400),
        before in 0_usize..50, after in 0_usize..50,
    ) {
        let least = Least { before, after, ..Least::default() };
        if let Some(step) = step_down(&series, least) {
            prop_assert!(step.at < series.len() && step.drop() >= least.drop);
        }
    }

    #[test]
    fn a_step_is_the_same_in_every_unit(
        at in 40_usize..500, low in 6.0_f64..70.0, scale in 1e-3_f64..1e9,
    ) {
        let series: Vec<f64> = (0..BINS).map(|i| scale * if i < at { 100.0 } else { low }).collect();
        let step = step_down(&series, Least::default()).unwrap();
        prop_assert_eq!(step.at, at);
        prop_assert!((step.after / scale - low).abs() < 1e-6);
    }
}
