//! Elements against formulas.

use crate::world::{build, packet, run, spec};
use isobath_path::{Element, Packet};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use units::{Instant, Rate};

/// `count` packets of `size` octets at the instants of a Poisson process with `mean_gap_ns`.
fn poisson(count: u64, size: u32, mean_gap_ns: f64, seed: u64) -> Vec<Packet<u64>> {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut at = 0.0;
    let arrival = |id| {
        at += -mean_gap_ns * (1.0 - random.random::<f64>()).ln();
        packet(id, 0, size, Instant::ZERO.offset(at as i64))
    };
    (0..count).map(arrival).collect()
}

#[test]
fn a_backlogged_link_sends_its_rate_to_the_nanosecond() {
    let path = spec("[{ kind = 'rate', rate = '7Mbit', queue = { kind = 'fifo' } }]");
    let rate: Rate = "7Mbit".parse().unwrap();
    let sizes = (0..10_000_u64).map(|id| 40 + u32::try_from(id * 7_919 % 1_461).unwrap());
    let packets = sizes
        .zip(0..)
        .map(|(size, id)| packet(id, 0, size, Instant::ZERO));
    let left = run(&mut build(&path, 1).unwrap(), packets);
    let mut bytes = 0;
    for packet in left {
        bytes += u64::from(packet.size);
        assert_eq!(packet.at, Instant::ZERO + rate.time_for(bytes));
    }
}

#[test]
fn delays_add_up_exactly_behind_a_link() {
    let path = spec(
        "[{ kind = 'rate', rate = '12Mbit' }, { kind = 'delay', delay = '12.5ms' },
          { kind = 'delay', delay = '1us' }]",
    );
    let packets = (0..100).map(|id| packet(id, 0, 1_500, Instant::from_millis(id * 10)));
    for left in run(&mut build(&path, 1).unwrap(), packets) {
        // 1 ms on the link, 12.501 ms on the wire.
        let came = Instant::from_millis(left.body * 10);
        assert_eq!(left.at.since(came).as_nanos(), 13_501_000);
    }
}

/// Pollaczek and Khinchine for constant service: the mean wait is `load` / (2 (1 - `load`)) of a
/// service time. The standard error comes from the means of 50 consecutive batches.
#[test]
fn poisson_arrivals_wait_as_long_as_in_an_m_d_1_queue() {
    let service_ns = 1_200_000.0;
    for (load, seed) in [(0.3, 21), (0.5, 22), (0.8, 23)] {
        let packets = poisson(500_000, 1_500, service_ns / load, seed);
        let came: Vec<Instant> = packets.iter().map(|packet| packet.at).collect();
        let path = spec("[{ kind = 'rate', rate = '10Mbit', queue = { kind = 'fifo' } }]");
        let left = run(&mut build(&path, 1).unwrap(), packets);
        let stays = left.iter().zip(&came);
        let waits: Vec<f64> = stays
            .map(|(packet, came)| packet.at.since(*came).as_nanos() as f64 / service_ns - 1.0)
            .collect();
        let batches: Vec<f64> = waits.chunks(10_000).map(mean).collect();
        let mean_wait = mean(&batches);
        let squares: Vec<f64> = batches.iter().map(|b| (b - mean_wait).powi(2)).collect();
        let error = (mean(&squares) / (batches.len() - 1) as f64).sqrt();
        let expected = load / (2.0 * (1.0 - load));
        assert!(
            (mean_wait - expected).abs() < 4.0 * error && error < 0.02 * expected,
            "seed {seed}: {mean_wait} +- {error}, not {expected}"
        );
    }
}

fn mean(values: impl AsRef<[f64]>) -> f64 {
    let values = values.as_ref();
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn a_held_packet_is_overtaken_by_what_comes_within_its_delay() {
    let path = spec("[{ kind = 'reorder', probability = 0.01, delay = '2.5ms' }]");
    let packets = (0..100_000).map(|id| packet(id, 0, 1_500, Instant::from_millis(id)));
    let left = run(&mut build(&path, 4).unwrap(), packets);
    let held: Vec<u64> = left
        .iter()
        .filter(|packet| packet.at != Instant::from_millis(packet.body))
        .map(|packet| {
            packet
                .at
                .since(Instant::from_millis(packet.body))
                .as_micros() as u64
        })
        .collect();
    assert!(held.iter().all(|&us| us == 2_500));
    // 1,000 expected, four times sqrt(1,000 * 0.99) either way.
    assert!((874..=1_126).contains(&held.len()), "{}", held.len());
    let place_of_first = left
        .iter()
        .position(|p| p.at != Instant::from_millis(p.body));
    let place = place_of_first.unwrap();
    assert_eq!(
        left[place].body + 2,
        left[place - 1].body,
        "two have overtaken it"
    );
}

#[test]
fn a_duplicate_leaves_right_behind_its_original() {
    let path = spec("[{ kind = 'duplicate', probability = 0.25 }]");
    let packets = (0..40_000).map(|id| packet(id, 0, 100, Instant::from_millis(id)));
    let mut pipeline = build(&path, 5).unwrap();
    let left = run(&mut pipeline, packets);
    let pairs = left.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert_eq!(pairs as u64, pipeline.counters().duplicated.packets);
    // 10,000 expected, four times sqrt(7,500) either way.
    assert!((9_654..=10_346).contains(&pairs), "{pairs}");
}

#[test]
fn a_byte_limit_holds_what_it_says_beside_the_packet_in_transmission() {
    let path =
        spec("[{ kind = 'rate', rate = '1Mbit', queue = { kind = 'fifo', bytes = '4500B' } }]");
    let packets = (0..10).map(|id| packet(id, 0, 1_500, Instant::ZERO));
    let mut pipeline = build(&path, 1).unwrap();
    let left = run(&mut pipeline, packets);
    assert_eq!(left.len(), 4, "one in transmission and three that wait");
    assert_eq!(pipeline.counters().overflow.packets, 6);
}

#[test]
fn the_seed_and_the_position_decide_what_is_lost() {
    let path = spec("[{ kind = 'loss', probability = 0.5 }, { kind = 'loss', probability = 0.5 }]");
    let packets = || (0..4_000).map(|id| packet(id, 0, 100, Instant::from_millis(id)));
    let survivors = |seed| run(&mut build(&path, seed).unwrap(), packets());
    assert_eq!(survivors(1), survivors(1));
    assert_ne!(survivors(1), survivors(2));
    // Two stages with one stream would lose the same packets, and half would come through.
    let through = survivors(1).len();
    assert!(
        (890..=1_110).contains(&through),
        "{through} of 1,000 expected"
    );
}
