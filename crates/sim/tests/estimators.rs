//! The estimators on paths whose truth is known: links of 5 to 500 Mbit/s that others use to 0 to 90 %, packet by packet.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed, helpers of tests included"
)]

use isobath_sim::Probing;
use path::Spec;
use probe::pathload::{Outcome, Pathload, Pause};
use probe::pathrate::Pathrate;
use probe::train::{Arrival, Estimator, Step, Train};
use std::time::Duration;

#[derive(serde::Deserialize)]
struct Ways {
    up: Spec,
    down: Spec,
}

/// What others send: evenly, independently of each other, or as a recorded visit to a web site comes and goes.
#[derive(Clone, Copy, Debug)]
enum Pace {
    Even,
    Poisson,
    Recorded,
}

const RECORDING: &str = include_str!("../../../labs/traces/web-page.packets");

fn probing(mbps: f64, load: f64, pace: Pace, seed: u64) -> Probing {
    let bits = |mbps: f64| format!("{:.0}bit", mbps * 1e6);
    let (rate, others) = (bits(mbps), bits(mbps * load));
    let pace = match pace {
        Pace::Even => r#"pace = "even", recording = "web-page""#,
        Pace::Poisson => r#"pace = "poisson", recording = "web-page""#,
        Pace::Recorded => r#"pace = "recorded", recording = "web-page", copies = 100"#,
    };
    let cross = if load > 0.0 {
        format!(", cross = {{ {pace}, rates = [\"{others}\"] }}")
    } else {
        String::new()
    };
    let text = format!(
        r#"
up = [{{ kind = "rate", rate = "{rate}", queue = {{ kind = "fifo", packets = 500 }}{cross} }}, {{ kind = "delay", delay = "10ms" }}]
down = [{{ kind = "delay", delay = "10ms" }}]
"#
    );
    let ways: Ways = toml::from_str(&text).unwrap();
    let resolve = |_: &str| Ok(RECORDING.to_owned());
    let build = |spec: &Spec, seed| spec.build(seed, &resolve, &path::Assigned::default());
    Probing::new(
        build(&ways.up, seed).unwrap(),
        build(&ways.down, seed + 1).unwrap(),
    )
}

fn drive<E: Estimator>(mut estimator: E, probing: &mut Probing) -> E::Estimate {
    loop {
        match estimator.next() {
            Step::Done(estimate) => return estimate,
            Step::Train(train, not_before) => {
                let passage = probing.carry(&train, not_before);
                estimator.handle(&passage, probing.now());
            }
        }
    }
}

const CAPACITIES: [f64; 7] = [5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0];
const LOADS: [f64; 6] = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9];

/// What an estimator said in one cell of the grid: whether it is to be believed, and how far it is off, as a share.
struct Cell {
    conclusive: bool,
    off: f64,
    /// Whether the truth lies in the range that it tells.
    holds: bool,
}

/// An estimator in all cells of `capacities`, in Mbit/s; `find` gets the path, its capacity and its available bandwidth in bit/s.
fn grid(
    capacities: &[f64],
    pace: Pace,
    mut find: impl FnMut(&mut Probing, f64, f64) -> Cell,
) -> Vec<Cell> {
    let mut cells = Vec::new();
    for &mbps in capacities {
        for load in LOADS {
            let mut probing = probing(mbps, load, pace, 7);
            cells.push(find(&mut probing, mbps * 1e6, mbps * (1.0 - load) * 1e6));
        }
    }
    cells
}

/// The share of conclusive cells, and the median of |error| over them.
fn judge(cells: &[Cell], name: &str) -> (f64, f64) {
    let conclusive = cells.iter().filter(|cell| cell.conclusive);
    let mut off: Vec<f64> = conclusive.map(|cell| cell.off.abs()).collect();
    off.sort_by(f64::total_cmp);
    let median = off.get(off.len() / 2).copied().unwrap_or(f64::NAN);
    let share = off.len() as f64 / cells.len() as f64;
    let doubtful: Vec<_> = cells.iter().filter(|cell| !cell.conclusive).collect();
    let holding = doubtful.iter().filter(|cell| cell.holds).count();
    println!(
        "{name}: {} of {} conclusive, off by {:.1} % (median); of {} others {holding} have the truth in their range",
        off.len(),
        cells.len(),
        median * 100.0,
        doubtful.len()
    );
    (share, median)
}

fn pathload(capacities: &[f64], pace: Pace, pause: Pause) -> (f64, f64) {
    let cells = grid(capacities, pace, |path, _, left| {
        let options = probe::pathload::Options {
            pause,
            ..Default::default()
        };
        let found = drive(Pathload::new(options, path.now()), path);
        Cell {
            conclusive: found.outcome == Outcome::Conclusive,
            off: f64::midpoint(found.low_bps, found.high_bps) / left - 1.0,
            holds: (found.low_bps..=found.high_bps).contains(&left),
        }
    });
    judge(&cells, &format!("pathload {pause:?}, others {pace:?}"))
}

#[test]
fn pathload_is_sure_of_most_paths_and_right_about_them() {
    for pause in [Pause::Fast, Pause::Slow] {
        let (share, off) = pathload(&CAPACITIES, Pace::Even, pause);
        assert!(share >= 0.8 && off <= 0.1, "{pause:?}: {share} {off}");
    }
}

/// A hundred visitors of one web site come and go; at high load nothing is available for some time, and everything for some other.
#[track_caller]
fn assert_said_to_vary(capacities: &[f64], pause: Pause) {
    let (share, off) = pathload(capacities, Pace::Recorded, pause);
    assert!((0.2..0.8).contains(&share) && off <= 0.12, "{share} {off}");
}

#[test]
fn pathload_says_that_it_varies_where_it_does() {
    assert_said_to_vary(&CAPACITIES[..6], Pause::Fast);
}

#[test]
fn pathload_s_slow_variant_says_that_it_varies_where_it_does() {
    // Each packet of the cross traffic is simulated: at 100 Mbit/s and 12 s a fleet that takes longer than all others together.
    assert_said_to_vary(&CAPACITIES[..4], Pause::Slow);
}

/// So many runs of each load, each with a little more or less cross traffic and other chances.
const RUNS: u64 = 10;

/// What pathload finds at one load, whatever its outcome.
#[derive(Default)]
struct Row {
    /// Sum of the signed errors of the middle of the range, as shares of the truth.
    off: f64,
    /// Runs whose range holds the truth to within its resolution, and those that the program reports as reliable.
    holds: u64,
    believed: u64,
    /// Sum of the widths, as shares of the truth.
    width: f64,
    /// Sum of the rates that were sent on average, as shares of the truth, and of the times in seconds.
    sent: f64,
    seconds: f64,
}

fn pathload_at(mbps: f64, load: f64, pace: Pace, pause: Pause) -> Row {
    let mut row = Row::default();
    for seed in 101..101 + RUNS {
        // Within a twentieth of the load.
        let others = load * (0.95 + 0.1 * (seed as f64 * 0.618).fract());
        let (mut path, truth) = (
            probing(mbps, others, pace, seed),
            mbps * (1.0 - others) * 1e6,
        );
        let options = probe::pathload::Options {
            pause,
            ..Default::default()
        };
        let found = drive(Pathload::new(options, path.now()), &mut path);
        let seconds = path.now().as_nanos() as f64 / 1e9;
        let resolution = options.resolution * truth;
        let range = found.low_bps - resolution..=found.high_bps + resolution;
        row.off += f64::midpoint(found.low_bps, found.high_bps) / truth - 1.0;
        row.holds += u64::from(range.contains(&truth));
        let is_narrow = found.high_bps <= 3.0 * found.low_bps;
        row.believed += u64::from(match found.outcome {
            Outcome::Conclusive => true,
            Outcome::Grey => is_narrow,
            _ => false,
        });
        row.width += (found.high_bps - found.low_bps) / truth;
        row.sent += found.octets as f64 * 8.0 / seconds / truth;
        row.seconds += seconds;
    }
    let share = |sum: f64| sum / RUNS as f64 * 100.0;
    println!(
        "{mbps} Mbit/s, load {load}, {pace:?}, {pause:?}: {:+.1} %, range holds in {} of {RUNS}, {} believed, {:.0} % wide, {:.0} s, sends {:.0} %",
        share(row.off),
        row.holds,
        row.believed,
        share(row.width),
        row.seconds / RUNS as f64,
        share(row.sent)
    );
    row
}

const TENTHS: [f64; 9] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];

#[test]
fn the_range_holds_what_is_available_at_every_load() {
    for (mbps, pause) in [
        (10.0, Pause::Fast),
        (20.0, Pause::Fast),
        (10.0, Pause::Slow),
    ] {
        for load in TENTHS {
            let row = pathload_at(mbps, load, Pace::Even, pause);
            let off = row.off.abs() / RUNS as f64;
            assert!(
                row.holds * 10 >= RUNS * 9 && off <= 0.05,
                "{mbps} {load} {pause:?}"
            );
            assert!(row.width / RUNS as f64 <= 0.15, "{mbps} {load} {pause:?}");
            // A tenth of rates of which the first may be twice what is available.
            assert!(
                pause == Pause::Fast || row.sent / RUNS as f64 <= 0.15,
                "{load}"
            );
        }
    }
}

/// What is available in a stream's time then varies, and the range is as wide: it must hold the truth, and is not believed where its middle says
/// nothing any more.
#[test]
fn the_range_is_as_wide_as_independent_packets_make_it_vary() {
    for mbps in [10.0, 20.0] {
        for load in TENTHS {
            let row = pathload_at(mbps, load, Pace::Poisson, Pause::Fast);
            let off = row.off.abs() / RUNS as f64;
            assert!(row.holds * 10 >= RUNS * 9, "{mbps} {load}");
            assert!(load > 0.35 || off <= 0.06, "{mbps} {load}");
            assert!(off <= 0.1 || row.believed * 5 <= RUNS, "{mbps} {load}");
        }
    }
}

#[test]
fn pathrate_is_right_about_capacity_where_it_is_sure() {
    for pace in [Pace::Even, Pace::Recorded] {
        let cells = grid(&CAPACITIES, pace, |path, capacity, _| {
            let options = probe::pathrate::Options::default();
            let found = drive(Pathrate::new(options, path.now()), path);
            let value = found.capacity.map_or(f64::NAN, |found| found.value_bps);
            let sure = [
                probe::pathrate::Outcome::Conclusive,
                probe::pathrate::Outcome::Quick,
            ];
            Cell {
                conclusive: sure.contains(&found.outcome),
                off: value / capacity - 1.0,
                holds: false,
            }
        });
        let (share, off) = judge(&cells, &format!("pathrate, others {pace:?}"));
        assert!(off <= 0.05 && share > 0.3, "{pace:?}: {share} {off}");
    }
}

#[test]
fn an_echo_comes_back_after_both_ways() {
    let mut path = probing(10.0, 0.0, Pace::Even, 1);
    let train = Train::periodic(3, 1_250, Duration::from_millis(5)).echoed();
    let passage = path.carry(&train, path.now());
    // 1,250 octets at 10 Mbit/s last a millisecond; each way takes 10.
    let trips = passage.arrivals.iter().map(Arrival::round_trip_ns);
    assert_eq!(trips.collect::<Vec<_>>(), [Some(21_000_000); 3]);
}
