use super::*;
use crate::testing::{Arrivals, Link, MIX, Path, START, nonsense, run};
use proptest::prelude::*;

fn measure(path: &mut Path, options: Options) -> Estimate {
    let pathrate = Pathrate::new(options, START);
    let (estimate, _, octets) = run(pathrate, |train, at| path.carry(train, at));
    assert_eq!(octets, estimate.octets);
    estimate
}

fn idle(capacity_bps: f64) -> Path {
    Path::new([Link::new(capacity_bps, 0.0, Arrivals::Constant, MIX, 1)])
}

/// Three links, the second of which is the narrow one, all with the same load.
fn path(capacity_bps: f64, load: f64, arrivals: Arrivals) -> Path {
    let link = |share, seed| Link::new(capacity_bps * share, load, arrivals, MIX, seed);
    let mut path = Path::new([link(2.0, 1), link(1.0, 2), link(1.6, 3)]);
    path.host_ns = 2e3;
    path
}

/// Outcomes and relative errors of links of several capacities.
fn found(load: f64, arrivals: Arrivals) -> Vec<(Outcome, f64)> {
    let cells = [5e6, 20e6, 100e6, 500e6].map(|capacity_bps| {
        let estimate = measure(&mut path(capacity_bps, load, arrivals), Options::default());
        let error = estimate.capacity.unwrap().value_bps / capacity_bps - 1.0;
        println!("pathrate, {arrivals:?}, load {load}: {capacity_bps:.0}, {error:.4}");
        (estimate.outcome, error)
    });
    cells.to_vec()
}

/// Holds manager/pathrate.
#[test]
fn a_path_with_little_load_is_found_quickly() {
    for (outcome, error) in found(0.0, Arrivals::Constant) {
        assert!(outcome == Outcome::Quick && error.abs() < 1e-3, "{error}");
    }
    for (_, error) in found(0.1, Arrivals::Poisson) {
        assert!(error.abs() < 0.05, "{error}");
    }
}

#[test]
fn the_capacity_is_found_beside_a_load_that_comes_independently_or_in_bursts() {
    let is_right =
        |(outcome, error): &(Outcome, f64)| *outcome == Outcome::Conclusive && error.abs() < 0.01;
    for (arrivals, load) in [
        (Arrivals::Poisson, 0.3),
        (Arrivals::OnOff, 0.3),
        (Arrivals::Poisson, 0.6),
    ] {
        let found = found(load, arrivals);
        assert!(found.iter().all(is_right), "{found:?}");
    }
    // Of long bursts at this load one path in eight is taken for the link behind it.
    let bursts = found(0.6, Arrivals::OnOff);
    let wrong = bursts.iter().filter(|found| !is_right(found));
    assert!(wrong.count() <= 1, "{bursts:?}");
}

/// What it does, not what it should: at such a load few pairs stay together.
#[test]
fn what_it_finds_of_a_path_with_much_load_throughout_is_weak() {
    for (outcome, _) in found(0.9, Arrivals::Poisson) {
        assert_eq!(outcome, Outcome::Weak);
    }
    let bursts = found(0.9, Arrivals::OnOff);
    let weak = bursts
        .iter()
        .filter(|(outcome, _)| *outcome == Outcome::Weak);
    assert!(weak.count() >= 2, "{bursts:?}");
}

/// What it does, not what it should: with packets at even intervals no pair stays together but behind the narrow link.
#[test]
fn an_even_load_hides_the_capacity() {
    for (outcome, error) in found(0.3, Arrivals::Constant) {
        assert!(
            outcome == Outcome::Conclusive && error.abs() < 0.01,
            "{error}"
        );
    }
    for (outcome, error) in found(0.6, Arrivals::Constant) {
        let is_behind = (error - 0.6).abs() < 0.01;
        assert!(
            is_behind || (outcome == Outcome::Weak && error < -0.1),
            "{error}"
        );
    }
}

#[test]
fn stamps_that_are_off_by_a_microsecond_are_no_harm_to_a_path_of_a_hundred_megabits() {
    let mut path = path(100e6, 0.3, Arrivals::Poisson);
    path.noise_ns = 1e3;
    let estimate = measure(&mut path, Options::default());
    assert_eq!(estimate.outcome, Outcome::Conclusive);
    let error = estimate.capacity.unwrap().value_bps / 100e6 - 1.0;
    assert!(error.abs() < 0.05, "{error}");
}

#[test]
fn of_hosts_slower_than_the_path_only_a_bound_is_told() {
    // A packet of 12,000 bits leaves each 100 us; or is told from the one before it after 3 us.
    for (capacity_bps, host_ns, bound_bps) in [(500e6, 100e3, 120e6), (10e9, 0.0, 4e9)] {
        let mut path = idle(capacity_bps);
        path.host_ns = host_ns;
        let estimate = measure(&mut path, Options::default());
        assert_eq!(estimate.outcome, Outcome::AtLeast);
        let found = estimate.capacity.unwrap().value_bps;
        assert!((found / bound_bps - 1.0).abs() < 0.01, "{found}");
        assert!(estimate.trains < 100, "it is known early");
    }
}

#[test]
fn of_a_slow_host_and_a_loaded_path_no_more_is_told_than_there_is() {
    for load in [0.3, 0.6, 0.9] {
        let mut path = path(100e6, load, Arrivals::Poisson);
        path.host_ns = 200e3;
        let estimate = measure(&mut path, Options::default());
        let found = estimate.capacity.unwrap().value_bps;
        assert!(found < 100e6, "{found}");
        assert_ne!(estimate.outcome, Outcome::Conclusive, "load {load}");
    }
}

#[test]
fn trains_are_no_longer_than_a_shallow_queue_can_take() {
    let link = Link::new(20e6, 0.0, Arrivals::Constant, MIX, 1);
    // 0.6 ms for each packet, so 16 find room, one of which leads.
    let mut path = Path::new([link.holding(Duration::from_millis(10))]);
    let estimate = measure(&mut path, Options::default());
    assert_eq!((estimate.outcome, estimate.length), (Outcome::Quick, 12));
}

#[test]
fn who_wakes_up_late_for_the_first_packet_makes_the_path_no_faster() {
    for late_ns in [20_000, 55_000, 180_000] {
        let mut path = idle(20e6);
        let pathrate = Pathrate::new(Options::default(), START);
        let (estimate, ..) = run(pathrate, |train, at| {
            let mut passage = path.carry(train, at);
            passage.arrivals[0].arrived_ns += late_ns;
            passage
        });
        assert_eq!(estimate.outcome, Outcome::Quick);
        let error = estimate.capacity.unwrap().value_bps / 20e6 - 1.0;
        assert!(error.abs() < 0.001, "{late_ns} ns: {error}");
    }
}

#[test]
fn it_is_over_soon_when_nothing_arrives() {
    let pathrate = Pathrate::new(Options::default(), START);
    let (estimate, ..) = run(pathrate, |_, _| Passage::default());
    assert_eq!(estimate.outcome, Outcome::TooFewArrivals);
    assert_eq!(estimate.capacity, None);
    assert!(estimate.trains < 30);
}

#[test]
fn fewer_pairs_and_trains_can_be_asked_for() {
    let options = Options {
        pairs: 200,
        trains: 50,
        ..Options::default()
    };
    let estimate = measure(&mut path(100e6, 0.3, Arrivals::Poisson), options);
    assert_eq!(estimate.trains, 80 + 200 + 50);
    let error = estimate.capacity.unwrap().value_bps / 100e6 - 1.0;
    assert!(error.abs() < 0.02, "{error}");
}

proptest! {
    #[test]
    fn nonsense_neither_breaks_it_nor_makes_figures_that_are_none(
        passages in prop::collection::vec(nonsense(), 1..30),
        octets: [u32; 2],
        counts in prop::array::uniform5(0_u32..40),
        variation: f64,
    ) {
        let [longest, preliminary, pairs, sizes, trains] = counts;
        let options = Options {
            octets,
            longest,
            preliminary,
            pairs,
            sizes,
            trains,
            variation,
            ..Options::default()
        };
        let mut passages = passages.iter().cycle();
        let pathrate = Pathrate::new(options, START);
        let (estimate, ..) = run(pathrate, |_, _| passages.next().unwrap().clone());
        if let Some(capacity) = estimate.capacity {
            prop_assert!(capacity.value_bps.is_finite() && capacity.high_bps.is_finite());
        }
        prop_assert!(estimate.modes.iter().all(|mode| mode.merit.is_finite()));
    }
}
