//! What is built for simulations does what is built for labs.

use isobath_path::{Arrival, Assigned, Counters, Element, Family, Packet, Pipeline, Spec};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::time::Duration;
use units::{Dscp, Ecn, FlowId, Instant};

#[derive(serde::Deserialize)]
struct File {
    path: Spec,
}

/// Paths whose stages can be one, cannot be, or follow on each other in several ways.
const PATHS: [&str; 13] = [
    r#"path = [{ kind = "rate", rate = "10Mbit", queue = { kind = "fifo", packets = 5 } }, { kind = "delay", delay = "7ms" }]"#,
    r#"path = [{ kind = "rate", rate = "7Mbit", queue = { kind = "fifo", bytes = "4500B" } }, { kind = "connection_delay" }]"#,
    r#"path = [{ kind = "rate", rate = "3Mbit" }, { kind = "delay", delay = "1us" }, { kind = "rate", rate = "2Mbit", queue = { kind = "fifo", packets = 2 } }, { kind = "delay", delay = "20ms" }]"#,
    r#"path = [{ kind = "delay", delay = "3ms" }, { kind = "rate", rate = "5Mbit", queue = { kind = "codel" } }, { kind = "delay", delay = "30ms" }]"#,
    r#"path = [{ kind = "rate", rate = "10Mbit", queue = { kind = "fifo", packets = 9 } }, { kind = "jitter", delay = "5ms", jitter = "2ms", distribution = "uniform", reorder = true }, { kind = "loss", probability = 0.1 }]"#,
    r#"path = [{ kind = "loss", probability = 0.2 }, { kind = "rate", rate = "8Mbit" }, { kind = "delay", delay = "2ms" }]"#,
    r#"path = [{ kind = "token_bucket", rate = "4Mbit", burst = "6000B" }, { kind = "delay", delay = "9ms" }, { kind = "duplicate", probability = 0.2 }]"#,
    r#"path = [{ kind = "delay", delay = "0s" }]"#,
    r#"path = [{ kind = "connection_delay" }, { kind = "rate", rate = "6Mbit", queue = { kind = "fifo", packets = 4 } }]"#,
    r#"path = [{ kind = "delay", delay = "4ms" }, { kind = "rate", rate = "9Mbit" }, { kind = "connection_delay" }, { kind = "rate", rate = "8Mbit" }]"#,
    r#"path = [{ kind = "connection_delay" }, { kind = "rate", rate = "5Mbit", queue = { kind = "fifo", bytes = "3kB" } }, { kind = "delay", delay = "6ms" }]"#,
    r#"path = [{ kind = "delay", delay = "4ms" }, { kind = "rate", rate = "9Mbit", queue = { kind = "fifo", bytes = "2900B" } }, { kind = "connection_delay" }]"#,
    r#"path = [{ kind = "connection_delay" }, { kind = "rate", rate = "9Mbit", queue = { kind = "fifo", bytes = "1000B" } }, { kind = "connection_delay" }]"#,
];

type Left = (Instant, u32, u32);
/// Counters, and the octets that wait.
type Seen = (Counters, Option<u64>);

fn packet(number: u32, size: u32, at: Instant) -> Packet<u32> {
    Packet {
        size,
        flow: FlowId(u64::from(number % 3)),
        family: Family::V4,
        dscp: Dscp::CS0,
        ecn: Ecn::NotEct,
        at,
        body: number,
    }
}

/// Every packet that leaves when `sent` come (at, octets), called as it asks for; its counters when every `often`-th has come; and what
/// came to its first queue.
fn run(
    mut path: Pipeline<u32>,
    sent: &[(Instant, u32)],
    often: u32,
) -> (Vec<Left>, Vec<Seen>, Vec<Arrival>) {
    let (mut out, mut left, mut seen) = (VecDeque::new(), Vec::new(), Vec::new());
    path.watch_queue();
    let mut wake = None;
    let mut take = |out: &mut VecDeque<Packet<u32>>, now| {
        for packet in out.drain(..) {
            assert_eq!(packet.at, now, "nothing leaves late, or before its time");
            left.push((packet.at, packet.size, packet.body));
        }
    };
    for (number, (at, size)) in (0..).zip(sent) {
        while let Some(due) = wake.filter(|due| due <= at) {
            wake = path.process(None, due, &mut out);
            take(&mut out, due);
        }
        wake = path.process(Some(packet(number, *size, *at)), *at, &mut out);
        take(&mut out, *at);
        if number % often == 0 {
            wake = path.catch_up(*at, &mut out);
            take(&mut out, *at);
            seen.push((path.counters(), path.backlog().map(|count| count.bytes)));
        }
    }
    while let Some(due) = wake {
        wake = path.process(None, due, &mut out);
        take(&mut out, due);
    }
    (left, seen, path.arrivals())
}

proptest! {
    #[test]
    fn a_lazy_path_gives_out_the_same_packets_at_the_same_instants(
        which in 0..PATHS.len(),
        seed in 0_u64..100,
        gaps in proptest::collection::vec((0_u64..3_000, 40_u32..1_500), 1..200),
        often in prop_oneof![Just(1_u32), Just(5), Just(1_000)],
    ) {
        let file: File = toml::from_str(PATHS[which]).unwrap();
        let no_trace = |name: &str| Err(format!("no trace {name}").into());
        let delays = Assigned::settled([500, 25_000, 4_000].map(Duration::from_micros));
        let eager = file.path.build(seed, &no_trace, &delays).unwrap();
        let lazy = file.path.build_lazy(seed, &no_trace, &delays).unwrap();
        let mut at = Instant::ZERO;
        let sent: Vec<_> = gaps.into_iter().map(|(gap, size)| {
            at += Duration::from_micros(gap);
            (at, size)
        }).collect();
        let (expected, counters, arrivals) = run(eager, &sent, often);
        let (left, lazy_counters, lazy_arrivals) = run(lazy, &sent, often);
        prop_assert_eq!(left, expected);
        prop_assert_eq!(lazy_counters, counters);
        prop_assert_eq!(lazy_arrivals, arrivals);
    }
}
