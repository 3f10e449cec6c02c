//! Figures of the thesis.

use super::*;
use crate::packet::Payload;
use crate::transaction::Riders;
use std::collections::BTreeMap;

/// Packets of a source of constant rate: one of 1,440 octets every 2.88 ms is 4 Mbit/s.
const SOURCE: (u16, u64) = (1_440, 2_880);

/// The source, and `begin` at each moment it asks for, for `total_us`; `begin` says when it wants to be asked again.
fn run(
    config: Config,
    total_us: u64,
    mut begin: impl FnMut(&mut World) -> Option<Instant>,
) -> World {
    let mut world = World::new(config);
    let mut next = Some(Instant::ZERO);
    for number in 0..u32::try_from(total_us / SOURCE.1).unwrap() {
        let at = us(u64::from(number) * SOURCE.1);
        while let Some(due) = next.filter(|due| *due <= at) {
            world.advance(due);
            next = begin(&mut world);
        }
        world.advance(at);
        world.offer(ip::packet(number, SOURCE.0)).unwrap();
    }
    world.advance(us(total_us + 10_000));
    world
}

/// pk2 of T table 5.1: 20 probes of 500 octets, 1 ms apart, and 20 ms from each train to the next.
fn pk2(world: &mut World) -> Instant {
    world.begin(train(20, 500, 1_000)).unwrap();
    world.now + Duration::from_millis(39)
}

/// What the trains add to what the source takes without them, as a share of what they add when nothing rides.
///
/// T's figures show the probes' traffic nearly gone (section 5.2, figure 5.3). Here every probe of a train finds a rider and one octet of padding
/// in a thousand is left; but of each 500 octets 60 are headers of the carrier and of MGRP, 4 are the tool's and 8 a fragment's, and that each packet
/// that rides spares a datagram's 60 does not make up for it: 15.1 % remains, and 13.5 % on the raw carrier.
#[test]
fn probes_that_carry_add_their_headers_and_next_to_no_padding() {
    for (carrier, most) in [(Carrier::UdpV4, 0.152), (Carrier::RawV4, 0.136)] {
        let [alone, beside, riding] = three(carrier);
        let added = |counters: &Counters| counters.sent_octets - alone.sent_octets;
        assert_eq!(added(&beside), beside.sent_probe_octets);
        assert_eq!(
            added(&riding),
            beside.sent_probe_octets - riding.saved_octets
        );
        let share = |part: u64, whole: u64| part as f64 / whole as f64;
        let left = share(added(&riding), added(&beside));
        assert!(left < most, "{carrier:?}: {left}");
        assert!(share(riding.padding_octets, beside.padding_octets) < 0.001);
        assert!(share(riding.riders, riding.sent_probes) > 0.999);
        let total = share(riding.sent_octets, beside.sent_octets);
        assert!(total < 0.72, "{carrier:?}: {total}");
    }
}

/// Ten seconds of the source: alone, with trains beside it, and with trains on which it rides.
fn three(carrier: Carrier) -> [Counters; 3] {
    const TOTAL: u64 = 10_000_000;
    let config = Config {
        carrier,
        ..config()
    };
    let beside = Config {
        policy: Policy {
            riding: false,
            ..Policy::default()
        },
        ..config
    };
    [
        run(config, TOTAL, |_| None),
        run(beside, TOTAL, |world| Some(pk2(world))),
        run(config, TOTAL, |world| Some(pk2(world))),
    ]
    .map(|world| world.peer.counters())
}

/// T section 4.5.2: 30 probes of 400 octets, 300 us apart. There 26 probes carried 7,696 octets and 16 of them, with 4,752, carried what would
/// have competed: 4.4 Mbit/s over the train.
#[test]
fn riders_that_would_have_competed_are_those_that_came_while_the_train_was_sent() {
    let mut asked = Some(train(30, 400, 300));
    let world = run(config(), 60_000, |world| {
        if world.now == us(30_000) {
            world.begin(asked.take()?).unwrap();
        }
        asked.as_ref().map(|_| us(30_000))
    });
    let outcome = &world.finished[0].outcome;
    assert_eq!(outcome.gaps.len(), 30);
    assert_eq!(world.peer.counters().sent_probe_octets, 12_000);
    assert_eq!(outcome.planned, Duration::from_nanos(8_700_000));
    assert_eq!(outcome.transmission, outcome.planned);
    let (mut riders, mut competing) = (Riders::default(), Riders::default());
    let mut cut = BTreeMap::new();
    for (packet, octets) in world.probes().map(|probe| rider(probe, &mut cut)) {
        riders.add(octets);
        if (30_000..=38_700).contains(&(packet * SOURCE.1)) {
            competing.add(octets);
        }
    }
    assert_eq!((outcome.riders, outcome.competing), (riders, competing));
    assert_eq!((riders.probes, riders.octets), (30, 8_840));
    // 3.9 Mbit/s of the source's 4.
    assert_eq!((competing.probes, competing.octets), (14, 4_192));
}

/// Which of the source's packets a probe carries, and how many octets of it.
fn rider(probe: &Left, cut: &mut BTreeMap<u32, u64>) -> (u64, usize) {
    let number = |octets: &[u8]| octets[12..16].try_into().map(u32::from_be_bytes).unwrap();
    match probe.packet().payload.unwrap() {
        Payload::Whole(octets) => (number(octets).into(), octets.len()),
        Payload::Fragment(piece) => {
            if piece.offset == 0 {
                cut.insert(piece.id, number(piece.octets).into());
            }
            (cut[&piece.id], piece.octets.len())
        }
    }
}
