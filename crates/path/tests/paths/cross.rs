//! Links that others use too.

use crate::world::{build, packet, run, run_late, spec};
use isobath_path::{
    Assigned, Element, Pace, Packet, Pipeline, Schedule, Sent, Sizes, Source, Spec,
};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::time::Duration;
use units::{FlowId, Instant};

const RECORDING: &str = "# gap in us, octets\n700 1500\n20 40\n3000 576\n";

fn built(path: &Spec, seed: u64) -> Pipeline<u64> {
    let resolve = |_: &str| Ok(RECORDING.to_owned());
    path.build(seed, &resolve, &Assigned::default()).unwrap()
}

fn queues() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("kind = 'fifo', packets = 12"),
        Just("kind = 'fifo', bytes = '9kB'"),
        Just("kind = 'red', min = 2, max = 6, weight = 0.1, packets = 20"),
        Just("kind = 'codel', target = '1ms', interval = '10ms'"),
        Just("kind = 'fq_codel', target = '1ms', interval = '10ms', flows = 3, packets = 30"),
        Just("kind = 'pie', target = '3ms', update = '3ms', burst = '6ms'"),
    ]
}

fn crosses() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("pace = 'even', rates = ['3Mbit', '12Mbit'], each = '40ms'"),
        Just("pace = 'poisson', rates = ['8Mbit'], sizes = [40, 576, 1500]"),
        Just(
            "pace = 'poisson', rates = ['2Mbit', '9Mbit'], each = '30ms', then = 'hold', recording = 'r'"
        ),
        Just("pace = 'recorded', recording = 'r'"),
        Just("pace = 'recorded', recording = 'r', rates = ['9Mbit']"),
    ]
}

/// A link of 10 Mbit/s, or a shaper of it, between two delays.
fn paths() -> impl Strategy<Value = Spec> {
    (queues(), crosses(), any::<bool>()).prop_map(|(queue, cross, shaped)| {
        let link = if shaped {
            "kind = 'token_bucket', rate = '10Mbit', burst = '6kB', peak = '40Mbit'"
        } else {
            "kind = 'rate', rate = '10Mbit'"
        };
        spec(&format!(
            "[{{ kind = 'delay', delay = '2ms' }}, {{ {link}, queue = {{ {queue} }}, cross = {{ {cross} }} }}, {{ kind = 'delay', delay = '3ms' }}]"
        ))
    })
}

/// Up to 200 packets, some after pauses in which nobody is there.
fn arrivals() -> impl Strategy<Value = Vec<Packet<u64>>> {
    let gap = prop_oneof![8 => 0_u64..3_000_000, 1 => Just(0), 1 => 0_u64..15_000_000_000];
    vec((gap, 0_u64..4, 40_u32..1_500), 1..200).prop_map(|packets| {
        let mut at = Instant::from_millis(5);
        let numbered = packets.into_iter().zip(0..);
        let stamp = |((gap, flow, size), id)| {
            at += Duration::from_nanos(gap);
            packet(id, flow, size, at)
        };
        numbered.map(stamp).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn calling_late_changes_no_departure_and_the_counters_balance(
        path in paths(),
        packets in arrivals(),
        seed: u64,
        calls in vec(any::<bool>(), 1..50),
    ) {
        let prompt = run(&mut built(&path, seed), packets.clone());
        let mut calls = calls.into_iter().cycle();
        let mut pipeline = built(&path, seed);
        let late = run_late(
            &mut pipeline,
            packets.clone(),
            || calls.next().unwrap(),
            |element| assert!(element.counters().is_balanced(), "{:?}", element.counters()),
        );
        prop_assert_eq!(&prompt, &late);
        let never = run_late(&mut built(&path, seed), packets.clone(), || false, |_| ());
        prop_assert_eq!(&prompt, &never);
        for stage in pipeline.stages() {
            prop_assert!(stage.counters.is_balanced(), "{stage:?}");
        }
        let (total, others) = (pipeline.counters(), pipeline.others());
        prop_assert_eq!(total.entered.packets - others.entered.packets, packets.len() as u64);
        prop_assert_eq!(total.left.packets - others.left.packets, late.len() as u64);
    }
}

/// Departures of own packets when all of others' are sent by hand, as packets from 1,000,000 on.
fn merged(link: &str, own: &[Packet<u64>], others: &[Sent]) -> Vec<(u64, Instant)> {
    let others = others.iter().zip(1_000_000..).map(|(sent, id)| Packet {
        flow: sent.flow,
        ..packet(id, 0, sent.octets, sent.at)
    });
    let mut packets: Vec<_> = others.chain(own.iter().cloned()).collect();
    // Others first at the same instant, as the sort is stable.
    packets.sort_by_key(|packet| packet.at);
    let left = run(
        &mut build(&spec(&format!("[{{ {link} }}]")), 1).unwrap(),
        packets,
    );
    let own = left.iter().filter(|packet| packet.body < 1_000_000);
    own.map(|packet| (packet.body, packet.at)).collect()
}

#[test]
fn others_packets_do_what_the_same_packets_by_hand_would_do() {
    let begin = Instant::from_millis(100);
    let own: Vec<_> = (0..2_000)
        .map(|id| packet(id, 7, 1_000, begin + Duration::from_micros(1_700 * id)))
        .collect();
    let schedule = Schedule {
        rates: vec!["6Mbit".parse().unwrap()],
        each: Duration::ZERO,
        repeats: true,
    };
    let mut source = Source::new(Pace::Even, Sizes::Mix(vec![576]), schedule, 99);
    source.begin(begin);
    let others: Vec<_> = std::iter::from_fn(|| source.take()).take(8_000).collect();
    for queue in [
        "fifo', packets = 10",
        "codel', target = '1ms', interval = '10ms'",
    ] {
        let link = format!("kind = 'rate', rate = '10Mbit', queue = {{ kind = '{queue} }}");
        let shared = format!(
            "[{{ {link}, cross = {{ pace = 'even', rates = ['6Mbit'], sizes = [576] }} }}]"
        );
        let left = run(&mut built(&spec(&shared), 1), own.clone());
        let left: Vec<_> = left.iter().map(|packet| (packet.body, packet.at)).collect();
        assert_eq!(left, merged(&link, &own, &others));
        assert!(
            left.len() < 2_000 && left.len() > 1_000,
            "{}: some are lost",
            left.len()
        );
    }
}

#[test]
fn what_is_left_is_what_others_leave() {
    // 4.706 Mbit/s of 1,000 octets meet 1, 3, 5, 6 Mbit/s of others on 10 Mbit/s: the last one is too much.
    let path = spec(
        "[{ kind = 'rate', rate = '10Mbit', queue = { kind = 'fifo', packets = 50 }, cross = { pace = 'even', rates = ['1Mbit', '3Mbit', '5Mbit', '6Mbit'], each = '10s' } }]",
    );
    let own = (0..23_000).map(|id| packet(id, 7, 1_000, Instant::from_nanos(1_700_000 * id)));
    let mut pipeline = built(&path, 1);
    let left = run(&mut pipeline, own);
    let in_step = |step: u64| {
        let (from, to) = (
            Instant::from_millis(step * 10_000 + 1_000),
            Instant::from_millis(step * 10_000 + 9_000),
        );
        left.iter()
            .filter(|packet| from <= packet.at && packet.at < to)
            .count() as f64
            * 8e-3
            / 8.0
    };
    for step in 0..3 {
        assert!((in_step(step) - 4.706).abs() < 0.01, "{}", in_step(step));
    }
    assert!(in_step(3) < 4.6, "{}", in_step(3));
    let sent = pipeline.others().entered.bytes as f64 * 8.0 / 1e6;
    assert!((sent - 145.0).abs() < 7.0, "{sent} Mbit in 39.1 s");
    assert!(pipeline.stages().next().unwrap().others == pipeline.others());
}

#[test]
fn nobody_is_made_up_while_nobody_is_there_to_see_it() {
    let path =
        spec("[{ kind = 'rate', rate = '1Gbit', cross = { pace = 'even', rates = ['500Mbit'] } }]");
    let mut pipeline = built(&path, 1);
    let mut out = VecDeque::new();
    let wake = pipeline.process(
        Some(packet(0, 0, 1_500, Instant::ZERO)),
        Instant::ZERO,
        &mut out,
    );
    let wake = pipeline.process(None, wake.unwrap(), &mut out);
    assert_eq!(
        (wake, out.len()),
        (None, 1),
        "it asks for nothing with no own packet inside"
    );
    let hours = Instant::from_millis(36_000_000);
    let mut wake = pipeline.process(Some(packet(1, 0, 1_500, hours)), hours, &mut out);
    while let Some(due) = wake {
        wake = pipeline.process(None, due, &mut out);
    }
    assert_eq!(out.len(), 2);
    // 41,667 in a second: ten seconds after the first packet, two before the second.
    let packets = pipeline.others().entered.packets;
    assert!((499_000..502_000).contains(&packets), "{packets}");
}

#[test]
fn a_shared_link_says_so_and_survives_writing_and_reading() {
    #[derive(serde::Deserialize, serde::Serialize)]
    struct Topology {
        path: Spec,
    }
    let text = "path = [{ kind = 'rate', rate = '10Mbit', queue = { kind = 'fifo', packets = 50 }, cross = { pace = 'even', rates = ['1Mbit', '3Mbit'], each = '45s', recording = 'web-page' } }]";
    let topology: Topology = toml::from_str(text).unwrap();
    assert_eq!(
        topology.path.describe(),
        "10 Mbit/s, fifo 50 packets (60 ms), shared with 1 Mbit/s, 3 Mbit/s (45 s each), even, sizes of web-page"
    );
    let again: Topology = toml::from_str(&toml::to_string(&topology).unwrap()).unwrap();
    assert_eq!(again.path, topology.path);
    let recorded =
        spec("[{ kind = 'trace', trace = 't', cross = { pace = 'recorded', recording = 'r' } }]");
    assert_eq!(
        recorded.describe(),
        "trace t, fifo 1000 packets, shared with others as recorded in r"
    );
}

#[test]
fn what_is_wrong_with_others_is_refused_with_what_to_write_instead() {
    let refusal = |cross: &str| {
        let path = spec(&format!(
            "[{{ kind = 'rate', rate = '10Mbit', cross = {{ {cross} }} }}]"
        ));
        let resolve = |name: &str| {
            if name == "r" {
                Ok("1 40\n2".to_owned())
            } else {
                Err("none".into())
            }
        };
        path.build::<u64>(1, &resolve, &Assigned::default())
            .err()
            .unwrap()
            .to_string()
    };
    for (cross, what) in [
        ("pace = 'even'", "stage 1: cross has no rates"),
        (
            "pace = 'poisson', rates = ['1Mbit', '2Mbit']",
            "stage 1: cross has several rates and no time for each",
        ),
        (
            "pace = 'even', rates = ['1000Gbit']",
            "stage 1: cross has a rate above 100 Gbit/s",
        ),
        (
            "pace = 'even', rates = ['1Mbit'], sizes = [0]",
            "stage 1: cross has sizes that no packet has",
        ),
        (
            "pace = 'even', rates = ['1Mbit'], sizes = [40], recording = 'r'",
            "stage 1: cross has both",
        ),
        (
            "pace = 'recorded', rates = ['1Mbit']",
            "stage 1: cross is recorded and names no recording",
        ),
        (
            "pace = 'recorded', recording = 'r'",
            "stage 1: r: recording line 2: '2' is no packet",
        ),
        (
            "pace = 'recorded', recording = 'x'",
            "stage 1: trace 'x' cannot be read (none)",
        ),
    ] {
        let found = refusal(cross);
        assert!(found.starts_with(what), "{found}");
    }
}

#[test]
fn the_same_seed_makes_the_same_packets_and_another_makes_others() {
    let row = |seed| {
        let schedule = Schedule {
            rates: vec!["6Mbit".parse().unwrap()],
            each: Duration::ZERO,
            repeats: true,
        };
        let mut source = Source::new(Pace::Poisson, Sizes::Mix(vec![40, 1_500]), schedule, seed);
        source.begin(Instant::ZERO);
        let packets = std::iter::from_fn(|| source.take()).take(100);
        packets.collect::<Vec<_>>()
    };
    assert_eq!(row(1), row(1));
    assert_ne!(row(1), row(2));
    let mut flows: Vec<FlowId> = row(1).iter().map(|sent| sent.flow).collect();
    flows.sort_by_key(|flow| flow.0);
    flows.dedup();
    assert_eq!(flows.len(), 16);
}
