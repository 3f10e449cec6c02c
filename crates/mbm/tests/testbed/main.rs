//! The infinitesimally passing testbed (RFC 8337 section 10): a path that is as bad as it may be, for the RFC's own example.
//!
//! Its rate is the target's with headers (a window of 11 full packets in each 50 ms), its queue holds one window with the packet in transmission, and one packet
//! in just more than a run length is lost. Every test passes on it, and fails when the parameter that the test is about gets slightly worse.
//!
//! What "slightly" is depends on the test. A packet of the queue, or a percent of the rate, is enough where the path itself decides. Loss
//! by chance is told from chance only at four times the rate (`p1`), by construction; and the rate of a self-clocked stream may fall to
//! 0.9 of the target before a precondition says so.
//!
//! The standing-queue tests see one scan each, not a statistic: a loss by chance ends a scan as a full queue does. So they are run without such losses.
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

mod thesis;
mod world;

use isobath_mbm::diagnostic::{Decider, Test};
use isobath_mbm::model::Model;
use isobath_mbm::verdict::{Outcome, Reason};
use world::{Bed, RATE, RUN_LENGTH, WINDOW};

/// Loss just under one in a run length.
const LOSS: f64 = 0.9 / RUN_LENGTH as f64;
const SEEDS: u64 = 20;

fn active() -> impl Iterator<Item = Test> {
    Test::ALL.into_iter().filter(|test| *test != Test::Passive)
}

/// The bed with loss by chance where losses are judged as such.
fn bed(test: Test, seed: u64) -> Bed {
    let loss = if test.decider() == Decider::Losses {
        LOSS
    } else {
        0.0
    };
    Bed {
        loss,
        seed,
        ..Bed::passing()
    }
}

/// How many of the seeds pass `test` on the bed that `change` made.
fn passes(test: Test, change: impl Fn(Bed) -> Bed) -> u64 {
    let passed =
        (0..SEEDS).filter(|seed| change(bed(test, *seed)).run(test).outcome == Outcome::Pass);
    passed.count() as u64
}

#[track_caller]
fn assert_reason(test: Test, bed: Bed, outcome: Outcome, reason: Reason) {
    let verdict = bed.run(test);
    assert_eq!(
        (verdict.outcome, verdict.reason),
        (outcome, reason),
        "{test}: {verdict:?}"
    );
}

/// Holds mbm/testbed, mbm/six-conditions.
#[test]
fn every_test_passes_on_it() {
    let run = Model::Reference.run_length(&world::target()).unwrap();
    assert_eq!(
        (world::target().window(), run.packets),
        (WINDOW, RUN_LENGTH)
    );
    for test in active() {
        let passed = passes(test, |bed| bed);
        println!(
            "{test}: {passed} of {SEEDS} pass: {}",
            bed(test, 0).run(test).says
        );
        // A good path fails one test in thirty by chance (alpha is 0.05).
        assert!(passed >= SEEDS - 2, "{test}: {passed}");
    }
}

/// Holds mbm/testbed, mbm/paced-full-rate, mbm/windowed-full-rate, mbm/background, mbm/sender-rate-burst, mbm/sustained-burst.
#[test]
fn more_loss_fails_every_test_that_is_decided_by_losses() {
    for test in active().filter(|test| test.decider() == Decider::Losses) {
        let passed = passes(test, |bed| Bed {
            loss: 4.5 / RUN_LENGTH as f64,
            ..bed
        });
        println!("{test}: {passed} of {SEEDS} pass with 4.5 losses in a run length");
        assert!(passed <= 2, "{test}: {passed}");
    }
}

/// Holds mbm/testbed, mbm/window-rate, mbm/windowed-full-window.
#[test]
fn a_slower_bottleneck_fails_every_test_that_sends_at_the_rate() {
    for test in [
        Test::PacedFullRate,
        Test::FullWindowSlowStart,
        Test::SustainedBurst,
    ] {
        for seed in 0..SEEDS {
            let bed = Bed {
                rate: RATE * 96 / 100,
                ..bed(test, seed)
            };
            assert_reason(test, bed, Outcome::Fail, Reason::LossHigh);
        }
    }
    // The window does not overflow the queue, and the rate is let down to 0.9 of the target.
    let slow = |percent: u64| Bed {
        rate: RATE * percent / 100,
        ..Bed::passing()
    };
    assert_reason(
        Test::WindowedFullRate,
        slow(90),
        Outcome::Pass,
        Reason::LossLow,
    );
    assert_reason(
        Test::WindowedFullRate,
        slow(88),
        Outcome::Fail,
        Reason::RateLow,
    );
}

/// The shortest queue with which `test` passes; it passes with every longer one up to a window.
fn least_queue(test: Test) -> u32 {
    let does_pass = |queue: u32| {
        Bed {
            queue,
            ..Bed::passing()
        }
        .run(test)
        .outcome
            == Outcome::Pass
    };
    let least = (1..=WINDOW).find(|queue| does_pass(*queue)).unwrap();
    for queue in least..=WINDOW {
        assert!(does_pass(queue), "{test}: {queue}");
    }
    least
}

/// Holds mbm/testbed, mbm/scan-step, mbm/congestion-avoidance, mbm/slow-start-aqm.
#[test]
fn a_shorter_queue_fails_every_test_that_bursts() {
    // The burst is a window, of which one packet is in transmission.
    assert_eq!(least_queue(Test::SustainedBurst), WINDOW - 1);
    assert_eq!(least_queue(Test::SenderRateBurst), WINDOW - 1);
    // While the window grows from 11 to 21 packets, 364 are delivered; to 20 it is 321; 363 are asked for.
    assert_eq!(least_queue(Test::CongestionAvoidance), WINDOW - 1);
    // At twice the bottleneck's rate half of the window waits.
    let slow_start = least_queue(Test::FullWindowSlowStart);
    assert!(
        (WINDOW / 2..=WINDOW / 2 + 2).contains(&slow_start),
        "{slow_start}"
    );
    // Half of the target round trip is half of a window.
    let aqm = least_queue(Test::SlowStartAqm);
    assert!((WINDOW / 2..=WINDOW / 2 + 2).contains(&aqm), "{aqm}");
    // Neither pacing nor a window that fits needs a queue to speak of.
    assert_eq!(least_queue(Test::PacedFullRate), 1);
    assert!(least_queue(Test::WindowedFullRate) <= 2);
}

/// Holds mbm/testbed, mbm/bufferbloat, mbm/slow-start-aqm.
#[test]
fn a_queue_of_more_than_two_windows_is_too_long() {
    let with = |queue| Bed {
        queue,
        ..Bed::passing()
    };
    assert_reason(
        Test::Bufferbloat,
        with(2 * WINDOW),
        Outcome::Pass,
        Reason::QueueGood,
    );
    assert_reason(
        Test::Bufferbloat,
        with(2 * WINDOW + 1),
        Outcome::Fail,
        Reason::QueueLong,
    );
    assert_reason(
        Test::SlowStartAqm,
        with(2 * WINDOW + 3),
        Outcome::Fail,
        Reason::QueueLong,
    );
}

/// Holds mbm/non-excessive-loss.
#[test]
fn a_policer_loses_too_much_at_once() {
    let policed = Bed {
        policer: Some(20),
        ..Bed::passing()
    };
    assert_reason(
        Test::NonExcessiveLoss,
        policed,
        Outcome::Fail,
        Reason::LossExcessive,
    );
    // And a window of which it lets little through has no queue to wait in.
    assert_reason(
        Test::CongestionAvoidance,
        policed,
        Outcome::Fail,
        Reason::QueueShort,
    );
}

/// Holds mbm/duplex.
#[test]
fn a_link_that_is_shared_with_its_acknowledgements_interferes() {
    let shared = Bed {
        half_duplex: true,
        ..Bed::passing()
    };
    assert_reason(
        Test::DuplexSelfInterference,
        shared,
        Outcome::Fail,
        Reason::Interference,
    );
}

/// A path of so many per cent of the passing one's rate, with a queue of so many per cent of its own windows.
fn faster(percent: u32, queue_percent: u32) -> Bed {
    Bed {
        rate: RATE * u64::from(percent) / 100,
        queue: WINDOW * percent / 100 * queue_percent / 100,
        ..Bed::passing()
    }
}

const STANDING: [Test; 4] = [
    Test::CongestionAvoidance,
    Test::Bufferbloat,
    Test::NonExcessiveLoss,
    Test::DuplexSelfInterference,
];

/// Holds mbm/few-inconclusive, mbm/no-queue.
#[test]
fn a_path_with_much_more_than_the_target_asks_for_passes() {
    for percent in [400, 1_000, 40_000] {
        for test in STANDING.into_iter().chain([Test::SlowStartAqm]) {
            assert_reason(test, faster(percent, 1_000), Outcome::Pass, Reason::Exceeds);
        }
    }
}

#[test]
fn the_queue_of_a_path_that_is_a_little_faster_is_looked_for_to_its_end() {
    for percent in [130, 150, 200, 250] {
        // Two windows are two target round trips; ten are endless.
        for test in STANDING {
            let good = faster(percent, 160);
            assert_reason(test, good, Outcome::Pass, Reason::QueueGood);
        }
        let endless = faster(percent, 1_000);
        assert_reason(Test::Bufferbloat, endless, Outcome::Fail, Reason::QueueLong);
        assert_reason(
            Test::NonExcessiveLoss,
            endless,
            Outcome::Inconclusive,
            Reason::NoOnset,
        );
    }
}
