//! What holds for every path under every load: counters balance, lateness changes nothing, order is
//! kept where it is promised.

use crate::world::{build, packet, run, run_late, spec};
use isobath_path::{Family, Packet, Spec, StageSpec};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::HashMap;
use std::time::Duration;
use units::{Dscp, Ecn, Instant};

/// Queues, tight enough that all of them drop under the loads below.
fn queues() -> impl Strategy<Value = String> {
    let ecn = any::<bool>();
    let kinds = prop_oneof![
        Just("kind = 'fifo'".to_owned()),
        (1_u32..40).prop_map(|n| format!("kind = 'fifo', packets = {n}")),
        (1_500_u32..60_000).prop_map(|n| format!("kind = 'fifo', bytes = '{n}B'")),
        ecn.prop_map(|e| format!("kind = 'red', min = 2, max = 6, weight = 0.1, packets = 20, ecn = {e}")),
        ecn.prop_map(|e| format!("kind = 'codel', target = '1ms', interval = '10ms', ecn = {e}")),
        (ecn, 1_u32..60).prop_map(|(e, n)| {
            format!("kind = 'fq_codel', target = '1ms', interval = '10ms', flows = 3, packets = {n}, ecn = {e}")
        }),
        ecn.prop_map(|e| format!("kind = 'pie', target = '3ms', update = '3ms', burst = '6ms', ecn = {e}")),
    ];
    kinds.prop_map(|kind| format!("{{ {kind} }}"))
}

fn links() -> impl Strategy<Value = String> {
    prop_oneof![
        (queues(), 500_u32..40_000)
            .prop_map(|(q, k)| format!("kind = 'rate', rate = '{k}kbit', queue = {q}")),
        queues().prop_map(|q| format!("kind = 'trace', trace = 't', queue = {q}")),
        (queues(), 500_u32..40_000, 100_u32..9_000).prop_map(|(q, k, b)| {
            format!("kind = 'token_bucket', rate = '{k}kbit', burst = '{b}B', queue = {q}")
        }),
        (queues(), 500_u32..9_000).prop_map(|(q, k)| {
            format!("kind = 'token_bucket', rate = '{k}kbit', burst = '9kB', peak = '10Mbit', queue = {q}")
        }),
    ]
}

fn others() -> impl Strategy<Value = String> {
    let shape = prop_oneof![Just("uniform"), Just("normal"), Just("pareto")];
    prop_oneof![
        (0_u32..30_000).prop_map(|us| format!("kind = 'delay', delay = '{us}us'")),
        (shape, any::<bool>()).prop_map(|(shape, r)| {
            format!("kind = 'jitter', delay = '5ms', jitter = '4ms', distribution = '{shape}', reorder = {r}")
        }),
        Just("kind = 'flow_delay', min = '1ms', max = '20ms'".to_owned()),
        Just("kind = 'connection_delay'".to_owned()),
        (0.0..=1.0).prop_map(|p| format!("kind = 'loss', probability = {p:.3}")),
        Just("kind = 'gilbert_elliott', p = 0.05, r = 0.3, loss_good = 0.01".to_owned()),
        Just("kind = 'reorder', probability = 0.1, delay = '3ms'".to_owned()),
        (0.0..=1.0).prop_map(|p| format!("kind = 'duplicate', probability = {p:.3}")),
        prop_oneof![Just(4), Just(6)].prop_map(|v| format!("kind = 'blackhole', family = {v}")),
        (0.0..=1.0, prop_oneof![Just("bleach"), Just("ce")]).prop_map(|(p, ecn)| {
            format!("kind = 'remark', dscp = {{ EF = 'CS1', '*' = 'CS0' }}, ecn = '{ecn}', probability = {p:.3}")
        }),
    ]
}

fn paths() -> impl Strategy<Value = Spec> {
    let stage = prop_oneof![links(), others()].prop_map(|stage| format!("{{ {stage} }}"));
    vec(stage, 0..5).prop_map(|stages| spec(&format!("[{}]", stages.join(", "))))
}

/// Up to 400 packets of 4 flows, often at the same instant, mostly more than the links carry.
fn arrivals() -> impl Strategy<Value = Vec<Packet<u64>>> {
    let gap = prop_oneof![4 => 0_u64..1_500_000, 1 => Just(0), 1 => 0_u64..20_000_000];
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0)];
    let family = prop_oneof![Just(Family::V4), Just(Family::V6)];
    let class = (family, 0_u8..64, ecn);
    vec((gap, 0_u64..4, 1_u32..3_000, class), 1..400).prop_map(|packets| {
        let mut at = Instant::from_millis(5);
        let numbered = packets.into_iter().zip(0..);
        let stamp = |((gap, flow, size, (family, dscp, ecn)), id)| {
            at += Duration::from_nanos(gap);
            Packet {
                family,
                dscp: Dscp::new(dscp).unwrap(),
                ecn,
                ..packet(id, flow, size, at)
            }
        };
        numbered.map(stamp).collect()
    })
}

/// Whether a stage promises to keep the order of all packets.
fn keeps_order(stage: &StageSpec) -> bool {
    match stage {
        StageSpec::Rate { queue, .. }
        | StageSpec::Trace { queue, .. }
        | StageSpec::TokenBucket { queue, .. } => queue.kind() != "fq_codel",
        StageSpec::Jitter { reorder, .. } => !reorder,
        StageSpec::FlowDelay { .. } | StageSpec::Reorder { .. } => false,
        _ => true,
    }
}

/// Whether a stage promises to keep the order within each flow.
fn keeps_flows_in_order(stage: &StageSpec) -> bool {
    let by_flow = ["rate", "trace", "token_bucket", "flow_delay"];
    keeps_order(stage) || by_flow.contains(&stage.kind())
}

proptest! {
    #[test]
    fn the_counters_of_every_stage_balance_at_every_moment(
        path in paths(),
        packets in arrivals(),
        seed: u64,
        calls in vec(any::<bool>(), 1..50),
    ) {
        let mut pipeline = build(&path, seed).unwrap();
        let sent: u64 = packets.len() as u64;
        let mut calls = calls.into_iter().cycle();
        let left = run_late(
            &mut pipeline,
            packets,
            || calls.next().unwrap(),
            |element| assert!(element.counters().is_balanced(), "{:?}", element.counters()),
        );
        for stage in pipeline.stages() {
            assert!(stage.counters.is_balanced(), "{stage:?}");
            assert_eq!(stage.counters.queued.packets, 0, "{stage:?}");
        }
        let total = isobath_path::Element::counters(&pipeline);
        prop_assert_eq!(total.entered.packets, sent);
        prop_assert_eq!(total.left.packets, left.len() as u64);
        let bytes: u64 = left.iter().map(|packet| u64::from(packet.size)).sum();
        prop_assert_eq!(total.left.bytes, bytes);
    }

    #[test]
    fn calling_late_changes_no_departure(
        path in paths(),
        packets in arrivals(),
        seed: u64,
        calls in vec(any::<bool>(), 1..50),
    ) {
        let prompt = run(&mut build(&path, seed).unwrap(), packets.clone());
        let mut calls = calls.into_iter().cycle();
        let late = run_late(
            &mut build(&path, seed).unwrap(),
            packets.clone(),
            || calls.next().unwrap(),
            |_| (),
        );
        prop_assert_eq!(&prompt, &late);
        let never = run_late(&mut build(&path, seed).unwrap(), packets, || false, |_| ());
        prop_assert_eq!(&prompt, &never);
    }

    #[test]
    fn departures_are_in_order_of_time_and_no_packet_leaves_before_it_came(
        path in paths(),
        packets in arrivals(),
        seed: u64,
    ) {
        let came: Vec<Instant> = packets.iter().map(|packet| packet.at).collect();
        let left = run(&mut build(&path, seed).unwrap(), packets);
        prop_assert!(left.is_sorted_by_key(|packet| packet.at));
        for packet in &left {
            prop_assert!(packet.at >= came[usize::try_from(packet.body).unwrap()]);
        }
    }

    #[test]
    fn order_is_kept_where_it_is_promised(path in paths(), packets in arrivals(), seed: u64) {
        let left = run(&mut build(&path, seed).unwrap(), packets);
        if path.0.iter().all(keeps_order) {
            prop_assert!(left.is_sorted_by_key(|packet| packet.body));
        }
        if path.0.iter().all(keeps_flows_in_order) {
            let mut last = HashMap::new();
            for packet in &left {
                let before = last.insert(packet.flow, packet.body);
                prop_assert!(before.is_none_or(|before| before <= packet.body));
            }
        }
    }
}

#[test]
fn the_largest_and_smallest_values_are_survived() {
    let queues = [
        "kind = 'fifo'",
        "kind = 'fifo', packets = 4294967295, bytes = '18446744073709551615B'",
        "kind = 'red', min = 0, max = 4294967295, weight = 1, ecn = true",
        "kind = 'codel', target = '0ns', interval = '1ns'",
        "kind = 'codel', target = '1h', interval = '5000000h', ecn = true",
        "kind = 'fq_codel', quantum = '18446744073709551615B', flows = 1, packets = 1",
        "kind = 'pie', target = '1ns', update = '100us', burst = '0ns'",
        "kind = 'pie', target = '5000000h', update = '5000000h', burst = '5000000h'",
    ];
    let links = [
        "kind = 'rate', rate = '1bit'",
        "kind = 'rate', rate = '18446744073709551615bit'",
        "kind = 'token_bucket', rate = '1bit', burst = '1B'",
        "kind = 'token_bucket', rate = '18446744073709551615bit', burst = '18446744073709551615B'",
        "kind = 'trace', trace = 't'",
    ];
    let delays = [
        "kind = 'delay', delay = '5000000h'",
        "kind = 'jitter', delay = '5000000h', jitter = '5000000h', distribution = 'pareto'",
        "kind = 'flow_delay', min = '0ns', max = '5000000h'",
        "kind = 'reorder', probability = 1, delay = '5000000h'",
    ];
    let linked = links.iter().flat_map(|link| {
        queues
            .iter()
            .map(move |queue| format!("[{{ {link}, queue = {{ {queue} }} }}]"))
    });
    let delayed = delays.iter().map(|delay| format!("[{{ {delay} }}]"));
    for text in linked.chain(delayed) {
        let path = spec(&text);
        let _ = (path.describe(), path.base_delay(), path.drain_time());
        let times = [0, 0, 1, 1, u64::MAX / 2, u64::MAX - 1, u64::MAX, u64::MAX];
        let sizes = [u32::MAX, 0, 1, u32::MAX, 1_500, u32::MAX, 0, 1_500];
        let packets = times.into_iter().zip(sizes).zip(0..);
        let packets = packets.map(|((at, size), id)| packet(id, id, size, Instant::from_nanos(at)));
        let mut pipeline = build(&path, 1).unwrap();
        run(&mut pipeline, packets);
        let counters = isobath_path::Element::counters(&pipeline);
        assert!(
            counters.is_balanced() && counters.queued.packets == 0,
            "{text}: {counters:?}"
        );
    }
}
