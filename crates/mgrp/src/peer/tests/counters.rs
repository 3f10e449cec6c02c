//! Figures of the thesis.

use super::*;
use crate::packet::Payload;
use crate::transaction::Riders;
use std::collections::BTreeMap;

/// Packets of a source of constant rate: so many octets, and so many microseconds from each to the next.
type Source = (u16, u64);

/// 4 Mbit/s.
const SOURCE: Source = (1_440, 2_880);

/// The source, and `begin` at each moment it asks for, for `total_us`; `begin` says when it wants to be asked again.
fn run(
    config: Config,
    source: Source,
    total_us: u64,
    mut begin: impl FnMut(&mut World) -> Option<Instant>,
) -> World {
    let mut world = World::new(config);
    let mut next = Some(Instant::ZERO);
    for number in 0..u32::try_from(total_us / source.1).unwrap() {
        let at = us(u64::from(number) * source.1);
        while let Some(due) = next.filter(|due| *due <= at) {
            world.advance(due);
            next = begin(&mut world);
        }
        world.advance(at);
        world.offer(ip::packet(number, source.0)).unwrap();
    }
    world.advance(us(total_us + 10_000));
    world
}

/// A source with trains of 20 probes beside it, and what is left of what they add when it rides on them.
struct Case {
    carrier: Carrier,
    source: Source,
    /// Octets of a probe, and microseconds from each to the next.
    probe: (u16, u64),
    /// Against what the source takes through the manager, and against what it takes without one.
    left: [f64; 2],
}

/// What the trains add to what the source takes without them, as a share of what they add when nothing rides.
///
/// T's figures show the probes' traffic nearly gone (section 5.2, figure 5.3). Of pk2 (T table 5.1), which is the first case, nearly every probe
/// finds a rider and one octet of padding in a thousand is left; but of each 500 octets 60 are headers of the carrier and of MGRP, 4 are the
/// tool's and 8 a fragment's, and most packets that were cut leave a rest behind, which needs a datagram. So 15 % is left.
/// The third case's packets ride whole, and the fourth one's probes are larger, at the same rate.
#[test]
fn probes_that_carry_add_their_headers_and_next_to_no_padding() {
    let pk2 = (500, 1_000);
    let cases = [
        (Carrier::UdpV4, SOURCE, pk2, [0.1505, 0.2316]),
        (Carrier::RawV4, SOURCE, pk2, [0.1346, 0.2049]),
        (Carrier::UdpV4, (400, 800), pk2, [0.0802, 0.3720]),
        (Carrier::UdpV4, SOURCE, (1_500, 3_000), [0.0544, 0.1078]),
    ];
    for (carrier, source, probe, left) in cases {
        Case {
            carrier,
            source,
            probe,
            left,
        }
        .check();
    }
}

impl Case {
    fn check(&self) {
        let [alone, beside, riding] = [(false, true), (true, false), (true, true)]
            .map(|(probes, rides)| self.count(probes, rides));
        let added = |counters: &Counters| counters.sent_octets - alone.sent_octets;
        assert_eq!(added(&beside), beside.sent_probe_octets);
        let saved = beside.sent_probe_octets - riding.saved_octets;
        assert_eq!(added(&riding), saved, "as the counters say");
        let share = |part: u64, whole: u64| part as f64 / whole as f64;
        // A packet without a manager has no headers of the overlay.
        let overlay = alone.sent_octets - alone.offered_octets;
        let left = [0, overlay].map(|more| share(added(&riding) + more, added(&beside)));
        for (left, expected) in left.iter().zip(self.left) {
            assert!((left - expected).abs() < 1e-4, "{:?}: {left}", self.probe);
        }
        assert!(share(riding.padding_octets, beside.padding_octets) < 0.1);
        assert!(share(riding.riders, riding.sent_probes) > 0.999);
    }

    /// Ten seconds, with 20 ms from train to train.
    fn count(&self, probes: bool, riding: bool) -> Counters {
        let policy = Policy {
            riding,
            ..Policy::default()
        };
        let config = Config {
            carrier: self.carrier,
            policy,
            ..config()
        };
        let (octets, gap) = self.probe;
        let world = run(config, self.source, 10_000_000, |world| {
            if probes {
                world.begin(train(20, octets, gap)).unwrap();
            }
            probes.then(|| world.now + Duration::from_micros(19 * gap + 20_000))
        });
        world.peer.counters()
    }
}

/// T section 4.5.2: 30 probes of 400 octets, 300 us apart. There 26 probes carried 7,696 octets and 16 of them, with 4,752, carried what would
/// have competed: 4.4 Mbit/s over the train.
///
/// Holds manager/table-3-1, manager/competing.
#[test]
fn riders_that_would_have_competed_are_those_that_came_while_the_train_was_sent() {
    let mut asked = Some(train(30, 400, 300));
    let world = run(config(), SOURCE, 60_000, |world| {
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
    // Packets 0 to 13 came by the train's end; of one that was cut the rest left beside it, for its time was up.
    // On the wire a packet has 60 octets more, a rest 68.
    let offered = u64::from(SOURCE.0 + 60) * (38_700 / SOURCE.1 + 1);
    assert_eq!(
        (outcome.offered.octets, outcome.beside),
        (offered, 1_112 + 68)
    );
    assert_eq!(outcome.offered.at, us(38_700));
}

#[test]
fn what_leaves_in_no_probe_of_the_train_leaves_beside_it() {
    let config = Config {
        policy: Policy {
            riding: false,
            ..Policy::default()
        },
        ..config()
    };
    let mut asked = Some(train(30, 400, 300));
    let world = run(config, SOURCE, 60_000, |world| {
        if world.now == us(30_000) {
            world.begin(asked.take()?).unwrap();
        }
        asked.as_ref().map(|_| us(30_000))
    });
    let outcome = &world.finished[0].outcome;
    // Those of 31.68, 34.56 and 37.44 ms, which do not wait.
    assert_eq!((outcome.riders.octets, outcome.beside), (0, 3 * 1_500));
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
