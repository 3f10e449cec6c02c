use super::{Context, Datagram, run};
use crate::plan::{Carrier, Plan};
use crate::run::{Outcome, Tested};
use kit::virtual_links::Hop;
use mbm::diagnostic::Test;
use mbm::model::Model;
use mbm::sequential::{ALPHA, BETA, Rule};
use mbm::target::NamedTarget;
use mbm::verdict::{Outcome as Says, Reason};
use path::{Assigned, Spec};
use record::{RecordWriter, Run};
use schema::Direction;
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use units::{Dscp, Span};

/// The RFC's own example (RFC 8337 section 9): a window of 11 packets in 50 ms, a run length of 363.
fn plan(tests: &[Test]) -> Plan {
    Plan {
        name: None,
        target: NamedTarget::find("video-rfc8337").unwrap().target,
        model: Model::Reference,
        alpha: ALPHA,
        beta: BETA,
        rule: Rule::Sequential,
        tests: tests.to_vec(),
        carrier: Carrier::Udp,
        streams: 1,
        direction: Direction::Up,
        class: Dscp::CS0,
        ecn: false,
        timeout: Span(Duration::from_secs(120)),
        seed: 1,
    }
}

/// A link that drains a window in just less than the target's round trip, with so many packets in its queue beside the one in
/// transmission, and so long each way (RFC 8337 section 10).
fn link(packets: u32, delay_us: u32) -> Vec<Hop<Datagram>> {
    let delay = json!({ "kind": "delay", "delay": format!("{delay_us}us") });
    let queue = json!({ "kind": "fifo", "packets": packets });
    let rate = json!({ "kind": "rate", "rate": "2640100bit", "queue": queue });
    let way = |stages: Value, seed| {
        let spec: Spec = serde_json::from_value(stages).unwrap();
        let no_trace = |name: &str| Err(format!("no trace {name}").into());
        spec.build(seed, &no_trace, &Assigned::default()).unwrap()
    };
    vec![Hop {
        name: "a-b".to_owned(),
        ways: [way(json!([rate, delay]), 1), way(json!([delay]), 2)],
        rates: ["2640100bit".parse().ok(), None],
    }]
}

/// Half of the target's round trip, less what the link takes for a packet.
const DELAY_US: u32 = 22_727;
/// The packets of a window beside the one in transmission.
const QUEUE: u32 = 10;

fn tested(plan: &Plan, hops: Vec<Hop<Datagram>>) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let begun = Run::new(
        "sim-mbm",
        "2026-11-21T07:29:11Z".parse().unwrap(),
        Value::Null,
    );
    let mut record = RecordWriter::create(&folder.path().join("run"), &begun).unwrap();
    let context = Context {
        plan,
        interrupt: &AtomicBool::new(false),
        display: &|_| {},
    };
    run(&context, hops, &mut record).unwrap().0
}

fn reason(tested: &Tested) -> (Says, Reason) {
    let verdict = &tested.sender.verdict;
    (verdict.outcome, verdict.reason)
}

#[test]
fn tests_pass_where_a_path_is_just_good_enough_and_fail_where_it_is_not() {
    let cases = [
        (Test::PacedFullRate, Reason::LossLow, None),
        (Test::WindowedFullRate, Reason::LossLow, None),
        (
            Test::CongestionAvoidance,
            Reason::QueueGood,
            Some((9, Reason::QueueShort)),
        ),
        (
            Test::Bufferbloat,
            Reason::QueueGood,
            Some((26, Reason::QueueLong)),
        ),
        (
            Test::FullWindowSlowStart,
            Reason::LossLow,
            Some((4, Reason::RateLow)),
        ),
        (
            Test::SlowStartAqm,
            Reason::QueueGood,
            Some((4, Reason::QueueShort)),
        ),
        (
            Test::SenderRateBurst,
            Reason::LossLow,
            Some((9, Reason::LossHigh)),
        ),
        (
            Test::SustainedBurst,
            Reason::LossLow,
            Some((9, Reason::LossHigh)),
        ),
    ];
    for (test, good, worse) in cases {
        let judged = |queue| reason(&tested(&plan(&[test]), link(queue, DELAY_US)).tests[0]);
        assert_eq!(judged(QUEUE), (Says::Pass, good), "{test}");
        if let Some((queue, bad)) = worse {
            assert_eq!(judged(queue), (Says::Fail, bad), "{test}");
        }
    }
}

#[test]
fn round_trips_are_those_of_the_path_and_what_a_queue_drops_is_lost() {
    // A burst of eleven finds one link that sends and four places.
    let outcome = tested(&plan(&[Test::SustainedBurst]), link(4, 10_000));
    let wire = Duration::from_nanos(1_500 * 8_000_000_000 / 2_640_100);
    let path_rtt = outcome.path_rtt.unwrap();
    assert!(path_rtt.abs_diff(Duration::from_millis(20) + wire) < Duration::from_micros(1));
    let test = &outcome.tests[0];
    let (sender, receiver) = (&test.sender, test.receiver.as_ref().unwrap());
    let counts = receiver.loss.counts;
    assert_eq!(counts.packets, sender.sent);
    assert_eq!(counts.lost, outcome.truth[0].dropped_overflow);
    assert_eq!(counts.lost * 11, counts.packets * 6);
    let rtt = sender.rtt_ms.as_ref().unwrap();
    assert!((rtt.min - path_rtt.as_secs_f64() * 1e3).abs() < 1e-3);
    // The fifth has waited for four.
    assert!((rtt.max - rtt.min - 4.0 * wire.as_secs_f64() * 1e3).abs() < 1e-3);
    assert!(sender.pattern.lateness_max_ns == 0 && sender.pattern.kept);
}

#[test]
fn nothing_is_sent_over_a_path_that_is_longer_than_the_target_s() {
    let outcome = tested(&plan(&[Test::PacedFullRate]), link(QUEUE, 40_000));
    let test = &outcome.tests[0];
    assert_eq!(reason(test), (Says::Fail, Reason::RoundTripLong));
    assert_eq!(test.sender.sent, 0);
}

#[test]
fn streams_side_by_side_send_until_all_are_decided() {
    let two = Plan {
        streams: 2,
        ..plan(&[Test::PacedFullRate, Test::SustainedBurst])
    };
    // Half of what two streams need.
    let outcome = tested(&two, link(QUEUE, 10_000));
    let streams: Vec<_> = outcome.tests.iter().map(|one| one.stream).collect();
    assert_eq!(streams, [Some(1), Some(2), Some(1), Some(2)]);
    for pair in outcome.tests.chunks(2) {
        assert!(pair.iter().any(|one| reason(one).0 == Says::Fail));
        let window = pair[0].sender.pattern.burst_packets.into();
        assert!(pair[0].sender.sent.abs_diff(pair[1].sender.sent) <= window);
    }
}

#[test]
fn a_path_that_lets_nothing_through_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let begun = Run::new(
        "sim-mbm",
        "2026-11-21T07:29:11Z".parse().unwrap(),
        Value::Null,
    );
    let mut record = RecordWriter::create(&folder.path().join("run"), &begun).unwrap();
    let plan = plan(&[Test::PacedFullRate]);
    let context = Context {
        plan: &plan,
        interrupt: &AtomicBool::new(false),
        display: &|_| {},
    };
    let all = json!([{ "kind": "loss", "probability": 1.0 }]);
    let spec: Spec = serde_json::from_value(all).unwrap();
    let no_trace = |name: &str| Err(format!("no trace {name}").into());
    let build = || spec.build(1, &no_trace, &Assigned::default()).unwrap();
    let hops = vec![Hop {
        name: "a-b".to_owned(),
        ways: [build(), build()],
        rates: [None, None],
    }];
    let error = run(&context, hops, &mut record).err().unwrap().to_string();
    assert!(error.contains("nothing came back"), "{error}");
}
