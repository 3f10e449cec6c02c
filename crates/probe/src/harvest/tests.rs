use super::*;
use crate::testing::{Arrivals, Link, MIX, Path, START, nonsense};
use crate::train::Extent;
use proptest::prelude::*;
use stats::random::SplitMix64;

/// Packets of 1,500 octets at `bps`.
fn burst(count: usize, bps: f64) -> Train {
    Train::periodic(count, 1_500, Duration::from_secs_f64(12_000.0 / bps))
}

/// Lets the estimator have bursts of these rates in turns, one every 40 ms, until it is done.
fn run(
    options: Options,
    path: &mut Path,
    mut rate: impl FnMut(u32) -> f64,
) -> (Estimate, Duration) {
    let mut now = START;
    let mut harvest = Harvest::new(options, now);
    for turn in 0.. {
        let Step::Train(asked, _) = harvest.next() else {
            break;
        };
        assert_eq!(asked.extent, Extent::Packets(options.within));
        let train = burst(14, rate(turn));
        let passage = path.carry(&train, now);
        now += Duration::from_millis(40);
        harvest.handle(&passage, now);
    }
    let Step::Done(estimate) = harvest.next() else {
        panic!("it was done");
    };
    (estimate, now.since(START))
}

/// A link of 20 Mbit/s of which independent packets take 6.
fn path() -> Path {
    Path::new([Link::new(20e6, 0.3, Arrivals::Poisson, MIX, 3)])
}

/// Holds manager/opportunistic.
#[test]
fn bursts_of_many_rates_tell_what_is_available() {
    let mut chance = SplitMix64::new(5);
    let (estimate, took) = run(Options::default(), &mut path(), |_| {
        6e6 + 20e6 * chance.unit()
    });
    assert_eq!(estimate.outcome, Outcome::Conclusive, "{estimate:?}");
    let middle = f64::midpoint(estimate.low_bps.unwrap(), estimate.high_bps.unwrap());
    assert!((middle / 14e6 - 1.0).abs() < 0.2, "{estimate:?}");
    assert!(took < Duration::from_secs(30));
}

#[test]
fn an_application_that_is_never_faster_than_what_is_left_tells_a_lower_bound_only() {
    let (estimate, took) = run(Options::default(), &mut path(), |_| 7e6);
    assert_eq!(estimate.outcome, Outcome::AtLeast);
    assert!((estimate.low_bps.unwrap() / 7e6 - 1.0).abs() < 0.01);
    assert_eq!(estimate.high_bps, None);
    assert_eq!(took, Duration::from_secs(30), "it has hoped to the end");
}

#[test]
fn bursts_at_the_rate_of_the_card_tell_an_upper_bound_between_what_is_left_and_the_capacity() {
    let (estimate, _) = run(Options::default(), &mut path(), |_| 1e9);
    assert_eq!(
        (estimate.outcome, estimate.low_bps),
        (Outcome::AtMost, None)
    );
    let high = estimate.high_bps.unwrap();
    assert!((14e6..21e6).contains(&high), "{high}");
}

#[test]
fn what_was_before_is_forgotten() {
    let options = Options {
        resolution: 0.0,
        ..Options::default()
    };
    let mut chance = SplitMix64::new(5);
    let mut harvest = Harvest::new(options, START);
    let mut after = |link: Link, seconds: u64, now: &mut Instant| {
        let mut path = Path::new([link]);
        for _ in 0..seconds * 25 {
            let passage = path.carry(&burst(14, 2e6 + 20e6 * chance.unit()), *now);
            *now += Duration::from_millis(40);
            harvest.handle(&passage, *now);
        }
        let Estimate {
            low_bps, high_bps, ..
        } = harvest.estimate;
        [low_bps, high_bps].map(|bps| bps.unwrap() / 1e6)
    };
    let mut now = START;
    let link = |load| Link::new(20e6, load, Arrivals::Poisson, MIX, 3);
    let before = after(link(0.2), 20, &mut now);
    assert!(
        before.iter().all(|mbps| (13.0..19.0).contains(mbps)),
        "{before:?}"
    );
    let then = after(link(0.7), 21, &mut now);
    assert!(
        then.iter().all(|mbps| (4.0..9.0).contains(mbps)),
        "{then:?}"
    );
    assert!(harvest.said.len() <= 21 * 25);
}

#[test]
fn a_train_is_cut_where_it_pauses() {
    let arrival = |number: u32| Arrival {
        number,
        // Eight packets 100 us apart, and again after a millisecond.
        sent_ns: u64::from(number) * 100_000 + u64::from(number / 8) * 1_000_000,
        arrived_ns: 0,
        back: None,
    };
    let arrivals: Vec<_> = (0..20).map(arrival).collect();
    let lengths: Vec<_> = pieces(&arrivals).map(<[Arrival]>::len).collect();
    assert_eq!(lengths, [8, 8], "the last four are too few");
    assert_eq!(pieces(&[]).count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn it_ends_with_finite_figures_whatever_comes(passages in prop::collection::vec(nonsense(), 1..40)) {
        let mut harvest = Harvest::new(Options { fleet: 2, ..Options::default() }, START);
        for passage in passages.iter().cycle().take(2_500) {
            harvest.handle(passage, START);
        }
        prop_assert!(harvest.said.len() <= MOST_TRAINS);
        let estimate = harvest.estimate;
        for figure in [estimate.low_bps, estimate.high_bps].into_iter().flatten() {
            prop_assert!(figure.is_finite() && figure >= 0.0);
        }
        if let (Some(low), Some(high)) = (estimate.low_bps, estimate.high_bps) {
            prop_assert!(low <= high);
        }
    }
}
