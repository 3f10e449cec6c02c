//! Two peers and a link between them that loses, repeats and reorders.

use super::*;
use crate::packet::Payload;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// What happens.
#[derive(Clone, Copy, Debug)]
enum Action {
    Offer(u16),
    Begin(u32, u16, u64),
    Ranges(Ranges),
    Path(u16),
}

fn actions() -> impl Strategy<Value = Vec<(u64, Action)>> {
    let action = prop_oneof![
        4 => (20_u16..1_440).prop_map(Action::Offer),
        1 => (200_u16..1_600).prop_map(Action::Path),
        1 => (1_u32..12, 64_u16..1_500, 0_u64..3_000)
            .prop_map(|(count, octets, gap)| Action::Begin(count, octets, gap)),
    ];
    let action = prop_oneof![5 => action, 1 => bounds().prop_map(Action::Ranges)];
    prop::collection::vec((0_u64..4_000, action), 1..60)
}

/// Ranges of all three kinds.
fn bounds() -> impl Strategy<Value = Ranges> {
    let count = (0_u32..12, 1_u32..30).prop_map(|(least, more)| [least, least + more]);
    let size = 84_u16..1_500;
    let fixed = |count, octets, gap| ranges(count, Some(octets), Spacing::Fixed, gap);
    let up_to = |count: [u32; 2], octets, gap| ranges([0, count[1]], octets, Spacing::UpTo, gap);
    (count, size, 0_u64..3_000, 0_u8..4).prop_map(move |(count, octets, gap, kind)| match kind {
        0 => fixed(count, octets, gap),
        1 => fixed([0, count[1]], octets, gap),
        2 => up_to(count, Some(octets), gap),
        _ => up_to(count, None, gap),
    })
}

/// What the link does with a datagram.
#[derive(Clone, Copy, Debug)]
struct Fate {
    is_lost: bool,
    /// Datagrams that overtake it, and its copy.
    late: usize,
    copy: Option<usize>,
}

fn fates(reorder: usize) -> impl Strategy<Value = Vec<Fate>> {
    let copy = prop::option::weighted(0.2, 0..reorder);
    let fate = (prop::bool::weighted(0.15), 0..reorder, copy);
    let fate = fate.prop_map(|(is_lost, late, copy)| Fate {
        is_lost,
        late,
        copy,
    });
    prop::collection::vec(fate, 1..200)
}

/// Runs all actions until nothing is left to be sent; also when each packet came.
fn run(actions: &[(u64, Action)]) -> (World, BTreeMap<u32, (Instant, u16)>) {
    let mut world = World::new(config());
    let (mut came, mut number) = (BTreeMap::new(), 0);
    for (later, action) in actions {
        let at = world.now + Duration::from_micros(*later);
        world.advance(at);
        match *action {
            Action::Offer(length) => {
                world.offer(ip::packet(number, length)).unwrap();
                came.insert(number, (at, length));
                number += 1;
            }
            Action::Begin(count, octets, gap) => {
                let _ = world.begin(train(count, octets, gap));
            }
            Action::Path(octets) => world.peer.set_path_mtu(octets),
            Action::Ranges(ranges) => {
                let _ = world.begin(ranges);
            }
        }
    }
    world.advance(world.now + Duration::from_secs(2));
    (world, came)
}

fn number(packet: &[u8]) -> u32 {
    packet[12..16].try_into().map(u32::from_be_bytes).unwrap()
}

/// For each datagram the number of the packet that it carries, or of which it carries a piece.
fn carried(world: &World) -> Vec<Option<u32>> {
    let mut cut = BTreeMap::new();
    let left = world.left.iter().map(|left| match left.packet().payload? {
        Payload::Whole(octets) => Some(number(octets)),
        Payload::Fragment(fragment) if fragment.offset == 0 => {
            cut.insert(fragment.id, number(fragment.octets));
            Some(number(fragment.octets))
        }
        Payload::Fragment(fragment) => Some(cut[&fragment.id]),
    });
    left.collect()
}

/// Packets that the far end delivers, in their order.
fn deliver(world: &World, fates: &[Fate]) -> Vec<Vec<u8>> {
    let mut queue = Vec::new();
    for (place, left) in world.left.iter().enumerate() {
        let fate = fates[place % fates.len()];
        if !fate.is_lost {
            queue.push((place + fate.late, &left.datagram));
            queue.extend(fate.copy.map(|late| (place + late, &left.datagram)));
        }
    }
    queue.sort_by_key(|(place, _)| *place);
    let mut peer = Peer::new(config());
    let now = world.now;
    let received = queue
        .iter()
        .filter_map(|(_, datagram)| peer.handle(datagram, 0, now, tag).ok()?.packet);
    received.collect()
}

proptest! {
    /// Holds manager/delivery.
    #[test]
    fn a_packet_is_delivered_once_or_lost_with_what_carried_it(
        actions in actions(),
        fates in fates(30),
    ) {
        let (world, came) = run(&actions);
        let lost: BTreeSet<u32> = carried(&world)
            .iter()
            .enumerate()
            .filter(|(place, _)| fates[place % fates.len()].is_lost)
            .filter_map(|(_, number)| *number)
            .collect();
        let mut expected: Vec<_> = came
            .iter()
            .filter(|(number, _)| !lost.contains(number))
            .map(|(number, (_, length))| ip::packet(*number, *length))
            .collect();
        let mut delivered = deliver(&world, &fates);
        delivered.sort();
        expected.sort();
        prop_assert_eq!(delivered, expected);
    }

    /// Holds manager/head-of-buffer.
    #[test]
    fn a_link_that_keeps_order_delivers_in_order(actions in actions(), fates in fates(1)) {
        let (world, _) = run(&actions);
        let delivered = deliver(&world, &fates);
        prop_assert!(delivered.is_sorted_by_key(|packet| number(packet)));
    }

    /// Holds manager/buffer.
    #[test]
    fn no_packet_leaves_later_than_the_delay_and_what_finds_no_probe_leaves_then(actions in actions()) {
        let (world, came) = run(&actions);
        let mut gone = BTreeMap::new();
        for (left, number) in world.left.iter().zip(carried(&world)) {
            let Some(number) = number else { continue };
            gone.insert(number, left.at);
            let due = came[&number].0 + config().delay;
            prop_assert!(left.at <= due);
            // An opportunistic probe leaves when its packet would have.
            let is_plain = left.packet().probe.is_none();
            if is_plain && matches!(left.packet().payload, Some(Payload::Whole(_))) {
                prop_assert_eq!(left.at, due);
            }
        }
        prop_assert_eq!(gone.len(), came.len(), "all have left");
    }
}
