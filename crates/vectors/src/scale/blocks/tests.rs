use super::*;
use crate::model::samples::ms;
use proptest::prelude::*;

fn connection(start_ms: u64, a: u64, b: u64) -> Footprint {
    Footprint {
        start: ms(start_ms),
        bytes: [a, b],
    }
}

/// A minute of ten connections a second, each of 100 octets one way and 900 the other: 80 kbit/s.
fn even() -> Vec<Footprint> {
    (0..600).map(|at| connection(at * 100, 100, 900)).collect()
}

fn to(target: &str) -> Resampling {
    Resampling {
        block: ms(5_000),
        span: ms(120_000),
        target: target.parse().unwrap(),
        of: None,
        seed: 3,
    }
}

/// Holds tmix/resampling.
#[test]
fn an_even_load_is_met_above_and_below_that_of_the_trace() {
    for (target, bps) in [("20kbit", 2e4), ("80kbit", 8e4), ("1Mbit", 1e6)] {
        let plan = to(target).plan(&even(), ms(60_000)).unwrap();
        let load = plan.load.bits_per_second(None);
        assert!((load / bps - 1.0).abs() < 0.03, "{target}: {load}");
        assert_eq!(plan.load.span.0, ms(120_000));
        assert!(plan.picks.is_sorted_by_key(|pick| pick.start));
        assert!(plan.picks.iter().all(|pick| pick.start < ms(120_000)));
    }
}

#[test]
fn the_target_can_be_of_one_end() {
    let of_initiators = Resampling {
        of: Some(Side::Initiator),
        ..to("8kbit")
    };
    let plan = of_initiators.plan(&even(), ms(60_000)).unwrap();
    assert_eq!(plan.load.bytes, [120_000, 1_080_000]);
    let bps = plan.load.bits_per_second(Some(Side::Initiator));
    assert!((bps - 8e3).abs() < 1e-6);
}

/// Holds tmix/resampling.
#[test]
fn the_pattern_within_a_block_stays() {
    let burst = [10, 11, 12].map(|at| connection(at, 1_000, 0));
    let once_a_second = Resampling {
        block: ms(1_000),
        span: ms(10_000),
        ..to("24kbit")
    };
    let plan = once_a_second.plan(&burst, ms(1_000)).unwrap();
    assert_eq!(plan.picks.len(), 30);
    let starts = plan.picks.iter().map(|pick| pick.start.as_millis());
    assert!(starts.eq((0..10).flat_map(|second| [10, 11, 12].map(|at| second * 1_000 + at))));
}

#[test]
fn what_cannot_be_is_refused() {
    let nothing = [connection(0, 0, 5)];
    let of_initiators = Resampling {
        of: Some(Side::Initiator),
        ..to("8kbit")
    };
    let refused = of_initiators.plan(&nothing, ms(60_000));
    assert_eq!(refused, Err(ScaleError::Nothing));
    assert_eq!(to("8kbit").plan(&[], ms(60_000)), Err(ScaleError::Nothing));
    assert_eq!(to("8kbit").plan(&even(), ms(1)), Err(ScaleError::Block));
    assert_eq!(
        to("800Gbit").plan(&even(), ms(60_000)),
        Err(ScaleError::TooMuch)
    );
    let no_block = Resampling {
        block: ms(0),
        ..to("8kbit")
    };
    assert_eq!(no_block.plan(&even(), ms(60_000)), Err(ScaleError::Block));
}

proptest! {
    /// What the module says: the target is met but for the octets of the heaviest block.
    #[test]
    fn the_target_is_met_but_for_a_block(
        set in prop::collection::vec((0..70_000_u64, 0..100_000_u64, 10_000..1_000_000_u64), 1..50),
        bps in 1..10_000_000_u64,
        seed in any::<u64>(),
    ) {
        let set: Vec<_> = set.into_iter().map(|(at, a, b)| connection(at, a, b)).collect();
        let how = Resampling { target: Rate::from_bps(bps).unwrap(), seed, ..to("1bit") };
        let plan = match how.plan(&set, ms(60_000)) {
            Ok(plan) => plan,
            Err(error) => {
                prop_assert!(matches!(error, ScaleError::Nothing | ScaleError::TooMuch));
                return Ok(());
            }
        };
        prop_assert_eq!(&plan, &how.plan(&set, ms(60_000)).unwrap());
        let mut blocks = [0; 12];
        for connection in set.iter().filter(|connection| connection.start < ms(60_000)) {
            blocks[connection.start.as_millis() as usize / 5_000] += connection.bytes[0] + connection.bytes[1];
        }
        let heaviest = blocks.into_iter().max().unwrap() as f64;
        let wanted = bps as f64 / 8.0 * 120.0;
        let got = plan.load.bytes_of(None) as f64;
        prop_assert!((got - wanted).abs() <= heaviest + 1.0, "{} {} {}", got, wanted, heaviest);
        prop_assert!(plan.picks.iter().all(|pick| pick.start < ms(120_000)));
    }
}
