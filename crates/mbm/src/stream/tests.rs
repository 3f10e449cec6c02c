use super::*;
use crate::model::Model;
use crate::target::{Derating, NamedTarget, Target, TargetSpec};
use proptest::prelude::*;
use std::collections::VecDeque;
use units::Rate;

fn spec(rate: &str, rtt: &str) -> TargetSpec {
    TargetSpec {
        rate: rate.parse().unwrap(),
        rtt: rtt.parse().unwrap(),
        mtu: 1_500,
        overhead: 0,
        derating: None,
    }
}

fn target(rate: &str, rtt: &str) -> Target {
    Target::new(spec(rate, rtt)).unwrap()
}

/// Due times in microseconds and packets of the first `count` bursts.
fn first(pattern: Pattern, count: usize) -> Vec<(u64, u32)> {
    let mut schedule = Schedule::new(pattern, Instant::ZERO);
    (0..count)
        .map(|_| {
            let due = schedule.next_due().unwrap();
            let burst = schedule.poll(due).unwrap();
            assert_eq!(burst.due, due);
            (due.as_nanos() / 1_000, burst.packets)
        })
        .collect()
}

/// Holds mbm/deterministic.
#[test]
fn paced_packets_keep_their_headway() {
    let target = target("12Mbit", "100ms");
    let single = Pattern::paced(&target, target.rate(), 1);
    assert_eq!(first(single, 3), [(0, 1), (1_000, 1), (2_000, 1)]);
    let bursts = Pattern::paced(&target, target.rate(), 5);
    assert_eq!(first(bursts, 3), [(0, 5), (5_000, 5), (10_000, 5)]);
    assert!((single.packets_per_s() - 1_000.0).abs() < 1e-9);
}

/// Holds mbm/slow-start-rate, mbm/slow-start-bursts.
#[test]
fn slow_start_sends_four_at_a_time_at_twice_the_rate() {
    let target = target("12Mbit", "10ms");
    assert_eq!(target.window(), 10);
    let rate = Pattern::slow_start_rate(&target, None, None);
    assert_eq!(first(rate, 3), [(0, 4), (2_000, 4), (4_000, 4)]);
    let bursts = Pattern::slow_start_bursts(&target, None, None);
    assert_eq!(
        first(bursts, 4),
        [(0, 4), (2_000, 4), (4_000, 2), (10_000, 4)]
    );
    assert_eq!(bursts.span(), Duration::from_millis(4));
    // A faster bottleneck makes it faster, the sender's interface is the limit.
    let rate = |text: &str| text.parse::<Rate>().ok();
    let fast = Pattern::slow_start_rate(&target, rate("24Mbit"), None);
    assert_eq!(first(fast, 2), [(0, 4), (1_000, 4)]);
    let limited = Pattern::slow_start_rate(&target, rate("24Mbit"), rate("12Mbit"));
    assert_eq!(first(limited, 2), [(0, 4), (4_000, 4)]);
}

/// Holds mbm/sustained-burst, mbm/sender-rate-burst.
#[test]
fn sustained_bursts_keep_their_mean_when_derated() {
    let mut spec = spec("12Mbit", "10ms");
    let whole = Target::new(spec.clone()).unwrap();
    assert_eq!(
        first(Pattern::sustained_bursts(&whole), 2),
        [(0, 10), (10_000, 10)]
    );
    let reason = "the last hop holds ten packets".to_owned();
    spec.derating = Some(Derating {
        run_length: 1.0,
        burst: 0.63,
        reason,
    });
    let derated = Target::new(spec).unwrap();
    assert_eq!(
        first(Pattern::sustained_bursts(&derated), 2),
        [(0, 6), (6_000, 6)]
    );
    let rare = Pattern::sender_rate_bursts(&whole, 2.0, 3);
    assert_eq!(first(rare, 2), [(0, 20), (60_000, 20)]);
}

/// Holds mbm/example.
#[test]
fn the_example_of_the_rfc_sends_eleven_packets_every_fifty_milliseconds() {
    let target = NamedTarget::find("video-rfc8337").unwrap().target;
    let bursts = Pattern::sustained_bursts(&target);
    assert_eq!(first(bursts, 3), [(0, 11), (50_000, 11), (100_000, 11)]);
    let run = Model::Reference.run_length(&target).unwrap();
    // One loss in 33 bursts, 1.65 s.
    assert_eq!(run.packets, 33 * 11);
}

/// Holds mbm/scan-stiff.
#[test]
fn a_scan_ends_a_window_after_its_first_mark() {
    let options = ScanOptions {
        from: 4,
        to: 100,
        furthest: 100,
        standing: Duration::from_secs(1),
        growth: Growth::Reno,
        path_rtt: Duration::from_millis(10),
        delay_limit: Duration::from_secs(1),
    };
    let mut scan = Scan::new(options, Instant::ZERO);
    let mut under_way = VecDeque::new();
    for ms in 0..10_000 {
        let now = Instant::from_millis(ms);
        // Each is acknowledged 10 ms later; from the hundredth on with a mark.
        while under_way.front().is_some_and(|(at, _)| *at <= now) {
            let (_, seq) = under_way.pop_front().unwrap();
            let ce = seq >= 100;
            scan.handle_ack(Ack { seq, ce }, now);
        }
        while let Some(burst) = scan.poll(now) {
            under_way.push_back((now + Duration::from_millis(10), burst.first));
        }
    }
    assert!(scan.is_done());
    let report = scan.scan().unwrap();
    let mark = report.first_mark.unwrap();
    assert_eq!(mark.seq, 100);
    // The window may have grown by one before the mark was known.
    let most = u64::from(mark.window) + 1;
    assert!(
        (most - 1..=most).contains(&(report.sent - 100)),
        "{report:?}"
    );
    assert!(
        report
            .steps
            .iter()
            .all(|step| step.window <= mark.window + 1)
    );
}

/// Holds mbm/deterministic, mbm/open-loop.
#[test]
fn a_late_poll_shifts_nothing_and_a_limit_is_kept() {
    let target = target("12Mbit", "100ms");
    let pattern = Pattern::paced(&target, target.rate(), 2);
    let mut schedule = Schedule::limited(pattern, Instant::from_millis(5), 5);
    assert_eq!(schedule.poll(Instant::from_millis(4)), None);
    let late = Instant::from_millis(50);
    let sent: Vec<_> = core::iter::from_fn(|| schedule.poll(late)).collect();
    let summary: Vec<_> = sent
        .iter()
        .map(|b| (b.due.as_nanos() / 1_000_000, b.first, b.packets))
        .collect();
    assert_eq!(summary, [(5, 0, 2), (7, 2, 2), (9, 4, 1)]);
    assert!(schedule.is_done() && schedule.next_due().is_none());
}

/// Holds mbm/constant-window.
#[test]
fn a_constant_window_is_spread_and_then_clocked_by_acknowledgements() {
    let mut stream = ConstantWindow::new(4, Duration::from_millis(8), Instant::ZERO);
    let mut left = Vec::new();
    for ms in 0..8 {
        let now = Instant::from_millis(ms);
        while let Some(burst) = stream.poll(now) {
            left.push((ms, burst.first));
        }
    }
    assert_eq!(left, [(0, 0), (2, 1), (4, 2), (6, 3)]);
    stream.handle_ack(Ack { seq: 0, ce: false }, Instant::from_millis(8));
    stream.handle_ack(Ack { seq: 0, ce: false }, Instant::from_millis(8));
    stream.handle_ack(Ack { seq: 99, ce: false }, Instant::from_millis(8));
    assert_eq!(stream.poll(Instant::from_millis(8)).unwrap().first, 4);
    assert_eq!(stream.poll(Instant::from_millis(8)), None);
    // Packet 1 is overtaken: a quarter of a round trip later its place is free.
    stream.handle_ack(Ack { seq: 2, ce: false }, Instant::from_millis(12));
    assert_eq!(stream.poll(Instant::from_millis(11)).unwrap().first, 5);
    assert_eq!(stream.next_due(), Some(Instant::from_millis(12)));
    assert_eq!(stream.poll(Instant::from_millis(12)).unwrap().first, 6);
}

#[test]
fn silence_does_not_stop_a_window_for_ever() {
    let mut stream = ConstantWindow::new(2, Duration::ZERO, Instant::ZERO);
    assert!(stream.poll(Instant::ZERO).is_some() && stream.poll(Instant::from_nanos(1)).is_some());
    assert_eq!(stream.poll(Instant::from_millis(999)), None);
    assert_eq!(stream.next_due(), Some(Instant::from_millis(1_000)));
    assert_eq!(stream.poll(Instant::from_millis(1_000)).unwrap().first, 2);
}

#[test]
fn a_sender_that_is_late_or_smears_is_found_out() {
    let shape = Shape {
        burst_packets: 10,
        headway: Some(Duration::from_millis(10)),
    };
    let rtt = Duration::from_millis(10);
    let mut counters = Keeping::new(shape, rtt, Duration::from_millis(1));
    for n in 0..100 {
        let due = Instant::from_millis(10 * n);
        let burst = Burst {
            due,
            first: 10 * n,
            packets: 10,
        };
        let late = Duration::from_micros(if n < 4 { 1_001 } else { 900 });
        let span = Duration::from_micros(if n < 5 { 2_001 } else { 2_000 });
        counters.left(&burst, due + late, due + late + span);
    }
    let report = counters.report();
    assert_eq!(
        (report.bursts, report.late, report.smeared, report.kept),
        (100, 4, 5, true)
    );
    let due = Instant::from_millis(2_000);
    let burst = Burst {
        due,
        first: 0,
        packets: 10,
    };
    counters.left(&burst, due, due + Duration::from_millis(3));
    assert!(!counters.report().kept);
}

#[test]
fn a_meter_says_nothing_before_its_window_is_full() {
    let mut meter = RateMeter::new(Duration::from_secs(1));
    for ms in 0..1_000 {
        meter.count(ms, Instant::from_millis(ms));
        assert_eq!(meter.packets_per_s(), None);
    }
    for ms in 1_000..20_000 {
        meter.count(ms.min(10_000), Instant::from_millis(ms));
    }
    assert_eq!(meter.packets_per_s(), Some(0.0));
    for ms in 20_000..30_000 {
        meter.count(ms, Instant::from_millis(ms));
    }
    assert!((meter.packets_per_s().unwrap() - 1_000.0).abs() < 1.0);
}

proptest! {
    /// Holds mbm/deterministic.
    #[test]
    fn a_schedule_never_drifts(bps in 1_000_u64..100_000_000_000, packets in 1_u32..100, burst in 0_u64..1_000_000) {
        let target = target("10Mbit", "50ms");
        let rate = Rate::from_bps(bps).unwrap();
        let pattern = Pattern::paced(&target, rate, packets);
        let exact = u128::from(burst) * u128::from(packets) * 12_000 * 1_000_000_000 / u128::from(bps);
        prop_assert_eq!(pattern.headway.times(burst).as_nanos(), exact.min(u128::from(u64::MAX)));
    }

    #[test]
    fn no_feedback_panics(
        events in prop::collection::vec((0_u64..200, any::<bool>(), 0_u64..50), 0..300),
        from in 0_u32..20,
        to in 0_u32..40,
    ) {
        let rtt = Duration::from_millis(10);
        let growth = Growth::Reno;
        let options = ScanOptions { from, to, growth, path_rtt: rtt, delay_limit: 10 * rtt, furthest: to, standing: Duration::ZERO };
        let target = target("12Mbit", "10ms");
        let schedule = Schedule::new(Pattern::slow_start_rate(&target, None, None), Instant::ZERO);
        let mut streams: Vec<Box<dyn Stream>> = vec![
            Box::new(Scan::new(options, Instant::ZERO)),
            Box::new(ConstantWindow::new(from, rtt, Instant::ZERO)),
            Box::new(UntilLoss::new(schedule, 3, 100)),
        ];
        let mut now = Instant::ZERO;
        for (seq, ce, ms) in events {
            now += Duration::from_millis(ms);
            for stream in &mut streams {
                stream.handle_ack(Ack { seq, ce }, now);
                for _ in 0..10_000 {
                    if stream.poll(now).is_none() {
                        break;
                    }
                }
                prop_assert!(stream.poll(now).is_none(), "{stream:?}");
                stream.scan();
            }
        }
    }
}
