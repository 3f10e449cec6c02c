use super::*;
use proptest::prelude::*;

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance
}

/// A call without loss whose delay, echo path and loop fit together.
fn delayed(delay_ms: f64) -> Parameters {
    Parameters {
        delay_ms,
        echo_delay_ms: delay_ms,
        round_trip_ms: 2.0 * delay_ms,
        ..Parameters::default()
    }
}

fn rated(codec: Codec, loss_pct: f64, burst_ratio: f64) -> f64 {
    let lossy = Parameters {
        codec,
        loss_pct,
        burst_ratio,
        ..Parameters::default()
    };
    rate(&lossy).unwrap().r
}

/// G.107 clause 7.7: "R = 93.2"; Annex B makes 4.41 of it.
#[test]
fn default_values_give_the_published_rating() {
    let rating = rate(&Parameters::default()).unwrap();
    assert!(close(rating.r, 93.2, 0.05), "{rating:?}");
    assert!(close(rating.mos, 4.41, 0.005), "{rating:?}");
    assert!(close(rating.r, 93.206_207_723, 1e-6), "{rating:?}");
}

/// Annex B, Table B.1: the limits between the categories of user satisfaction.
#[test]
fn opinion_scores_are_those_of_annex_b() {
    for (r, score) in [
        (90.0, 4.34),
        (80.0, 4.03),
        (70.0, 3.60),
        (60.0, 3.10),
        (50.0, 2.58),
    ] {
        assert!(close(mos(r), score, 0.007), "{r}: {}", mos(r));
    }
    assert_eq!(
        (mos(-5.0), mos(0.0), mos(3.0), mos(100.0), mos(120.0)),
        (1.0, 1.0, 1.0, 4.5, 4.5)
    );
}

/// The recommendation's formulas written out a second time, in Python without this module's helpers.
#[test]
fn ratings_agree_with_a_second_implementation() {
    let delays = [
        (50.0, 91.756_161_190_8),
        (100.0, 90.663_730_328),
        (150.0, 89.539_131_973_6),
        (177.3, 88.051_877_111_7),
        (200.0, 85.804_718_159_3),
        (300.0, 72.666_360_058_9),
        (400.0, 62.246_826_681_6),
        (600.0, 49.483_797_885_7),
    ];
    for (delay, r) in delays {
        let found = rate(&delayed(delay)).unwrap().r;
        assert!(close(found, r, 1e-8), "{delay} ms: {found}");
    }
    let echo = Parameters {
        talker_echo: 40.0,
        ..delayed(30.0)
    };
    let loud_rooms = Parameters {
        send_room: 65.0,
        receive_room: 65.0,
        ..Parameters::default()
    };
    let quiet = Parameters {
        send_loudness: 14.0,
        receive_loudness: 6.0,
        ..Parameters::default()
    };
    let listener = Parameters {
        listener_echo: 20.0,
        round_trip_ms: 100.0,
        ..Parameters::default()
    };
    let others = [
        (echo, 82.784_747_726_4),
        (loud_rooms, 60.565_059_149_2),
        (quiet, 79.407_906_457_8),
        (listener, 77.413_304_897_1),
        (
            Parameters {
                quantising_units: 4.0,
                ..Parameters::default()
            },
            88.203_149_176,
        ),
        (
            Parameters {
                sidetone: 12.0,
                ..Parameters::default()
            },
            93.200_246_251_8,
        ),
    ];
    for (parameters, r) in others {
        assert!(
            close(rate(&parameters).unwrap().r, r, 1e-8),
            "{parameters:?}"
        );
    }
}

/// Cole and Rosenbluth (2001): Id is about 0.024 d, and 0.11 (d - 177.3) more beyond 177.3 ms.
#[test]
fn delay_costs_about_what_cole_and_rosenbluth_say() {
    let undelayed = rate(&Parameters::default()).unwrap().r;
    for delay in (0..=400).step_by(10).map(f64::from) {
        let knee = 0.11 * (delay - 177.3).max(0.0);
        let fit = undelayed - 0.024 * delay - knee;
        assert!(
            close(rate(&delayed(delay)).unwrap().r, fit, 3.2),
            "{delay} ms"
        );
    }
}

/// Ie-eff by hand: 95 * 1 / (1 + 4.3), 95 * 1 / (1 + 25.1), and 95 * 2 / (2 / 2 + 25.1).
#[test]
fn loss_costs_less_with_concealment() {
    let lossless = rated(Codec::G711, 0.0, 1.0);
    assert!(close(
        lossless - rated(Codec::G711, 1.0, 1.0),
        17.924_528,
        1e-6
    ));
    assert!(close(
        lossless - rated(Codec::G711_PLC, 1.0, 1.0),
        3.639_847,
        1e-6
    ));
    assert!(close(
        lossless - rated(Codec::G711_PLC, 2.0, 2.0),
        7.279_693,
        1e-6
    ));
    assert_eq!(
        rated(Codec::G711, 1.0, 0.5).to_bits(),
        rated(Codec::G711, 1.0, 1.0).to_bits()
    );
}

#[test]
fn a_call_adds_packet_and_buffer_to_the_delay_of_the_network() {
    let path = MouthToEar::of(110.0, 10.0);
    assert!(close(path.total_ms(), 150.0, 1e-12));
    let call = rate_call(Codec::G711, path, 0.0, 1.0).unwrap();
    assert_eq!(Some(call), rate(&delayed(150.0)));
    for bad in [f64::NAN, f64::INFINITY] {
        assert_eq!(
            rate_call(Codec::G711, MouthToEar::of(bad, 10.0), 0.0, 1.0),
            None
        );
        assert_eq!(rate_call(Codec::G711, path, f64::NAN, 1.0), None);
        assert_eq!(rate_call(Codec::G711, path, 1.0, bad), None);
    }
}

proptest! {
    #[test]
    fn a_call_never_gets_better_by_delay_or_loss(
        delay in 0.0_f64..3_000.0, more_delay in 0.0_f64..500.0,
        loss in 0.0_f64..100.0, more_loss in 0.0_f64..50.0, burst in 1.0_f64..20.0,
    ) {
        let rated = |delay, loss, burst| rate_call(Codec::G711_PLC, MouthToEar::of(delay, 20.0), loss, burst).unwrap();
        let base = rated(delay, loss, burst);
        for worse in [
            rated(delay + more_delay, loss, burst),
            rated(delay, loss + more_loss, burst),
            rated(delay, loss, burst + 1.0),
        ] {
            prop_assert!(worse.r <= base.r + 1e-9 && worse.mos <= base.mos + 1e-9, "{base:?} {worse:?}");
        }
        prop_assert!((1.0..=4.5).contains(&base.mos));
    }

    #[test]
    fn any_finite_call_has_a_finite_rating(
        network in -1e12_f64..1e12, loss in proptest::num::f64::NORMAL, burst in proptest::num::f64::NORMAL,
    ) {
        let rating = rate_call(Codec::G711, MouthToEar::of(network, 10.0), loss, burst).unwrap();
        prop_assert!(rating.r.is_finite() && (1.0..=4.5).contains(&rating.mos));
    }

    #[test]
    fn a_better_rating_never_scores_worse(r in -20.0_f64..120.0, more in 0.0_f64..50.0) {
        prop_assert!(mos(r + more) >= mos(r) - 1e-12);
    }
}
