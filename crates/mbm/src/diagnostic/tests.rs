use super::*;
use crate::loss::Counts;
use crate::model::Model;
use crate::sequential::{Hypotheses, Rule, Ruling, Sprt};
use crate::stream::{FirstMark, Pattern, Round, ScanReport, Schedule, Step, Stream};
use crate::target::{NamedTarget, Target};
use crate::verdict::{Outcome, Reason};
use proptest::prelude::*;
use std::time::Duration;

fn target() -> Target {
    NamedTarget::find("video-rfc8337").unwrap().target
}

/// A scan of a path that holds 11 packets and whose queue holds `queue` more, at 220 packets a second.
fn scan(queue: u32) -> ScanReport {
    let mut seq = 0;
    let mut steps = Vec::new();
    for window in 6..=11 + queue {
        let full = window.max(11);
        let delivered = 2 * u64::from(window);
        steps.push(Step {
            window,
            first_seq: seq,
            delivered,
            packets_per_s: f64::from(window.min(11)) * 20.0,
            rtt_ms: 50.0 * f64::from(full) / 11.0,
            ..Step::default()
        });
        seq += delivered;
    }
    let queue_ns = 50_000_000 * u64::from(queue) / 11;
    ScanReport {
        steps,
        rtt_min_ns: Some(50_000_000),
        first_mark: Some(FirstMark {
            seq,
            window: 12 + queue,
            queue_ns,
            round_marks: 1,
        }),
        queue_max_ns: queue_ns,
        sent: seq + 10,
        to: 40,
        is_done: true,
    }
}

fn limits() -> QueueLimits {
    let target = target();
    let setup = Setup::new(&target, Duration::from_millis(50));
    QueueLimits::new(&setup, Model::Reference.run_length(&target).unwrap())
}

fn outcome(test: Test, scan: &ScanReport) -> (Outcome, Reason) {
    let verdict = judge_scan(test, scan, &limits());
    (verdict.outcome, verdict.reason)
}

#[test]
fn names_are_read_back() {
    for test in Test::ALL {
        assert_eq!(test.name().parse(), Ok(test));
        assert_eq!(serde_json::to_string(&test).unwrap(), format!("\"{test}\""));
    }
    assert!(
        "slow"
            .parse::<Test>()
            .unwrap_err()
            .to_string()
            .contains("sustained-burst")
    );
}

/// Holds mbm/onset.
#[test]
fn the_onset_is_where_power_is_greatest() {
    let found = onset(&scan(11)).unwrap();
    assert_eq!((found.window, found.step), (11, 5));
    let mut rising = scan(11);
    rising.steps.truncate(6);
    assert_eq!(onset(&rising), None);
    rising.steps.clear();
    assert_eq!(onset(&rising), None);
}

/// Holds mbm/congestion-avoidance.
#[test]
fn a_queue_of_one_window_passes_and_one_packet_less_fails() {
    // From 11 to 22 packets Reno delivers 2 (11 + 12 + .. + 22) = 396; to 21 it is 352, and 363 are asked for.
    assert_eq!(
        outcome(Test::CongestionAvoidance, &scan(11)),
        (Outcome::Pass, Reason::QueueGood)
    );
    assert_eq!(
        outcome(Test::CongestionAvoidance, &scan(10)),
        (Outcome::Fail, Reason::QueueShort)
    );
}

/// Holds mbm/bufferbloat.
#[test]
fn a_queue_of_more_than_two_windows_is_bufferbloat() {
    assert_eq!(
        outcome(Test::Bufferbloat, &scan(22)),
        (Outcome::Pass, Reason::QueueGood)
    );
    assert_eq!(
        outcome(Test::Bufferbloat, &scan(23)),
        (Outcome::Fail, Reason::QueueLong)
    );
    let mut endless = scan(23);
    endless.first_mark = None;
    assert_eq!(
        outcome(Test::Bufferbloat, &endless),
        (Outcome::Fail, Reason::QueueLong)
    );
    endless.queue_max_ns = 0;
    assert_eq!(
        outcome(Test::Bufferbloat, &endless),
        (Outcome::Inconclusive, Reason::NoOnset)
    );
}

/// Holds mbm/non-excessive-loss.
#[test]
fn many_losses_at_once_are_excessive() {
    let mut policed = scan(11);
    assert_eq!(outcome(Test::NonExcessiveLoss, &policed).0, Outcome::Pass);
    policed.first_mark.as_mut().unwrap().round_marks = 2;
    assert_eq!(
        outcome(Test::NonExcessiveLoss, &policed),
        (Outcome::Fail, Reason::LossExcessive)
    );
}

/// Holds mbm/duplex.
#[test]
fn acknowledgements_that_wait_for_data_interfere() {
    let mut duplex = scan(11);
    assert_eq!(
        outcome(Test::DuplexSelfInterference, &duplex).0,
        Outcome::Pass
    );
    // Each packet more raises the round trip by two packet times.
    for step in &mut duplex.steps {
        step.rtt_ms += 50.0 * f64::from(step.window.saturating_sub(11)) / 11.0;
    }
    assert_eq!(
        outcome(Test::DuplexSelfInterference, &duplex),
        (Outcome::Fail, Reason::Interference)
    );
    assert_eq!(outcome(Test::Passive, &duplex).0, Outcome::Error);
    duplex.rtt_min_ns = None;
    assert_eq!(
        outcome(Test::Bufferbloat, &duplex),
        (Outcome::Fail, Reason::Silence)
    );
}

/// Holds mbm/slow-start-aqm.
#[test]
fn slow_start_is_to_be_stopped_neither_early_nor_late() {
    let limits = AqmLimits::new(&target());
    let rounds = |wait_ms: u64| {
        let round = Round {
            marks: 1,
            sojourn_ns: Some(wait_ms * 1_000_000),
            ..Round::default()
        };
        judge_rounds(&[round, round, Round::default()], &limits)
    };
    assert_eq!(rounds(24).reason, Reason::QueueShort);
    assert_eq!(rounds(25).outcome, Outcome::Pass);
    assert_eq!(rounds(100).outcome, Outcome::Pass);
    assert_eq!(rounds(101).reason, Reason::QueueLong);
    assert_eq!(
        judge_rounds(&[Round::default()], &limits).outcome,
        Outcome::Inconclusive
    );
    assert_eq!(judge_rounds(&[], &limits).outcome, Outcome::Inconclusive);
    let endless = Round {
        queue_max_ns: 200_000_000,
        ..Round::default()
    };
    assert_eq!(judge_rounds(&[endless], &limits).reason, Reason::QueueLong);
}

/// A scan to a window of 40 on a path whose round trip is 50 ms and whose capacity is never met.
fn fast() -> ScanReport {
    let mut seq = 0;
    let mut steps = Vec::new();
    for window in 6..=40 {
        let delivered = 2 * u64::from(window);
        steps.push(Step {
            window,
            first_seq: seq,
            delivered,
            packets_per_s: f64::from(window) * 20.0,
            rtt_ms: 50.0,
            ..Step::default()
        });
        seq += delivered;
    }
    ScanReport {
        steps,
        rtt_min_ns: Some(50_000_000),
        first_mark: None,
        queue_max_ns: 0,
        sent: seq,
        to: 40,
        is_done: true,
    }
}

/// Holds mbm/few-inconclusive, mbm/no-queue.
#[test]
fn better_than_asked_is_no_open_question() {
    let tests = [
        Test::CongestionAvoidance,
        Test::Bufferbloat,
        Test::NonExcessiveLoss,
        Test::DuplexSelfInterference,
    ];
    for test in tests {
        assert_eq!(outcome(test, &fast()), (Outcome::Pass, Reason::Exceeds));
    }
    // One that was cut short, that only just carries the rate, or at whose end a queue stands, answers less.
    let mut cut = fast();
    cut.is_done = false;
    let mut slow = fast();
    slow.steps.truncate(12);
    let mut queued = fast();
    queued
        .steps
        .iter_mut()
        .skip(30)
        .for_each(|step| step.rtt_ms = 63.0);
    for scan in [cut, slow, queued] {
        assert_eq!(
            outcome(Test::Bufferbloat, &scan),
            (Outcome::Inconclusive, Reason::NoOnset)
        );
    }
    let clump = |packets_per_s| {
        let mut scan = fast();
        scan.steps.iter_mut().for_each(|step| {
            step.packets_per_s = packets_per_s;
            step.rtt_ms = 150.0;
        });
        scan.rtt_min_ns = Some(150_000_000);
        outcome(Test::Bufferbloat, &scan).0
    };
    // 40 packets in 150 ms are 267 a second, however fast they came.
    assert_eq!(clump(10_000.0), Outcome::Inconclusive);
}

#[test]
fn rounds_without_a_loss_pass_when_they_are_long_enough() {
    let limits = AqmLimits::new(&target());
    let rounds = |before_mark: u64, queue_ms: u64| {
        let round = Round {
            before_mark,
            queue_max_ns: queue_ms * 1_000_000,
            ..Round::default()
        };
        let verdict = judge_rounds(&[round; 5], &limits);
        (verdict.outcome, verdict.reason)
    };
    assert_eq!(rounds(22, 24), (Outcome::Pass, Reason::Exceeds));
    assert_eq!(rounds(21, 0).0, Outcome::Inconclusive);
    assert_eq!(rounds(22, 25).0, Outcome::Inconclusive);
    assert_eq!(rounds(22, 101), (Outcome::Fail, Reason::QueueLong));
}

/// Holds mbm/full-window-slow-start.
#[test]
fn slow_start_bursts_leave_at_the_interface_s_rate_where_the_path_is_faster() {
    let target = target();
    let setup = Setup {
        at_line_rate: true,
        ..Setup::new(&target, Duration::from_millis(50))
    };
    let pattern = setup.pattern(Test::FullWindowSlowStart).unwrap();
    assert_eq!(pattern, Pattern::sender_rate_bursts(&target, 1.0, 1));
    let mut rest = Schedule::new(pattern, units::Instant::ZERO).numbered(1_003);
    let burst = rest.poll(units::Instant::ZERO).unwrap();
    assert_eq!((burst.first, burst.packets), (1_003, 11));
}

/// Holds mbm/passive.
#[test]
fn a_load_outside_of_the_envelope_proves_nothing() {
    let target = target();
    let envelope = Envelope::new(&target, Duration::from_millis(10));
    assert_eq!(envelope.window_packets, 3);
    let sprt = Sprt::new(Hypotheses::for_run_length(363, 0.05, 0.05)).unwrap();
    let ruling = Ruling::new(Rule::Sequential, sprt);
    let judge = |rate: &str, burst_packets, lost| {
        let counts = Counts {
            packets: 1_000,
            lost,
            ce: 0,
        };
        let load = Load {
            peak: rate.parse().unwrap(),
            burst_packets,
            counts,
        };
        judge_passive(&load, &envelope, &ruling).0.outcome
    };
    assert_eq!(judge("2.5Mbit", 11, 0), Outcome::Pass);
    assert_eq!(judge("2.5Mbit", 11, 50), Outcome::Fail);
    assert_eq!(judge("2.5Mbit", 11, 6), Outcome::Inconclusive);
    assert_eq!(judge("3Mbit", 11, 0), Outcome::Error);
    assert_eq!(judge("2.5Mbit", 12, 0), Outcome::Error);
}

/// Holds mbm/six-conditions.
#[test]
fn every_active_test_has_a_stream() {
    let target = target();
    let setup = Setup::new(&target, Duration::from_millis(10));
    for test in Test::ALL {
        let stream = setup.stream(test, units::Instant::ZERO);
        assert_eq!(stream.is_some(), test != Test::Passive, "{test}");
        let Some(mut stream) = stream else { continue };
        assert!(stream.poll(units::Instant::ZERO).is_some(), "{test}");
        assert_eq!(
            stream.scan().is_some(),
            test.decider() == Decider::Scan,
            "{test}"
        );
        assert_eq!(
            !stream.rounds().is_empty(),
            test.decider() == Decider::Rounds,
            "{test}"
        );
    }
}

proptest! {
    #[test]
    fn no_scan_panics(
        steps in prop::collection::vec((0_u32..100, 0_u64..100, 0.0_f64..1e6, 0.0_f64..1e6), 0..100),
        mark in prop::option::of((any::<u64>(), any::<u32>(), any::<u64>(), any::<u64>())),
        rtt_min_ns in prop::option::of(any::<u64>()),
        queue_max_ns: u64,
        sent: u64,
    ) {
        let steps = steps.into_iter().map(|(window, delivered, packets_per_s, rtt_ms)| Step {
            window, delivered, packets_per_s, rtt_ms, first_seq: u64::from(window), ..Step::default()
        });
        let first_mark = mark.map(|(seq, window, queue_ns, round_marks)| FirstMark { seq, window, queue_ns, round_marks });
        let scan = ScanReport { steps: steps.collect(), rtt_min_ns, first_mark, queue_max_ns, sent, to: 9, is_done: true };
        for test in Test::ALL {
            judge_scan(test, &scan, &limits());
        }
    }
}
