use super::*;
use crate::target::{Derating, TargetSpec};

fn target(rate: &str, rtt: &str, overhead: u32) -> Target {
    Target::new(TargetSpec {
        rate: rate.parse().unwrap(),
        rtt: rtt.parse().unwrap(),
        mtu: 1_500,
        overhead,
        derating: None,
    })
    .unwrap()
}

fn packets(model: &Model, target: &Target) -> u64 {
    model.run_length(target).unwrap().packets
}

/// Holds mbm/reference-run-length, mbm/queueless, mbm/thesis-window.
#[test]
fn the_models_give_their_formulas() {
    let target = target("2.5Mbit", "50ms", 64);
    assert_eq!(packets(&Model::Reference, &target), 363);
    assert_eq!(packets(&Model::Queueless, &target), 162); // 161.33
    assert_eq!(packets(&Model::Mathis { c: C_DELAYED_ACK }, &target), 162);
    assert_eq!(packets(&Model::Mathis { c: C_EVERY_ACK }, &target), 81); // 80.67
    // (11/1.0538)^(4/3) / 0.05 = 456: Reno's 80.67 is the lesser.
    assert_eq!(packets(&Model::Cubic, &target), 81);
}

#[test]
fn cubic_needs_less_of_a_long_fat_path_than_reno() {
    let target = target("1Gbit", "100ms", 0);
    let window = f64::from(target.window());
    let run = packets(&Model::Cubic, &target) as f64;
    let expected = (window / 1.0538).powf(4.0 / 3.0) / 0.1;
    assert!((run / expected - 1.0).abs() < 1e-3, "{run} {expected}");
    assert!(run < 0.03 * window * window);
    // And the window at that loss rate is the target's.
    assert!((cubic_window(1.0 / run, 0.1) / window - 1.0).abs() < 1e-3);
}

/// Holds mbm/throughput-model.
#[test]
fn the_mathis_model_is_that_of_the_thesis() {
    // Thesis 3.2: at 0.5 % of loss Reno holds 10 Mbit/s up to about 20 ms (equation 2.1 with packets of 1,500 octets).
    let target = target("10Mbit", "20ms", 0);
    let rate = throughput(&target, mathis_window(0.005, C_EVERY_ACK)).unwrap();
    assert!((rate.as_mbps() - 10.39).abs() < 0.01, "{rate}");
    assert_eq!(throughput(&target, f64::INFINITY), None);
}

/// Holds mbm/conservativeness.
#[test]
fn the_reference_is_as_cautious_as_the_thesis_says() {
    let target = target("100Mbit", "50ms", 0);
    let report = conservativeness(&target, Model::Reference.run_length(&target).unwrap());
    let reno = &report.predictions[0];
    assert!((reno.at_p0_ratio - 2.12).abs() < 0.01, "{reno:?}");
    assert!((reno.at_p1_ratio - 1.06).abs() < 0.01, "{reno:?}");
}

/// Holds mbm/derating.
#[test]
fn derating_is_in_what_is_asked_for_and_the_model_stays_known() {
    let mut spec = target("100Mbit", "50ms", 64).spec().clone();
    spec.derating = Some(Derating {
        run_length: 0.5,
        burst: 1.0,
        reason: "the transport acknowledges every packet".to_owned(),
    });
    let run = Model::Reference
        .run_length(&Target::new(spec).unwrap())
        .unwrap();
    assert_eq!((run.model_packets, run.packets), (570_288, 285_144));
}

/// Holds mbm/other-models.
#[test]
fn what_tells_nothing_is_refused() {
    let small = target("240kbit", "100ms", 0);
    assert_eq!(small.window(), 2);
    assert!(Model::Mathis { c: C_EVERY_ACK }.run_length(&small).is_err());
    for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Model::Mathis { c }.run_length(&small).is_err(), "{c}");
    }
    let stated = |run_length, reason: &str| Model::Stated {
        run_length,
        reason: reason.to_owned(),
    };
    assert!(stated(100, " ").run_length(&small).is_err());
    assert!(stated(4, "tolerant").run_length(&small).is_err());
    assert_eq!(packets(&stated(100, "tolerant"), &small), 100);
}
