use super::*;
use crate::packet::Payload;
use proptest::prelude::*;

/// Holds manager/padding, manager/whole-rider, manager/cut-rider, manager/single-rider.
#[test]
fn a_probe_is_as_long_as_asked_and_takes_what_waits() {
    let mut world = World::new(config());
    world.offer(ip::packet(1, 500)).unwrap();
    world.offer(ip::packet(2, 100)).unwrap();
    world.begin(train(3, 400, 100)).unwrap();
    world.advance(us(200));
    let octets: Vec<_> = world.left.iter().map(Left::octets).collect();
    assert_eq!(octets, [400; 3]);
    // 400 octets without 60 of headers and 4 of the tool's: 336, of which a fragment's header takes 8.
    let carried: Vec<_> = world
        .left
        .iter()
        .map(|left| {
            (
                left.packet().payload.unwrap().length(),
                left.packet().padding,
            )
        })
        .collect();
    assert_eq!(carried, [(336, 0), (8 + 172, 156), (100, 236)]);
    assert!(matches!(
        world.left[2].packet().payload,
        Some(Payload::Whole(_))
    ));
    let counters = world.peer.counters();
    assert_eq!((counters.riders, counters.riding_pieces), (3, 2));
    assert_eq!(
        (counters.riding_octets, counters.padding_octets),
        (600, 392)
    );
    assert_eq!(counters.saved_octets, 600 + 2 * 60);
    assert_eq!(counters.sent_octets, 1_200);
}

#[test]
fn what_is_too_long_for_the_path_leaves_in_parts_and_arrives_whole() {
    let mut world = World::new(config());
    world.peer.set_path_mtu(500);
    let packets = [ip::packet(1, 1_400), ip::packet(2, 440), ip::packet(3, 441)];
    for packet in packets.clone() {
        world.offer(packet).unwrap();
    }
    world.begin(train(1, 300, 0)).unwrap();
    assert_eq!(world.begin(train(1, 501, 0)), Err(Refusal::Long(0, 500)));
    world.advance(us(20_000));
    // 60 octets of headers, and 8 of a fragment's: the probe takes 228 octets of the first packet, and 1,172 follow.
    let octets: Vec<_> = world.left.iter().map(Left::octets).collect();
    assert_eq!(octets, [300, 500, 500, 376, 500, 500, 77]);
    assert_eq!(world.peer.counters().split, 3);
    let mut far = Peer::new(config());
    let came = world.left.iter();
    let came = came.filter_map(|left| far.handle(&left.datagram, 0, us(20_000), tag).ok()?.packet);
    assert_eq!(came.collect::<Vec<_>>(), packets);
    world.peer.set_path_mtu(u16::MAX);
    assert_eq!(world.peer.path_mtu(), config().mtu);
}

/// Holds manager/rest.
#[test]
fn the_rest_of_a_cut_packet_leaves_when_the_train_is_over_and_before_the_next() {
    let mut world = World::new(config());
    world.offer(ip::packet(1, 1_000)).unwrap();
    let begun = [train(1, 400, 0), train(1, 400, 0)].map(|train| world.begin(train));
    assert_eq!(begun, [Ok(0), Ok(1)]);
    let kinds: Vec<_> = world
        .left
        .iter()
        .map(|left| {
            (
                left.packet().probe.is_some(),
                left.packet().payload.is_some(),
            )
        })
        .collect();
    assert_eq!(kinds, [(true, true), (false, true), (true, false)]);
    let counters = world.peer.counters();
    assert_eq!(counters.rests, 1);
    assert_eq!(counters.saved_octets, 328 - 8, "the rest has a header more");
    assert!(world.left.iter().all(|left| left.at == Instant::ZERO));
}

/// Holds manager/transactions.
#[test]
fn packets_leave_in_the_gaps_and_two_trains_never_overlap() {
    let mut world = World::new(Config {
        delay: Duration::ZERO,
        ..config()
    });
    world.begin(train(3, 400, 100)).unwrap();
    world.begin(train(2, 500, 100)).unwrap();
    world.advance(us(50));
    world.offer(ip::packet(1, 1_000)).unwrap();
    world.advance(us(1_000));
    let left: Vec<_> = world
        .left
        .iter()
        .map(|left| (left.at.as_nanos() / 1_000, left.octets()))
        .collect();
    assert_eq!(
        left,
        [
            (0, 400),
            (50, 1_060),
            (100, 400),
            (200, 400),
            (200, 500),
            (300, 500)
        ]
    );
    assert_eq!(world.finished.len(), 2);
}

/// Holds manager/table-3-1, manager/audit.
#[test]
fn the_audit_tells_departures_as_they_were_and_the_plan_stays() {
    let mut peer = Peer::new(config());
    let began = peer.begin(train(3, 400, 100), Duration::from_micros(7), us(0));
    assert_eq!(began, Ok(0));
    let mut dues = Vec::new();
    // The first probe leaves 2 us late and sets the start; the second one is 5 us late, the third one 1 us.
    for late in [2, 5, 1] {
        let due = peer.next_timeout().unwrap();
        let probe = peer.poll_transmit(due).unwrap();
        peer.sent(probe.sequence, due + Duration::from_micros(late));
        dues.push(due);
    }
    assert_eq!(dues, [0, 102, 202].map(us));
    let finished = peer.poll_finished().unwrap();
    let actual = finished.outcome.gaps.iter().map(|gap| gap.actual);
    let actual: Vec<_> = actual.map(|gap| gap.as_micros()).collect();
    assert_eq!(actual, [0, 105, 96]);
    let outcome = &finished.outcome;
    assert_eq!(outcome.transmission, Duration::from_micros(201));
    assert_eq!(outcome.planned, Duration::from_micros(200));
    assert_eq!(outcome.handover, Duration::from_micros(7));
    assert_eq!(outcome.worst_error(), Duration::from_micros(5));
    assert_eq!(peer.next_timeout(), None);
}

#[test]
fn who_does_not_tell_departures_still_gets_an_outcome() {
    let mut peer = Peer::new(config());
    peer.begin(train(2, 400, 100), Duration::ZERO, us(0))
        .unwrap();
    assert!(peer.poll_transmit(us(0)).is_some());
    assert!(peer.poll_transmit(us(103)).is_some());
    assert_eq!(peer.next_timeout(), Some(Instant::ZERO), "at once");
    assert!(peer.poll_transmit(us(103)).is_none());
    let outcome = peer.poll_finished().unwrap().outcome;
    assert_eq!(outcome.transmission, Duration::from_micros(103));
}

/// Holds manager/rest.
#[test]
fn who_calls_off_loses_no_packet() {
    let mut world = World::new(config());
    for number in 0..10 {
        world.offer(ip::packet(number, 1_000)).unwrap();
    }
    let number = world.begin(train(100, 400, 1_000)).unwrap();
    let next = world.begin(train(100, 400, 1_000)).unwrap();
    world.advance(us(4_500));
    assert!(world.peer.call_off(number) && !world.peer.call_off(number));
    world.peer.call_off_all();
    world.drain();
    let outcome = &world.finished[0].outcome;
    assert_eq!((outcome.is_called_off, outcome.gaps.len()), (true, 5));
    assert_eq!(outcome.transmission, Duration::from_millis(4));
    assert_eq!(world.finished[1].number, next);
    assert!(world.finished[1].outcome.gaps.is_empty());
    let rest = world.left.last().unwrap();
    assert_eq!((rest.at, rest.packet().probe), (us(4_500), None), "at once");
    world.advance(us(10_000));
    let octets = world.left.iter().map(|left| match left.packet().payload {
        Some(Payload::Whole(octets)) => octets.len(),
        Some(Payload::Fragment(fragment)) => fragment.octets.len(),
        None => 0,
    });
    assert_eq!(octets.sum::<usize>(), 10_000);
    assert_eq!(world.peer.counters().called_off, 2);
}

/// Holds manager/probe-flag.
#[test]
fn only_probes_that_may_carry_do() {
    let mut world = World::new(Config {
        policy: Policy {
            ratio: 0.5,
            fragments: false,
            ..Policy::default()
        },
        ..config()
    });
    for number in 0..5 {
        world.offer(ip::packet(number, 300)).unwrap();
    }
    let mut asked = train(6, 400, 100);
    asked.probes[1].may_carry = false;
    asked.probes[2].octets = 300;
    world.begin(asked).unwrap();
    world.advance(us(600));
    let carried: Vec<_> = world
        .left
        .iter()
        .map(|left| left.packet().payload.is_some())
        .collect();
    // The second may not, the third is too small for what may not be cut, and the others are behind the first half.
    assert_eq!(carried, [true, false, false, false, false, false]);
}

#[test]
fn what_must_not_ride_does_not_wait() {
    let mut world = World::new(config());
    world.offer(ip::packet(1, 100)).unwrap();
    let now = world.now;
    world.peer.offer(ip::packet(2, 100), false, now).unwrap();
    world.drain();
    assert_eq!(world.left.len(), 1);
    assert_eq!(world.peer.counters().prompt, 1);
    let mut off = World::new(Config {
        policy: Policy {
            riding: false,
            ..Policy::default()
        },
        ..config()
    });
    off.offer(ip::packet(1, 100)).unwrap();
    assert_eq!(off.left.len(), 1);
}

#[test]
fn what_is_too_much_is_refused_and_counted() {
    let mut peer = Peer::new(Config {
        waiting_octets: 2_000,
        transactions: 2,
        budget: Some(Budget {
            octets_per_second: 1_000,
            burst: 5_000,
        }),
        ..config()
    });
    let mut offer = |packet, may_ride| peer.offer(packet, may_ride, us(0));
    for may_ride in [true, false] {
        assert_eq!(offer(ip::packet(1, 1_440), may_ride), Ok(()));
        assert_eq!(offer(ip::packet(2, 600), may_ride), Err(Dropped::Full));
    }
    assert_eq!(offer(ip::packet(3, 1_441), true), Err(Dropped::Long));
    assert_eq!(offer(vec![0; 40], true), Err(Dropped::NotIp));
    let mut begin = |count| peer.begin(train(count, 500, 0), Duration::ZERO, us(0));
    assert_eq!(begin(0), Err(Refusal::Count(0)));
    assert_eq!(begin(11), Err(Refusal::Budget(1_000)));
    assert_eq!((begin(5), begin(5)), (Ok(0), Ok(1)));
    assert_eq!(begin(1), Err(Refusal::Queue(2)));
    let counters = peer.counters();
    let offered = (counters.offered_packets, counters.offered_octets);
    assert_eq!(offered, (6, 2 * 2_040 + 1_481));
    let dropped = [
        counters.dropped_full,
        counters.dropped_long,
        counters.dropped_not_ip,
    ];
    assert_eq!(dropped, [2, 1, 1]);
    let refused = [
        counters.refused_shape,
        counters.refused_budget,
        counters.refused_queue,
    ];
    assert_eq!(refused, [1, 1, 1]);
    // A transaction that is over makes no room before it was fetched.
    while peer.poll_transmit(us(0)).is_some() {}
    let again = |peer: &mut Peer| peer.begin(train(1, 500, 0), Duration::ZERO, us(2_000_000));
    assert_eq!(again(&mut peer), Err(Refusal::Queue(2)));
    assert!(peer.poll_finished().is_some());
    assert_eq!(again(&mut peer), Ok(2));
}

proptest! {
    /// Holds manager/buffer.
    #[test]
    fn without_trains_each_packet_leaves_the_delay_after_it_came(
        offers in prop::collection::vec((0_u64..4_000, 20_u16..1_400), 1..60),
    ) {
        let mut world = World::new(config());
        let (mut came, mut at) = (Vec::new(), 0);
        for (number, (later, length)) in (0..).zip(offers) {
            at += later;
            world.advance(us(at));
            world.offer(ip::packet(number, length)).unwrap();
            came.push((us(at + 10_000), ip::packet(number, length)));
        }
        world.advance(us(at + 10_000));
        let left: Vec<_> = world.left.iter().map(|left| {
            let Some(Payload::Whole(octets)) = left.packet().payload else { panic!("cut it was") };
            (left.at, octets.to_vec())
        }).collect();
        prop_assert_eq!(left, came);
    }

    /// Holds manager/probe-group, manager/empty-probe.
    #[test]
    fn probes_leave_as_planned_whatever_rides(
        offers in prop::collection::vec((0_u64..1_000, 20_u16..1_400, any::<bool>()), 0..60),
        probes in prop::collection::vec((0_u64..3_000, 64_u16..1_500), 1..40),
    ) {
        let mut asked = train(u32::try_from(probes.len()).unwrap(), 64, 0);
        for (probe, (gap, octets)) in asked.probes.iter_mut().zip(&probes) {
            (probe.gap, probe.octets) = (Duration::from_micros(*gap), *octets);
        }
        let mut world = World::new(config());
        world.advance(us(500));
        world.begin(asked).unwrap();
        let mut at = 500;
        for (number, (later, length, may_ride)) in (0..).zip(offers) {
            at += later;
            world.advance(us(at));
            let now = world.now;
            world.peer.offer(ip::packet(number, length), may_ride, now).unwrap();
            world.drain();
        }
        world.advance(us(200_000));
        let mut due = us(500);
        for (place, (probe, (gap, octets))) in world.probes().zip(&probes).enumerate() {
            due += Duration::from_micros(if place == 0 { 0 } else { *gap });
            prop_assert_eq!((probe.at, probe.octets()), (due, usize::from(*octets)));
            prop_assert_eq!(probe.packet().stamp_ns, due.as_nanos());
        }
        prop_assert_eq!(world.probes().count(), probes.len());
        prop_assert_eq!(world.finished[0].outcome.worst_error(), Duration::ZERO);
    }
}
