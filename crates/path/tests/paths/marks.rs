//! What a remarking network does to the traffic-class octet, and a blackhole to a version of IP.

use crate::world::{build, packet, run, spec};
use isobath_path::{Element, Family, Packet};
use proptest::prelude::*;
use units::{Dscp, Ecn, Instant, TrafficClass};

/// One packet of every traffic class, in the order of the octet.
fn every_class() -> Vec<Packet<u64>> {
    let classes = (0..=255).map(TrafficClass::from_octet);
    let marked = classes.zip(0..).map(|(class, id)| Packet {
        dscp: class.dscp,
        ecn: class.ecn,
        ..packet(id, id, 1_000, Instant::from_millis(id))
    });
    marked.collect()
}

/// Each class before and after `stage`.
fn changes(stage: &str) -> Vec<(TrafficClass, TrafficClass)> {
    let mut path = build(&spec(&format!("[{{ kind = 'remark', {stage} }}]")), 1).unwrap();
    let sent = every_class();
    let left = run(&mut path, sent.clone());
    let class = |p: &Packet<u64>| TrafficClass {
        dscp: p.dscp,
        ecn: p.ecn,
    };
    let pairs = sent.iter().zip(&left);
    pairs.map(|(a, b)| (class(a), class(b))).collect()
}

#[test]
fn a_table_changes_what_it_names_and_leaves_ecn_alone() {
    for (before, after) in changes("dscp = { EF = 'CS1', 3 = 'CS7' }") {
        let expected = match before.dscp.get() {
            46 => 8,
            3 => 56,
            other => other,
        };
        assert_eq!((after.dscp.get(), after.ecn), (expected, before.ecn));
    }
}

#[test]
fn the_star_is_every_dscp_without_an_entry_of_its_own() {
    for (before, after) in changes("dscp = { EF = 'EF', '*' = 'CS0' }") {
        let kept = before.dscp == Dscp::EF;
        assert_eq!(after.dscp, if kept { Dscp::EF } else { Dscp::CS0 });
    }
}

#[test]
fn bleaching_clears_ecn_and_leaves_the_dscp_alone() {
    for (before, after) in changes("ecn = 'bleach'") {
        assert_eq!((after.dscp, after.ecn), (before.dscp, Ecn::NotEct));
    }
}

#[test]
fn only_packets_of_a_capable_transport_are_marked_and_each_is_counted_once() {
    for (before, after) in changes("ecn = 'ce'") {
        let capable = before.ecn.is_capable();
        assert_eq!(after.ecn, if capable { Ecn::Ce } else { Ecn::NotEct });
    }
    let mut path = build(&spec("[{ kind = 'remark', ecn = 'ce' }]"), 1).unwrap();
    run(&mut path, every_class());
    // 64 DSCPs with ECT(0) and with ECT(1); the others are not capable, or CE already.
    assert_eq!(path.counters().marked.packets, 128);
}

#[test]
fn a_blackhole_takes_one_version_of_ip_and_counts_it_as_lost() {
    let mut path = build(&spec("[{ kind = 'blackhole', family = 6 }]"), 1).unwrap();
    let packets = (0..10).map(|id| Packet {
        family: if id % 2 == 0 { Family::V4 } else { Family::V6 },
        ..packet(id, id, 1_000, Instant::from_millis(id))
    });
    let left = run(&mut path, packets);
    assert_eq!(left.len(), 5);
    assert!(left.iter().all(|packet| packet.family == Family::V4));
    assert_eq!(path.counters().loss.packets, 5);
}

proptest! {
    #[test]
    fn remarking_changes_nothing_but_marks_of_the_chosen_share(
        probability in 0.0_f64..=1.0,
        seed: u64,
    ) {
        let stage = format!("[{{ kind = 'remark', dscp = {{ '*' = 'CS0' }}, probability = {probability:.6} }}]");
        let sent: Vec<_> = (0..2_000)
            .map(|id| Packet { dscp: Dscp::EF, ..packet(id, id, 1_000, Instant::from_millis(id)) })
            .collect();
        let left = run(&mut build(&spec(&stage), seed).unwrap(), sent.clone());
        let changed = left.iter().filter(|packet| packet.dscp == Dscp::CS0).count() as f64;
        let unmarked: Vec<_> = left.into_iter().map(|p| Packet { dscp: Dscp::EF, ..p }).collect();
        prop_assert_eq!(unmarked, sent);
        let sigma = (2_000.0 * probability * (1.0 - probability)).sqrt();
        prop_assert!((changed - 2_000.0 * probability).abs() <= 6.0 * sigma + 1.0);
    }
}
