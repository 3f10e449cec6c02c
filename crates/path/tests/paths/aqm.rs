//! What queues do to unresponsive and to responsive senders at 10 Mbit/s.

use crate::world::{build, packet, run, spec};
use isobath_path::{Counters, Element, Packet, Pipeline};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::fmt::Write;
use std::time::Duration;
use units::{Ecn, Instant};

/// 1,500 octets at 10 Mbit/s.
const SERVICE_NS: f64 = 1_200_000.0;
const SECONDS: u64 = 30;

const QUEUES: [(&str, &str); 9] = [
    ("fifo", "kind = 'fifo', packets = 100"),
    ("red", "kind = 'red', packets = 100"),
    ("codel", "kind = 'codel', packets = 100"),
    ("fq_codel", "kind = 'fq_codel', packets = 100"),
    ("pie", "kind = 'pie', packets = 100"),
    ("red ecn", "kind = 'red', packets = 100, ecn = true"),
    ("codel ecn", "kind = 'codel', packets = 100, ecn = true"),
    (
        "fq_codel ecn",
        "kind = 'fq_codel', packets = 100, ecn = true",
    ),
    ("pie ecn", "kind = 'pie', packets = 100, ecn = true"),
];

fn bottleneck(queue: &str) -> Pipeline<u64> {
    let link = format!("[{{ kind = 'rate', rate = '10Mbit', queue = {{ {queue} }} }}]");
    build(&spec(&link), 1).unwrap()
}

/// Poisson arrivals of four flows at `load` times the link's rate.
fn unresponsive(load: f64) -> Vec<Packet<u64>> {
    let mut random = Pcg64::seed_from_u64(42);
    let (mut at, mut packets) = (0.0, Vec::new());
    loop {
        at += -SERVICE_NS / load * (1.0 - random.random::<f64>()).ln();
        let came = Instant::ZERO + Duration::from_secs_f64(at / 1e9);
        if came > Instant::from_millis(SECONDS * 1_000) {
            return packets;
        }
        let id = packets.len() as u64;
        let mut packet = packet(id, random.random_range(0..4), 1_500, came);
        packet.ecn = Ecn::Ect0;
        packets.push(packet);
    }
}

/// Mean and 95th percentile of `stays`, in ms.
fn mean_and_p95(mut stays: Vec<Duration>) -> (f64, f64) {
    stays.sort();
    let ms = |stay: &Duration| stay.as_secs_f64() * 1e3;
    let mean = stays.iter().map(ms).sum::<f64>() / stays.len() as f64;
    (mean, ms(&stays[stays.len() * 95 / 100]))
}

/// One line of a table: what the counters say and how long packets stayed.
fn line(queue: &str, counters: &Counters, stays: Vec<Duration>) -> String {
    let (mean, p95) = mean_and_p95(stays);
    format!(
        "{queue:<14}{:>8}{:>8}{:>8}{:>8}{mean:>10.1}{p95:>9.1}",
        counters.left.packets,
        counters.overflow.packets,
        counters.aqm.packets,
        counters.marked.packets,
    )
}

const HEADER: &str = "queue             left  overfl     aqm  marked   mean_ms   p95_ms";

#[test]
fn unresponsive_load_by_queue() {
    let mut table = String::new();
    for load in [0.5, 0.9, 1.05, 1.5] {
        let packets = unresponsive(load);
        let came: Vec<Instant> = packets.iter().map(|packet| packet.at).collect();
        writeln!(table, "load {load}, {} packets\n{HEADER}", packets.len()).unwrap();
        for (name, queue) in QUEUES {
            let mut link = bottleneck(queue);
            let left = run(&mut link, packets.clone());
            let marked = left.iter().filter(|packet| packet.ecn == Ecn::Ce).count();
            assert_eq!(link.counters().marked.packets, marked as u64, "{name}");
            let stay = |packet: &Packet<u64>| packet.at.since(came[packet.body as usize]);
            let stays = left.iter().map(stay).collect();
            writeln!(table, "{}", line(name, &link.counters(), stays)).unwrap();
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn responsive_load_by_queue() {
    let mut table = format!("{HEADER}\n");
    for (name, queue) in QUEUES {
        let mut link = bottleneck(queue);
        let stays = crate::aimd::run(&mut link, 4, Duration::from_millis(40), SECONDS);
        writeln!(table, "{}", line(name, &link.counters(), stays)).unwrap();
    }
    insta::assert_snapshot!(table);
}

#[test]
fn a_sparse_flow_never_waits_behind_a_bulk_flow_in_fq_codel() {
    // Flow 0 sends twice the link's rate; flow 1 sends 200 octets every 20 ms,
    // from 20 ms on, when the bulk flow is no longer new.
    let bulk = (0..50_000_u64).map(|i| packet(i, 0, 1_500, Instant::from_nanos(i * 600_000)));
    let sparse = (1..=1_500_u64).map(|i| packet(i, 1, 200, Instant::from_nanos(i * 20_000_777)));
    let mut packets: Vec<_> = bulk.chain(sparse).collect();
    packets.sort_by_key(|packet| packet.at);
    let wait = |queue: &str| {
        let left = run(&mut bottleneck(queue), packets.clone());
        let of_sparse = left.iter().filter(|packet| packet.flow.0 == 1);
        let came = |packet: &Packet<u64>| Instant::from_nanos(packet.body * 20_000_777);
        let waits: Vec<_> = of_sparse
            .map(|packet| packet.at.since(came(packet)))
            .collect();
        (waits.len(), waits.into_iter().max().unwrap())
    };
    let (arrived, longest) = wait("kind = 'fq_codel', packets = 1000");
    assert_eq!(arrived, 1_500, "a sparse flow loses nothing");
    // At most the bulk packet in transmission, 1.2 ms, and its own 0.16 ms.
    assert!(longest <= Duration::from_micros(1_360), "{longest:?}");
    let (arrived, longest) = wait("kind = 'fifo', packets = 1000");
    assert!(
        arrived < 1_500 && longest > Duration::from_secs(1),
        "{longest:?}"
    );
}

#[test]
fn bulk_flows_of_unequal_rates_share_fq_codel_equally() {
    // Flows offer 4, 8 and 16 Mbit/s, in packets of 500, 1,000 and 1,500 octets.
    let flow = |flow: u64, size: u32, gap_ns: u64| {
        let count = SECONDS * 1_000_000_000 / gap_ns;
        (0..count).map(move |i| packet(i, flow, size, Instant::from_nanos(i * gap_ns)))
    };
    let mut packets: Vec<_> = flow(0, 500, 1_000_000)
        .chain(flow(1, 1_000, 1_000_000))
        .chain(flow(2, 1_500, 750_000))
        .collect();
    packets.sort_by_key(|packet| packet.at);
    let left = run(
        &mut bottleneck("kind = 'fq_codel', packets = 1000"),
        packets,
    );
    let within = left
        .iter()
        .filter(|packet| packet.at <= Instant::from_millis(SECONDS * 1_000));
    let mut bytes = [0_u64; 3];
    for packet in within {
        bytes[packet.flow.0 as usize] += u64::from(packet.size);
    }
    for share in bytes.map(|bytes| bytes as f64 / bytes_of_link()) {
        assert!((share - 1.0 / 3.0).abs() < 0.005, "{bytes:?}");
    }
}

fn bytes_of_link() -> f64 {
    10e6 / 8.0 * SECONDS as f64
}
