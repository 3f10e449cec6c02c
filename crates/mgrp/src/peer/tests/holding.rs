//! When packets wait.

use super::*;
use proptest::prelude::*;

fn while_probing() -> Config {
    Config {
        hold: Hold::WhileProbing,
        ..config()
    }
}

/// Of packets of 100 octets that come every millisecond from 0 to `last_ms`, how many microseconds each waits; a train of 20 probes
/// that can carry nothing is begun at 20.5 ms and takes 9.5 ms.
fn waits(config: Config, last_ms: u64) -> Vec<u128> {
    let mut world = World::new(config);
    for ms in 0..=last_ms {
        world.advance(us(ms * 1_000));
        let number = u32::try_from(ms).unwrap();
        world.offer(ip::packet(number, 100)).unwrap();
        if ms == 20 {
            world.advance(us(20_500));
            world.begin(train(20, 64, 500)).unwrap();
        }
    }
    world.advance(us((last_ms + 10) * 1_000));
    let alone = world
        .left
        .iter()
        .filter(|left| left.packet().probe.is_none());
    (0..)
        .zip(alone)
        .map(|(ms, left)| left.at.since(us(ms * 1_000)).as_micros())
        .collect()
}

/// Holds manager/buffer.
#[test]
fn nothing_waits_where_nobody_probes() {
    let mut world = World::new(while_probing());
    for number in 0..50 {
        world.advance(us(u64::from(number) * 777));
        world.offer(ip::packet(number, 1_000)).unwrap();
        assert_eq!(world.left.last().map(|left| left.at), Some(world.now));
    }
    let counters = world.peer.counters();
    assert_eq!((counters.prompt, counters.expired), (50, 0));
    assert!(waits(config(), 100).iter().all(|wait| *wait == 10_000));
}

/// Holds manager/buffer.
#[test]
fn packets_wait_from_the_first_train_until_a_second_after_the_last() {
    let waits = waits(while_probing(), 1_100);
    // The train's last probe leaves at 30 ms.
    let (before, rest) = waits.split_at(21);
    let (while_probing, after) = rest.split_at(1_030 - 21);
    assert!(before.iter().all(|wait| *wait == 0), "{before:?}");
    assert!(while_probing.iter().all(|wait| *wait == 10_000));
    // What follows catches up at half the intervals, until one comes when the one before it has left.
    let (catching_up, at_once) = after.split_at(18);
    let expected: Vec<_> = (1..=18).map(|place| 10_000 - 500 * place).collect();
    assert_eq!(catching_up, expected);
    assert!(at_once.iter().all(|wait| *wait == 0), "{at_once:?}");
}

#[test]
fn a_train_that_waits_for_packets_lets_them_wait_and_takes_the_first() {
    let mut world = World::new(while_probing());
    let asked = ranges([0, 10], None, Spacing::UpTo, 5_000);
    world.begin(asked).unwrap();
    world.advance(us(900_000));
    world.offer(ip::packet(1, 100)).unwrap();
    world.advance(us(920_000));
    let left: Vec<_> = world.probes().map(|left| left.at).collect();
    assert_eq!(left, [us(910_000)]);
}

proptest! {
    /// Holds manager/head-of-buffer.
    #[test]
    fn no_packet_overtakes_another_whenever_trains_come_and_go(
        offers in prop::collection::vec((0_u64..30_000, 20_u16..1_400), 1..80),
        trains in prop::collection::vec(0_u64..3_000_000, 0..6),
    ) {
        let mut world = World::new(while_probing());
        let (mut at, mut trains) = (0, trains);
        trains.sort_unstable();
        let (mut trains, mut came) = (trains.into_iter().peekable(), Vec::new());
        for (number, (later, length)) in (0_u32..).zip(offers) {
            at += later;
            while let Some(due) = trains.next_if(|due| *due <= at) {
                world.advance(us(due));
                world.begin(train(20, 300, 400)).unwrap();
            }
            world.advance(us(at));
            world.offer(ip::packet(number, length)).unwrap();
            came.push((us(at), ip::packet(number, length)));
        }
        world.advance(us(at + 40_000));
        let mut far = Peer::new(config());
        let mut arrived = came.iter();
        for left in &world.left {
            let received = far.handle(&left.datagram, 0, left.at, tag).unwrap();
            if let Some(packet) = received.packet {
                let (came, octets) = arrived.next().unwrap();
                prop_assert!(packet == *octets, "in order");
                prop_assert!(left.at <= *came + Duration::from_millis(10), "in time");
            }
        }
        prop_assert!(arrived.next().is_none(), "all");
    }
}
