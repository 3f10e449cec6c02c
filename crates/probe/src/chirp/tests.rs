use super::*;
use crate::testing::{self, Arrivals, Link, MIX, Path, START, errors, grid, nonsense, print, run};
use proptest::prelude::*;

fn measure(path: &mut Path, options: Options) -> (Estimate, Instant) {
    let chirp = Chirp::new(options, START);
    let (estimate, end, octets) = run(chirp, |train, at| path.carry(train, at));
    assert_eq!(octets, estimate.octets);
    (estimate, end)
}

fn idle(capacity_bps: f64) -> Path {
    Path::new([Link::new(capacity_bps, 0.0, Arrivals::Constant, MIX, 1)])
}

fn lasting(seconds: u64) -> Options {
    Options {
        duration: Duration::from_secs(seconds),
        ..Options::default()
    }
}

fn cells(arrivals: Arrivals) -> Vec<testing::Cell> {
    let found = |mut path: Path| {
        let (estimate, _) = measure(&mut path, lasting(120));
        let conclusive = estimate.outcome == Outcome::Conclusive;
        let available = estimate.available.filter(|_| conclusive);
        available.map(|spread| spread.value_bps)
    };
    let cells = grid(found, arrivals);
    print(&format!("pathchirp, {arrivals:?}"), &cells);
    cells
}

#[test]
fn an_idle_link_is_found_whatever_the_clocks_say() {
    for capacity_bps in [1e6, 5e6, 20e6, 100e6, 500e6] {
        let (estimate, _) = measure(&mut idle(capacity_bps), lasting(120));
        assert_eq!(estimate.outcome, Outcome::Conclusive);
        let found = estimate.available.unwrap().value_bps / capacity_bps;
        // A chirp knows rates to a factor of 1.2, and tells the first above.
        assert!((0.99..1.1).contains(&found), "{found} of {capacity_bps}");
    }
}

/// The bounds are what it does, not what it should: pathchirp tells too much of a loaded link.
#[test]
fn a_loaded_link_is_found_to_have_more_left_than_it_has() {
    for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
        let cells = cells(arrivals);
        let [median, _, signed] = errors(&cells);
        assert!(median < 0.35 && signed > 0.1, "{median} {signed}");
        for cell in &cells {
            let bounds = if cell.load < 0.7 {
                -0.05..0.8
            } else {
                0.0..3.0
            };
            assert!(bounds.contains(&cell.error().unwrap()), "{cell:?}");
        }
    }
}

#[test]
fn bursts_longer_than_a_chirp_are_worse() {
    let cells = cells(Arrivals::OnOff);
    let [median, ..] = errors(&cells);
    assert!(median < 0.5, "{median}");
    let told = cells.iter().filter_map(testing::Cell::error);
    assert!(told.into_iter().all(|error| (-0.5..4.0).contains(&error)));
}

/// Holds manager/pathchirp.
#[test]
fn an_estimate_is_kept_each_second_and_the_time_is_held() {
    let (estimate, end) = measure(&mut idle(50e6), Options::default());
    let lasted = end.since(START).as_secs_f64();
    assert!((59.0..61.0).contains(&lasted), "{lasted}");
    assert!((40..60).contains(&estimate.history.len()));
    let gaps = estimate.history.windows(2);
    assert!(
        gaps.clone()
            .all(|pair| pair[1].at.since(pair[0].at) >= SECOND)
    );
    let rate = estimate.octets as f64 * 8.0 / lasted;
    assert!((rate / 0.3e6 - 1.0).abs() < 0.1, "{rate}");
}

#[test]
fn a_link_faster_than_the_sender_is_told_apart() {
    let (estimate, _) = measure(&mut idle(10e9), lasting(120));
    assert_eq!(estimate.outcome, Outcome::AtLeast);
    let found = estimate.available.unwrap().value_bps;
    assert!(
        (found / 800e6 - 1.0).abs() < 0.01,
        "1,000 octets in 10 us: {found}"
    );
}

#[test]
fn a_link_slower_than_the_slowest_chirp_is_told_apart() {
    let link = Link::new(30e3, 0.0, Arrivals::Constant, MIX, 1);
    let mut path = Path::new([link.holding(Duration::from_secs(60))]);
    let (estimate, _) = measure(&mut path, lasting(1_200));
    assert_eq!(estimate.outcome, Outcome::AtMost);
    assert!(estimate.available.unwrap().value_bps < 75e3);
}

#[test]
fn a_queue_that_overflows_at_the_end_of_a_chirp_still_tells() {
    let link = Link::new(20e6, 0.0, Arrivals::Constant, MIX, 1);
    let shallow = link.holding(Duration::from_micros(1_500));
    let mut lost = 0.0_f64;
    let mut path = Path::new([shallow]);
    let chirp = Chirp::new(Options::default(), START);
    let (estimate, ..) = run(chirp, |train, at| {
        let passage = path.carry(train, at);
        lost = lost.max(passage.loss());
        passage
    });
    assert!(lost > 0.1, "{lost}");
    assert_eq!(estimate.outcome, Outcome::Conclusive);
    assert!((estimate.available.unwrap().value_bps / 20e6 - 1.0).abs() < 0.1);
}

#[test]
fn nothing_is_told_of_what_does_not_arrive() {
    let chirp = Chirp::new(Options::default(), START);
    let (estimate, ..) = run(chirp, |train, _| Passage {
        sent: u32::try_from(train.probes.len()).unwrap(),
        lasted: train.duration(),
        ..Passage::default()
    });
    assert_eq!(estimate.outcome, Outcome::TooFewArrivals);
    assert_eq!((estimate.available, estimate.history.len()), (None, 0));
}

#[test]
fn a_sender_that_cannot_keep_its_gaps_finds_nothing() {
    let mut path = idle(50e6);
    path.host_ns = 2e6;
    let (estimate, _) = measure(&mut path, Options::default());
    assert_eq!(estimate.outcome, Outcome::Untimed);
}

#[test]
fn there_must_be_time_for_a_window() {
    let (estimate, _) = measure(&mut idle(50e6), lasting(3));
    assert_eq!(estimate.outcome, Outcome::Unfinished);
}

#[test]
fn riders_that_would_have_competed_are_told() {
    let mut path = idle(50e6);
    path.riders_bps = 2e6;
    let (estimate, _) = measure(&mut path, lasting(20));
    let found = estimate.competing;
    for competing in [found.last_bps, found.mean_bps, found.spared_bps] {
        assert!((competing / 2e6 - 1.0).abs() < 0.01, "{competing}");
    }
}

proptest! {
    #[test]
    fn nonsense_neither_breaks_it_nor_makes_figures_that_are_none(
        passages in prop::collection::vec(nonsense(), 1..30),
        factors in prop::array::uniform2(any::<f64>()),
        octets: u32,
    ) {
        let options = Options {
            spread_factor: factors[0],
            decrease_factor: factors[1],
            octets,
            duration: Duration::from_secs(10),
            ..Options::default()
        };
        let mut passages = passages.iter().cycle();
        let chirp = Chirp::new(options, START);
        let (estimate, ..) = run(chirp, |_, _| passages.next().unwrap().clone());
        if let Some(spread) = estimate.available {
            prop_assert!(spread.value_bps.is_finite() && spread.high_bps.is_finite());
        }
    }
}
