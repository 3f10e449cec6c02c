//! What the thesis measured (its sections 4.2 and 4.3), in virtual time. Its figures with the paths are lost; experiments/mbm has the same ones.

use super::assert_reason;
use super::world::Bed;
use isobath_mbm::diagnostic::Test;
use isobath_mbm::target::{Derating, Target, TargetSpec};
use isobath_mbm::verdict::{Outcome, Reason};
use std::time::Duration;

/// 10 Mbit/s in the thesis's arithmetic, without headers.
fn ten_megabits(rtt: &str, burst: f64) -> Target {
    let derating = Derating {
        run_length: 1.0,
        burst,
        reason: "thesis 4.3".to_owned(),
    };
    Target::new(TargetSpec {
        rate: "10Mbit".parse().unwrap(),
        rtt: rtt.parse().unwrap(),
        mtu: 1_500,
        overhead: 0,
        derating: (burst < 1.0).then_some(derating),
    })
    .unwrap()
}

/// A link of 100 Mbit/s, `one_way_ms` long.
fn link(target: fn() -> Target, one_way_ms: u64) -> Bed {
    Bed {
        target,
        one_way: Duration::from_millis(one_way_ms),
        rate: 100_000_000,
        queue: 100,
        ..Bed::passing()
    }
}

/// Holds mbm/vantage, mbm/vantage-point.
#[test]
fn a_link_is_judged_for_the_complete_path_wherever_it_is_tested_from() {
    let tested = |target: fn() -> Target, one_way_ms, outcome, reason| {
        for seed in 0..10 {
            let lossy = Bed {
                loss: 0.001,
                seed,
                ..link(target, one_way_ms)
            };
            assert_reason(Test::PacedFullRate, lossy, outcome, reason);
        }
    };
    let short = || ten_megabits("10ms", 1.0);
    let long = || ten_megabits("80ms", 1.0);
    // The link for its own round trip; for that of the complete path; the complete path.
    tested(short, 5, Outcome::Pass, Reason::LossLow);
    tested(long, 5, Outcome::Fail, Reason::LossHigh);
    tested(long, 40, Outcome::Fail, Reason::LossHigh);
}

/// Holds mbm/queue-size.
#[test]
fn bursts_find_the_short_queue_that_a_constant_rate_does_not() {
    let tested = |target: fn() -> Target, test| {
        let short = Bed {
            queue: 10,
            ..link(target, 10)
        };
        short.run(test).outcome
    };
    // A window of 17 packets: 11 find room.
    let whole = || ten_megabits("20ms", 1.0);
    let most = || ten_megabits("20ms", 0.7);
    let derated = || ten_megabits("20ms", 0.6);
    assert_eq!(tested(whole, Test::PacedFullRate), Outcome::Pass);
    assert_eq!(tested(whole, Test::SustainedBurst), Outcome::Fail);
    assert_eq!(tested(most, Test::SustainedBurst), Outcome::Fail);
    assert_eq!(tested(derated, Test::SustainedBurst), Outcome::Pass);
}
