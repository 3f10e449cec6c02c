use super::*;
use crate::riders::Riders;
use crate::train::Arrival;
use proptest::prelude::*;

/// A link with a queue, cross traffic that never stops, and clocks that do not agree: as a fluid, so that what is available is
/// exactly known.
struct Link {
    capacity_bps: f64,
    cross_bps: f64,
    /// How long the queue may get, in seconds.
    most_s: f64,
    /// Octets of one packet of the cross traffic; the queue is known to no better than that.
    grain: f64,
}

impl Link {
    fn carry(&self, train: &Train, at: Instant) -> Passage {
        let left = (self.capacity_bps - self.cross_bps) / self.capacity_bps;
        let (mut queue_s, mut sent_ns) = (0.0_f64, at.as_nanos());
        let mut arrivals = Vec::new();
        for (number, probe) in (0..).zip(&train.probes) {
            if number > 0 {
                let gap = probe.gap.as_secs_f64();
                queue_s = (queue_s - gap * left).max(0.0);
                sent_ns += u64::try_from(probe.gap.as_nanos()).unwrap();
            }
            if queue_s > self.most_s {
                continue;
            }
            let own = bits(probe.octets) / self.capacity_bps;
            // Somewhere within a packet of the cross traffic.
            let phase = f64::from(number * 7 % 10) / 10.0 * self.grain * 8.0 / self.capacity_bps;
            let delay = Duration::from_secs_f64(queue_s + own + phase + 0.010);
            let delay_ns = u64::try_from(delay.as_nanos()).unwrap();
            queue_s += own;
            arrivals.push(Arrival {
                number,
                sent_ns,
                arrived_ns: sent_ns + delay_ns + 77_000_000_000,
                back: None,
            });
        }
        Passage {
            sent: u32::try_from(train.probes.len()).unwrap(),
            octets: train.octets(),
            lasted: train.duration(),
            arrivals,
            riders: Riders::default(),
        }
    }
}

fn run(options: Options, mut carry: impl FnMut(&Train, Instant) -> Passage) -> (Estimate, Instant) {
    let mut now = Instant::from_nanos(5_000_000_000);
    let mut pathload = Pathload::new(options, now);
    loop {
        match pathload.next() {
            Step::Done(estimate) => return (estimate, now),
            Step::Train(train, not_before) => {
                let at = now.max(not_before);
                let passage = carry(&train, at);
                now = at + train.duration() + Duration::from_millis(20);
                pathload.handle(&passage, now);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_is_available_is_found(capacity_mbps in 5.0_f64..500.0, load in 0.0_f64..0.9, fast: bool) {
        let link = Link {
            capacity_bps: capacity_mbps * 1e6,
            cross_bps: capacity_mbps * load * 1e6,
            most_s: 0.2,
            grain: 100.0,
        };
        let pause = if fast { Pause::Fast } else { Pause::Slow };
        let options = Options { pause, ..Options::default() };
        let (estimate, _) = run(options, |train, at| link.carry(train, at));
        let available = link.capacity_bps - link.cross_bps;
        prop_assert_eq!(estimate.outcome, Outcome::Conclusive);
        let middle = f64::midpoint(estimate.low_bps, estimate.high_bps);
        prop_assert!((middle / available - 1.0).abs() < 0.1, "{} for {available}", middle);
    }
}

/// Holds manager/pathload-streams, manager/probe-flag.
#[test]
fn a_fleet_is_twelve_streams_of_a_hundred_equal_probes_of_one_rate() {
    let link = Link {
        capacity_bps: 10e6,
        cross_bps: 4e6,
        most_s: 0.2,
        grain: 100.0,
    };
    let options = Options {
        confirms: None,
        ..Options::default()
    };
    let mut streams = Vec::new();
    run(options, |train, at| {
        streams.push(train.clone());
        link.carry(train, at)
    });
    let opening = streams.remove(0);
    assert!(opening.probes.iter().all(|probe| !probe.may_carry));
    for Train { probes, .. } in &streams {
        assert_eq!(probes.len(), 100);
        assert!((600..=1_500).contains(&probes[0].octets) && probes[0].octets == probes[1].octets);
        assert!(probes[1..].iter().all(|probe| *probe == probes[1]));
    }
    // Where all agree nine of the twelve are enough, and where that becomes impossible fewer.
    assert_eq!(options.streams, 12);
    let fleets = streams.chunk_by(|one, other| one.probes[1] == other.probes[1]);
    let fleets: Vec<_> = fleets.map(<[_]>::len).collect();
    assert!(fleets.len() > 3 && fleets.contains(&9), "{fleets:?}");
    assert!(fleets.iter().all(|count| *count <= 12), "{fleets:?}");
}

/// Holds manager/pathload-pauses.
#[test]
fn the_slow_one_takes_a_tenth_of_its_rate_and_the_fast_one_more() {
    let link = Link {
        capacity_bps: 10e6,
        cross_bps: 4e6,
        most_s: 0.2,
        grain: 100.0,
    };
    let rate = |pause| {
        let options = Options {
            pause,
            confirms: None,
            ..Options::default()
        };
        let (estimate, end) = run(options, |train, at| link.carry(train, at));
        let seconds = end.since(Instant::from_nanos(5_000_000_000)).as_secs_f64();
        estimate.octets as f64 * 8.0 / seconds / link.capacity_bps
    };
    assert!(rate(Pause::Slow) < 0.1);
    assert!(rate(Pause::Fast) > 0.3);
}

#[test]
fn both_bounds_are_asked_once_more_over_some_seconds() {
    let link = Link {
        capacity_bps: 10e6,
        cross_bps: 4e6,
        most_s: 0.2,
        grain: 100.0,
    };
    let ends = [None, Some(Duration::from_secs(6))].map(|confirms| {
        let options = Options {
            pause: Pause::Fast,
            confirms,
            ..Options::default()
        };
        run(options, |train, at| link.carry(train, at)).1
    });
    // Nine of twelve streams are enough, of each of two fleets.
    assert!(ends[1].since(ends[0]) >= Duration::from_secs(2 * 4));
}

#[test]
fn a_link_faster_than_the_sender_is_told_apart() {
    let link = Link {
        capacity_bps: 10e9,
        cross_bps: 0.0,
        most_s: 0.2,
        grain: 0.0,
    };
    let (estimate, _) = run(Options::default(), |train, at| link.carry(train, at));
    assert_eq!(estimate.outcome, Outcome::AtLeast);
    assert!(
        (estimate.low_bps / 600e6 - 1.0).abs() < 1e-9,
        "1,500 octets in 20 us"
    );
}

#[test]
fn a_load_that_comes_and_goes_makes_a_grey_region() {
    let mut count = 0;
    let (estimate, _) = run(Options::default(), |train, at| {
        count += 1;
        let cross_bps = if count % 2 == 0 { 2e6 } else { 6e6 };
        let link = Link {
            capacity_bps: 10e6,
            cross_bps,
            most_s: 0.2,
            grain: 100.0,
        };
        link.carry(train, at)
    });
    assert_eq!(estimate.outcome, Outcome::Grey);
    let [low, high] = estimate.grey_bps.unwrap();
    assert!(low > 3.9e6 && high < 8.1e6, "{low} {high}");
    assert!(estimate.low_bps < 4.4e6 && estimate.high_bps > 7.6e6);
}

#[test]
fn a_full_queue_is_above_by_its_losses_alone() {
    let passage = |train: &Train| Passage {
        sent: u32::try_from(train.probes.len()).unwrap(),
        lasted: train.duration(),
        ..Passage::default()
    };
    let (estimate, _) = run(Options::default(), |train, _| passage(train));
    assert_eq!(estimate.low_bps.to_bits(), 0, "nothing ever arrived");
    assert!(estimate.high_bps <= search::LEAST);
}

/// Holds manager/audit.
#[test]
fn a_sender_that_cannot_keep_its_gaps_finds_nothing() {
    let link = Link {
        capacity_bps: 10e6,
        cross_bps: 0.0,
        most_s: 0.2,
        grain: 0.0,
    };
    let (estimate, _) = run(Options::default(), |train, at| Passage {
        lasted: train.duration() * 2,
        ..link.carry(train, at)
    });
    assert_eq!(estimate.outcome, Outcome::Untimed);
    assert_eq!(estimate.streams, 14, "the first train, and a fleet and one");
}

/// What is left of a train that packets make, when there are so many.
fn made_of(packets: usize, train: &Train) -> Train {
    let mut train = train.clone();
    train.probes.truncate(packets);
    train
}

/// Holds manager/elastic.
#[test]
fn elastic_streams_find_it_with_a_dozen_packets_each() {
    let link = Link {
        capacity_bps: 50e6,
        cross_bps: 20e6,
        most_s: 0.2,
        grain: 100.0,
    };
    let options = Options {
        made_of: Streams::Elastic(Duration::from_secs(60)),
        octets: [1_500; 2],
        ..Options::default()
    };
    let (estimate, _) = run(options, |train, at| {
        assert_eq!(train.extent, Extent::AtLeast(0));
        link.carry(&made_of(12, train), at)
    });
    assert_eq!(estimate.outcome, Outcome::Conclusive);
    let middle = f64::midpoint(estimate.low_bps, estimate.high_bps);
    assert!((middle / 30e6 - 1.0).abs() < 0.1, "{middle}");
    // Bursts that are too small say nothing, and it does not wait for ever.
    let (nothing, took) = run(options, |train, at| link.carry(&made_of(4, train), at));
    assert_eq!((nothing.outcome, nothing.streams), (Outcome::Starved, 100));
    assert!(nothing.high_bps.is_infinite() && nothing.low_bps < 1.0);
    assert!(took < Instant::from_nanos(65_000_000_000));
    // Nor do those that are never faster than what is left.
    let (slow, _) = run(options, |train, at| {
        let is_slow = train.probes[1].gap >= Duration::from_micros(600);
        link.carry(&made_of(if is_slow { 12 } else { 2 }, train), at)
    });
    assert_eq!(slow.outcome, Outcome::Starved);
    assert!(slow.low_bps <= 20e6 && slow.high_bps.is_infinite());
}

#[test]
fn semi_elastic_streams_have_their_least() {
    let link = Link {
        capacity_bps: 50e6,
        cross_bps: 20e6,
        most_s: 0.2,
        grain: 100.0,
    };
    let options = Options {
        made_of: Streams::SemiElastic(40),
        ..Options::default()
    };
    let (estimate, _) = run(options, |train, at| match train.extent {
        Extent::Whole => link.carry(train, at),
        extent => {
            assert_eq!(extent, Extent::AtLeast(40));
            link.carry(&made_of(40, train), at)
        }
    });
    assert_eq!(estimate.outcome, Outcome::Conclusive);
    let middle = f64::midpoint(estimate.low_bps, estimate.high_bps);
    assert!((middle / 30e6 - 1.0).abs() < 0.1, "{middle}");
}

/// Holds manager/rider-correction.
#[test]
fn riders_that_would_have_competed_are_told() {
    let link = Link {
        capacity_bps: 10e6,
        cross_bps: 2e6,
        most_s: 0.2,
        grain: 100.0,
    };
    let (estimate, _) = run(Options::default(), |train, at| {
        let lasted = train.duration();
        // 1 Mbit/s: a bit in a microsecond.
        let octets = u64::try_from(lasted.as_micros()).unwrap() / 8;
        let riders = Riders {
            packets: 1,
            octets,
            competing_octets: octets,
            ..Riders::default()
        };
        Passage {
            riders,
            ..link.carry(train, at)
        }
    });
    let found = estimate.competing;
    for competing in [found.last_bps, found.mean_bps, found.spared_bps] {
        assert!((competing / 1e6 - 1.0).abs() < 0.01, "{competing}");
    }
}
