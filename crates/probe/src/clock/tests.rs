use super::*;
use proptest::prelude::*;

const S: u64 = 1_000_000_000;

/// What the world is like in a test.
#[derive(Clone, Copy)]
struct World {
    offset_ns: i64,
    skew_ppm: f64,
    seconds: u64,
    /// Between two probes.
    interval_ns: u64,
    /// When there are queues, in seconds.
    load: (u64, u64),
    /// Least and most queue under load, up and down, milliseconds.
    queue_ms: [(f64, f64); 2],
    /// Of 100 probes, how many are lost.
    lost_pct: u64,
}

/// Five idle seconds on either side of sixty with queues of up to 200 ms, clocks two hours apart, 100 ppm.
const TYPICAL: World = World {
    offset_ns: 7_200_000_000_000,
    skew_ppm: 100.0,
    seconds: 70,
    interval_ns: 20_000_000,
    load: (5, 65),
    queue_ms: [(50.0, 200.0), (0.0, 100.0)],
    lost_pct: 2,
};
/// Delay of the empty path in each direction.
const PROPAGATION_NS: f64 = 10e6;
/// Mean of the exponential noise.
const NOISE_NS: f64 = 20e3;

/// Uniform numbers from 0 to 1 (a linear congruential generator with Knuth's MMIX constants).
fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }
}

impl World {
    fn probes(&self, seed: u64) -> Vec<RoundTrip> {
        let mut random = uniform(seed);
        let count = self.seconds * S / self.interval_ns;
        (0..count)
            .filter_map(|i| {
                let probe = self.probe(i * self.interval_ns, &mut random);
                (random() * 100.0 >= self.lost_pct as f64).then_some(probe)
            })
            .collect()
    }

    fn probe(&self, t_ns: u64, random: &mut impl FnMut() -> f64) -> RoundTrip {
        let loaded = (self.load.0 * S..self.load.1 * S).contains(&t_ns);
        let [up, down] = self.queue_ms.map(|(least, most)| {
            let queue = if loaded {
                1e6 * (least + (most - least) * random())
            } else {
                0.0
            };
            PROPAGATION_NS + queue - NOISE_NS * random().ln()
        });
        let ahead = self.skew_ppm * 1e-6 * t_ns as f64;
        RoundTrip {
            t_ns,
            up_ns: whole(up + ahead) + self.offset_ns,
            down_ns: whole(down - ahead) - self.offset_ns,
        }
    }

    #[track_caller]
    fn assert_found(&self, skew_error_ppm: f64, basis: Basis) {
        for seed in 0..20 {
            let line = ClockLine::fit(&self.probes(seed)).unwrap();
            let skew_error = line.skew_ppm - self.skew_ppm;
            assert!(
                skew_error.abs() < skew_error_ppm,
                "{skew_error} ppm with seed {seed}: {line:?}"
            );
            let offset_error = line.offset_ns - self.offset_ns as f64;
            assert!(
                offset_error.abs() < 2.0 * NOISE_NS,
                "{offset_error} ns: {line:?}"
            );
            assert_eq!(line.basis, basis, "seed {seed}");
            assert!((10e6..10.2e6).contains(&line.uncertainty_ns), "{line:?}");
        }
    }
}

#[test]
fn skew_and_offset_are_found_behind_a_loaded_middle() {
    TYPICAL.assert_found(0.2, Basis::Envelopes);
    World {
        skew_ppm: -100.0,
        offset_ns: -TYPICAL.offset_ns,
        ..TYPICAL
    }
    .assert_found(0.2, Basis::Envelopes);
    World {
        skew_ppm: 0.0,
        offset_ns: 0,
        ..TYPICAL
    }
    .assert_found(0.2, Basis::Envelopes);
    World {
        lost_pct: 60,
        ..TYPICAL
    }
    .assert_found(0.2, Basis::Envelopes);
}

#[test]
fn an_idle_path_and_a_permanent_queue_make_no_difference() {
    World {
        load: (0, 0),
        ..TYPICAL
    }
    .assert_found(0.2, Basis::Envelopes);
    World {
        queue_ms: [(0.0, 1.0); 2],
        load: (0, 70),
        ..TYPICAL
    }
    .assert_found(0.5, Basis::Envelopes);
}

/// The envelopes rise with the queue; the quiet probes are those of the idle seconds at the start.
#[test]
fn a_run_that_ends_under_load_is_told_by_its_quiet_probes() {
    World {
        load: (10, 70),
        ..TYPICAL
    }
    .assert_found(2.0, Basis::QuietProbes);
    World {
        load: (0, 60),
        ..TYPICAL
    }
    .assert_found(2.0, Basis::QuietProbes);
    World {
        load: (3, 70),
        ..TYPICAL
    }
    .assert_found(10.0, Basis::QuietProbes);
}

/// Holds rrul/stream-delay.
#[test]
fn corrected_delays_are_those_of_the_path() {
    let line = ClockLine::fit(&TYPICAL.probes(1)).unwrap();
    for probe in TYPICAL
        .probes(1)
        .iter()
        .filter(|p| p.t_ns < 5 * S || p.t_ns >= 65 * S)
    {
        for delay in [
            line.up(probe.t_ns, probe.up_ns),
            line.down(probe.t_ns, probe.down_ns),
        ] {
            assert!(
                (9_900_000..11_000_000).contains(&delay),
                "{delay} ns at {}",
                probe.t_ns
            );
        }
    }
}

#[test]
fn few_probes_give_the_offset_alone() {
    assert_eq!(ClockLine::fit(&[]), None);
    let short = World {
        seconds: 1,
        load: (0, 0),
        ..TYPICAL
    };
    for probes in [short.probes(1), short.probes(1)[..3].to_vec()] {
        let line = ClockLine::fit(&probes).unwrap();
        assert_eq!((line.basis, line.skew_ppm), (Basis::OffsetOnly, 0.0));
        // 100 ppm over a second are 100 us, and the least delays up and down are half of that apart.
        assert!(
            (line.offset_ns - TYPICAL.offset_ns as f64).abs() < 200e3,
            "{line:?}"
        );
    }
}

#[test]
fn a_skew_that_no_clock_has_is_not_claimed() {
    let line = ClockLine::fit(
        &World {
            skew_ppm: 5_000.0,
            ..TYPICAL
        }
        .probes(1),
    )
    .unwrap();
    assert_eq!((line.basis, line.skew_ppm), (Basis::OffsetOnly, 0.0));
}

/// `scipy.spatial.ConvexHull` has the corners (0, 3), (1, 1), (4, 0) and (6, 2) below; the mean time is 3.
#[test]
fn the_envelope_is_the_edge_of_the_hull_over_the_mean_time() {
    let point = |(t, up)| Point { t, up, down: 0.0 };
    let points = [
        (0.0, 3.0),
        (1.0, 1.0),
        (2.0, 4.0),
        (3.0, 1.0),
        (3.0, 0.5),
        (4.0, 0.0),
        (5.0, 3.0),
        (6.0, 2.0),
    ];
    let slope = envelope_slope(&points.map(point), |p| p.up).unwrap();
    assert!((slope - -1.0 / 3.0).abs() < 1e-12, "{slope}");
    assert_eq!(
        envelope_slope(&[(1.0, 2.0), (1.0, 1.0)].map(point), |p| p.up),
        None
    );
}

proptest! {
    #[test]
    fn any_probes_are_answered_with_finite_figures(
        probes in proptest::collection::vec((any::<u64>(), any::<i64>(), any::<i64>()), 1..60),
    ) {
        let probes: Vec<_> = probes.into_iter()
            .map(|(t_ns, up_ns, down_ns)| RoundTrip { t_ns, up_ns, down_ns }).collect();
        let line = ClockLine::fit(&probes).unwrap();
        prop_assert!(line.offset_ns.is_finite() && line.uncertainty_ns.is_finite());
        prop_assert!(line.skew_ppm.abs() <= MOST_SKEW_PPM * 1.000_001);
        let _ = (line.up(probes[0].t_ns, probes[0].up_ns), line.down(probes[0].t_ns, probes[0].down_ns));
    }

    #[test]
    fn no_line_below_all_points_is_closer(
        ups in proptest::collection::vec(0.0_f64..1e6, 2..80), tilt in -1.0_f64..1.0,
    ) {
        let points: Vec<Point> = ups.iter().enumerate()
            .map(|(i, &up)| Point { t: i as f64, up, down: 0.0 }).collect();
        let distance = |slope: f64| {
            let level = points.iter().map(|p| p.up - slope * p.t).fold(f64::INFINITY, f64::min);
            points.iter().map(|p| p.up - slope * p.t - level).sum::<f64>()
        };
        let best = envelope_slope(&points, |p| p.up).unwrap();
        prop_assert!(distance(best) <= distance(best + tilt * 1e3) + 1e-3);
    }
}
