//! Trains that packets make.

use super::*;
use crate::packet::Payload;
use proptest::prelude::*;

/// When each datagram left, in microseconds, its octets, and whether it is a probe.
fn left(world: &World) -> Vec<(u64, usize, bool)> {
    let left = world.left.iter();
    let row = |left: &Left| {
        let us = left.at.as_nanos() / 1_000;
        (us, left.octets(), left.packet().probe.is_some())
    };
    left.map(row).collect()
}

/// Packets of so many octets, 10 us apart.
fn burst(world: &mut World, count: u32, octets: u16) {
    let now = world.now;
    for number in 0..count {
        world.advance(now + Duration::from_micros(10) * number);
        world.offer(ip::packet(number, octets)).unwrap();
    }
}

#[test]
fn an_opportunistic_train_cuts_only_what_the_path_does_not_take() {
    let mut world = World::new(config());
    world.peer.set_path_mtu(500);
    world
        .begin(ranges([0, 100], None, Spacing::UpTo, 200))
        .unwrap();
    burst(&mut world, 3, 400);
    world.offer(ip::packet(3, 1_000)).unwrap();
    world.advance(us(40_000));
    let octets: Vec<_> = left(&world).iter().map(|(_, octets, _)| *octets).collect();
    // 1,000 octets are 432, 432 and 136 behind 68 of headers.
    assert_eq!(octets, [460, 460, 460, 500, 500, 204]);
    assert!(left(&world).iter().all(|(_, _, is_probe)| *is_probe));
}

/// Holds manager/opportunistic.
#[test]
fn packets_of_an_opportunistic_train_leave_as_they_would_have_and_not_an_octet_is_added() {
    let play = |is_probing: bool| {
        let mut world = World::new(config());
        if is_probing {
            world
                .begin(ranges([0, 100], None, Spacing::UpTo, 200))
                .unwrap();
        }
        burst(&mut world, 3, 1_440);
        world.advance(us(150));
        world.offer(ip::packet(3, 40)).unwrap();
        world.advance(us(1_000));
        world.offer(ip::packet(4, 40)).unwrap();
        world.advance(us(20_000));
        world
    };
    let [with, without] = [true, false].map(play);
    let plain = left(&without).into_iter();
    let mut probes = plain
        .map(|(us, octets, _)| (us, octets, true))
        .collect::<Vec<_>>();
    // It came too long after the others to be of their train.
    probes[4].2 = false;
    assert_eq!(left(&with), probes);
    assert_eq!(probes[0], (10_000, 1_500, true));
    let outcome = &with.finished[0].outcome;
    assert!(!outcome.is_called_off);
    let gaps: Vec<_> = outcome
        .gaps
        .iter()
        .map(|gap| gap.actual.as_micros())
        .collect();
    assert_eq!(gaps, [0, 10, 10, 130]);
    assert_eq!(outcome.worst_error(), Duration::ZERO);
    assert_eq!(outcome.planned, Duration::from_micros(150));
    let sent: Vec<_> = outcome
        .sent
        .iter()
        .map(|sent| (sent.sequence, sent.octets))
        .collect();
    assert_eq!(sent, [(0, 1_500), (1, 1_500), (2, 1_500), (3, 100)]);
    let counters = with.peer.counters();
    assert_eq!(counters.padding_octets, 0);
    assert_eq!(
        counters.sent_probe_octets, counters.saved_octets,
        "nothing is added"
    );
}

/// Holds manager/elastic.
#[test]
fn what_waits_is_cut_into_an_elastic_train_and_its_rest_follows_at_once() {
    let mut world = World::new(config());
    world
        .begin(ranges([0, 5], Some(500), Spacing::Fixed, 200))
        .unwrap();
    world.advance(us(3_000));
    assert!(world.left.is_empty(), "nothing to carry");
    burst(&mut world, 3, 1_000);
    world.advance(us(4_000));
    // A probe of 500 takes 440 octets with a fragment's header: a packet of 1,000 is on three.
    let probe = |us: u64| (us, 500, true);
    let told = left(&world);
    assert_eq!(told[..5], [3_000, 3_200, 3_400, 3_600, 3_800].map(probe));
    assert_eq!(told[5..], [(3_800, 60 + 8 + 1_000 - 2 * 432, false)]);
    assert_eq!(world.finished.len(), 1);
    // The third packet was not cut, and waits on.
    world.advance(us(20_000));
    assert_eq!(left(&world).last(), Some(&(13_020, 1_060, false)));
}

#[test]
fn a_train_that_its_packets_outrun_is_over_when_the_first_leaves_beside_it() {
    let outrun = |least| {
        let mut world = World::new(config());
        let asked = ranges([least, 100], Some(1_500), Spacing::Fixed, 4_000);
        world.begin(asked).unwrap();
        burst(&mut world, 10, 1_440);
        world.advance(us(50_000));
        let packets = world
            .left
            .iter()
            .filter(|left| left.packet().payload.is_some());
        assert_eq!(packets.count(), 10, "all have left");
        let probes = world.probes().map(|left| left.at.as_nanos() / 1_000);
        probes.collect::<Vec<_>>()
    };
    // The fourth packet came at 30 us.
    assert_eq!(outrun(0), [0, 4_000, 8_000]);
    assert_eq!(outrun(4)[3], 12_000, "what must leave does");
}

#[test]
fn an_elastic_train_is_over_when_nothing_waits() {
    let mut world = World::new(config());
    world
        .begin(ranges([0, 100], Some(1_500), Spacing::Fixed, 300))
        .unwrap();
    burst(&mut world, 4, 1_440);
    world.advance(us(50_000));
    let probes = [0, 300, 600, 900].map(|us| (us, 1_500, true));
    assert_eq!(left(&world), probes);
    assert_eq!(world.finished[0].outcome.gaps.len(), 4);
    assert_eq!(world.peer.counters().padding_octets, 0);
}

/// Holds manager/semi-elastic.
#[test]
fn a_semi_elastic_train_has_its_least_without_packets_and_more_with_them() {
    let asked = ranges([4, 10], Some(500), Spacing::Fixed, 200);
    let count = |packets: u32| {
        let mut world = World::new(config());
        burst(&mut world, packets, 440);
        world.begin(asked).unwrap();
        world.advance(us(100_000));
        world.finished[0].outcome.gaps.len()
    };
    assert_eq!([0, 3, 7, 10, 15].map(count), [4, 4, 7, 10, 10]);
}

#[test]
fn who_waits_for_packets_lets_others_go_first_and_not_for_ever() {
    let mut world = World::new(config());
    world
        .begin(ranges([0, 9], None, Spacing::UpTo, 200))
        .unwrap();
    world
        .begin(ranges([0, 9], Some(500), Spacing::Fixed, 200))
        .unwrap();
    assert!(!world.peer.keeps_time());
    world.begin(train(3, 400, 100)).unwrap();
    assert!(world.peer.keeps_time());
    world.advance(us(500));
    assert_eq!(left(&world).len(), 3);
    world.advance(us(999_999));
    assert_eq!(world.finished.len(), 1);
    world.advance(us(1_000_000));
    let numbers: Vec<_> = world.finished.iter().map(|train| train.number).collect();
    assert_eq!(numbers, [2, 0, 1]);
    assert!(world.finished[1].outcome.gaps.is_empty());
    assert!(!world.finished[1].outcome.is_called_off);
}

#[test]
fn a_budget_is_charged_with_what_is_added_and_not_with_what_rides() {
    let budget = Budget {
        octets_per_second: 1_000,
        burst: 2_000,
    };
    let world = || {
        World::new(Config {
            budget: Some(budget),
            ..config()
        })
    };
    // Nothing is added, so nothing is taken.
    let mut free = world();
    for _ in 0..10 {
        free.begin(ranges([0, 99], None, Spacing::UpTo, 100))
            .unwrap();
        burst(&mut free, 20, 1_440);
        free.advance(free.now + Duration::from_millis(11));
    }
    assert_eq!(free.probes().count(), 200);
    // What must leave is charged in advance, and what of it rode is given back.
    let mut semi = world();
    let asked = ranges([4, 4], Some(500), Spacing::Fixed, 0);
    burst(&mut semi, 4, 440);
    semi.begin(asked).unwrap();
    assert_eq!(semi.begin(asked), Ok(1), "all of it rode");
    assert_eq!(semi.begin(asked), Err(Refusal::Budget(1_000)));
    // Each probe of an elastic train adds 400 octets: it ends with the one that takes the last of 2,000.
    let mut elastic = world();
    burst(&mut elastic, 20, 40);
    elastic
        .begin(ranges([0, 99], Some(500), Spacing::Fixed, 0))
        .unwrap();
    assert_eq!(elastic.probes().count(), 5);
    elastic.advance(us(20_000));
    assert_eq!(elastic.left.len(), 20, "and the others leave without it");
}

#[test]
fn where_nothing_may_ride_there_is_no_train() {
    let mut world = World::new(Config {
        policy: Policy {
            fragments: false,
            ..Policy::default()
        },
        ..config()
    });
    world
        .begin(ranges([0, 9], Some(500), Spacing::Fixed, 100))
        .unwrap();
    burst(&mut world, 2, 1_000);
    world.advance(us(20_000));
    assert_eq!(
        world.probes().count(),
        0,
        "they do not fit, and are not cut"
    );
    assert_eq!((world.finished.len(), world.left.len()), (1, 2));
}

proptest! {
    #[test]
    fn a_train_keeps_its_bounds_and_beyond_the_least_no_probe_is_empty(
        offers in prop::collection::vec((0_u64..2_000, 20_u16..1_400), 1..60),
        least in 0_u32..10,
        more in 1_u32..20,
        octets in 84_u16..1_500,
        gap in 1_u64..1_000,
        is_fixed: bool,
    ) {
        let asked = if is_fixed {
            ranges([least, least + more], Some(octets), Spacing::Fixed, gap)
        } else {
            ranges([0, more], None, Spacing::UpTo, gap)
        };
        let mut world = World::new(config());
        world.begin(asked).unwrap();
        for (number, (later, length)) in (0..).zip(offers) {
            world.advance(world.now + Duration::from_micros(later));
            world.offer(ip::packet(number, length)).unwrap();
        }
        world.advance(world.now + Duration::from_secs(2));
        let outcome = &world.finished[0].outcome;
        let [fewest, most] = asked.count.map(|count| count as usize);
        prop_assert!((fewest..=most).contains(&outcome.gaps.len()));
        prop_assert_eq!(outcome.worst_error(), Duration::ZERO);
        for (place, (probe, sent)) in world.probes().zip(&outcome.sent).enumerate() {
            prop_assert_eq!(probe.sequence, sent.sequence);
            prop_assert_eq!(probe.octets(), usize::from(sent.octets));
            let packet = probe.packet();
            prop_assert!(place < fewest || packet.payload.is_some());
            if is_fixed {
                prop_assert_eq!(sent.octets, octets);
            } else {
                prop_assert_eq!(packet.padding, 0);
                prop_assert!(matches!(packet.payload, Some(Payload::Whole(_))));
            }
        }
        let mut gaps = outcome.gaps.iter().skip(1).map(|left| left.actual.as_micros());
        let gap = u128::from(gap);
        let is_kept = gaps.all(|left| left == gap || (!is_fixed && left < gap));
        prop_assert!(is_kept);
        prop_assert_eq!(world.probes().count(), outcome.sent.len());
    }
}
