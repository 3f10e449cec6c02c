use super::*;
use proptest::prelude::*;

fn spec(rate: &str, rtt: &str) -> TargetSpec {
    TargetSpec {
        rate: rate.parse().unwrap(),
        rtt: rtt.parse().unwrap(),
        mtu: MTU,
        overhead: OVERHEAD,
        derating: None,
    }
}

/// Holds mbm/target, mbm/payload-rate, mbm/test-window, mbm/target-window, mbm/example.
#[test]
fn the_example_of_the_rfc_has_its_window() {
    let target = Target::new(spec("2.5Mbit", "50ms")).unwrap();
    assert_eq!(target.window(), 11);
    // 2.5 Mbit/s of data are 2.611 Mbit/s on the link.
    assert_eq!(target.least_capacity().as_bps(), 2_611_421);
    assert_eq!(target.test_window(Duration::from_millis(10)), 3);
    assert_eq!(target.test_window(Duration::ZERO), 1);
}

/// Holds mbm/target-window, mbm/thesis-window.
#[test]
fn windows_are_rounded_up_and_exact_ones_are_left_alone() {
    let mut exact = spec("12Mbit", "100ms");
    exact.overhead = 0;
    assert_eq!(Target::new(exact.clone()).unwrap().window(), 100);
    exact.rtt = "100001us".parse().unwrap();
    assert_eq!(Target::new(exact).unwrap().window(), 101);
}

#[test]
fn impossible_targets_say_what_to_do() {
    let message = |spec: TargetSpec| Target::new(spec).unwrap_err().to_string();
    assert!(message(spec("10Mbit", "0ms")).contains("--rtt 50ms"));
    assert!(message(spec("100kbit", "10ms")).contains("window of 1"));
    assert!(message(spec("400Gbit", "1h")).contains("lower --rate"));
    let mut packet = spec("10Mbit", "50ms");
    packet.mtu = 64;
    assert!(message(packet.clone()).contains("raise --mtu"));
    packet.mtu = 70_000;
    assert!(message(packet).contains("65535"));
    let target = Target::new(spec("1Gbit", "50ms")).unwrap();
    let slow = target
        .check_interface("1Gbit".parse().unwrap())
        .unwrap_err();
    assert!(slow.to_string().contains("faster interface"), "{slow}");
    for error in [message(spec("10Mbit", "0ms")), slow.to_string()] {
        assert!(!error.contains('\n'));
    }
}

/// Holds mbm/derating.
#[test]
fn a_derating_has_a_reason() {
    let derated = |run_length, burst, reason: &str| {
        let mut spec = spec("10Mbit", "50ms");
        spec.derating = Some(Derating {
            run_length,
            burst,
            reason: reason.to_owned(),
        });
        Target::new(spec)
    };
    assert!(derated(1.0, 0.6, "the last hop is known to hold 10 packets").is_ok());
    assert!(
        derated(1.0, 0.6, "  ")
            .unwrap_err()
            .to_string()
            .contains("written reason")
    );
    for share in [0.0, 1.01, -1.0, f64::NAN] {
        assert!(derated(share, 1.0, "because").is_err(), "{share}");
        assert!(derated(1.0, share, "because").is_err(), "{share}");
    }
}

#[test]
fn every_built_in_target_can_be_tested_and_says_where_its_figures_come_from() {
    for name in NamedTarget::names() {
        let target = NamedTarget::find(name).unwrap();
        assert!(target.source.len() > 40, "{name}");
        assert!(
            target.model.run_length(&target.target).unwrap().packets > 50,
            "{name}"
        );
    }
    let unknown = NamedTarget::find("video-16k").unwrap_err().to_string();
    assert!(unknown.contains("video-4k"), "{unknown}");
}

#[test]
fn a_file_that_is_no_target_says_where_it_is_wrong() {
    let bad = |text: &str| {
        NamedTarget::parse("mine.toml", text)
            .unwrap_err()
            .to_string()
    };
    let good = "summary = 's'\nsource = 'me'\nrate = '10Mbit'\nrtt = '50ms'\n";
    assert!(NamedTarget::parse("mine.toml", good).is_ok());
    assert!(bad(&format!("{good}colour = 'red'")).contains("colour"));
    assert!(bad(&good.replace("10Mbit", "10")).contains("mine.toml"));
    assert!(bad(&good.replace("'me'", "''")).contains("source"));
    assert!(bad(&good.replace("50ms", "0ms")).contains("round-trip"));
    assert!(bad("").contains("mine.toml"));
}

#[test]
fn a_target_is_checked_when_it_is_read() {
    let target = Target::new(spec("10Mbit", "50ms")).unwrap();
    let text = serde_json::to_string(&target).unwrap();
    assert_eq!(serde_json::from_str::<Target>(&text).unwrap(), target);
    assert!(serde_json::from_str::<Target>(&text.replace("50ms", "0ms")).is_err());
}

proptest! {
    /// Holds mbm/target-window.
    #[test]
    fn a_window_carries_its_rate_and_no_smaller_one_does(
        bps in 1_u64..400_000_000_000,
        rtt_ns in 0_u64..3_600_000_000_000,
        mtu in 0_u32..100_000,
        overhead in 0_u32..2_000,
    ) {
        let rate = Rate::from_bps(bps).unwrap();
        let rtt = Span(Duration::from_nanos(rtt_ns));
        if let Ok(target) = Target::new(TargetSpec { rate, rtt, mtu, overhead, derating: None }) {
            let carried = |window: u32| u128::from(window) * u128::from(mtu - overhead) * 8_000_000_000;
            let wanted = u128::from(bps) * u128::from(rtt_ns);
            prop_assert!(carried(target.window()) >= wanted);
            prop_assert!(carried(target.window() - 1) < wanted);
        }
    }
}
