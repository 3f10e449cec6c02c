use super::*;
use crate::experiment::trials::Cell;
use crate::experiment::trials::found::Run;
use crate::trial::summary::{Place, Summary, Tables};
use crate::trial::tables::EstimateRow;

/// A run in which every second is `mbps`, with estimations of so many seconds that found `found` where 4 Mbit/s were left.
fn run(probes: Probes, riding: bool, mbps: f64, times: &[u64], found: f64) -> Run {
    let source_mbps = vec![mbps; 10];
    let estimates: Vec<_> = times.iter().map(|s| estimate(*s, found)).collect();
    let summary = Summary {
        sentence: String::new(),
        probes,
        riding,
        capacity_mbps: Some(10.0),
        seconds: 10,
        throughput_mbps: Some(Throughput {
            probe: if riding { 0.3 } else { 2.0 },
            cross: 5.0,
            ..Throughput::default()
        }),
        source: crate::trial::summary::Source::of(4.0, &source_mbps),
        estimates: crate::trial::summary::Estimates::of(&estimates),
        trains: 0,
        probes_sent: 0,
        probes_lost: 0,
        riders_lost: 0,
        by_tenth: vec![
            Place {
                tenth: 9,
                carrying: 10,
                carrying_lost: 5,
                ..Place::default()
            },
            Place {
                tenth: 0,
                carrying: 10,
                ..Place::default()
            },
        ],
        links: Vec::new(),
    };
    Run {
        summary,
        tables: Tables {
            estimates,
            ..Tables::default()
        },
        source_mbps,
    }
}

fn estimate(seconds: u64, found: f64) -> EstimateRow {
    let done = seconds < 60;
    EstimateRow {
        end_ns: seconds * 1_000_000_000,
        outcome: if done { "conclusive" } else { "given_up" }.into(),
        conclusive: done,
        uncorrected_low_mbps: Some(found),
        uncorrected_high_mbps: Some(found),
        spared_mbps: Some(found - 4.0),
        competing_stream_mbps: Some(0.0),
        competing_fleet_mbps: Some(0.0),
        truth_mbps: Some(4.0),
        ..EstimateRow::default()
    }
}

fn cell(probes: Probes, riding: bool, runs: Vec<Run>) -> Found {
    let ratio = 1.0;
    Found::of(
        Cell {
            probes,
            riding,
            ratio,
        },
        runs,
    )
}

fn step() -> Cross {
    "1Mbit,3Mbit".parse().unwrap()
}

#[track_caller]
fn holds(found: &[Found], part: &str) -> Option<bool> {
    told(&Claims::new(&step(), found).step(), part)
}

/// What is said of the case with these words in its name.
#[track_caller]
fn told(cases: &[Case], part: &str) -> Option<bool> {
    let mut named = cases.iter().filter(|case| case.name.contains(part));
    let case = named.next().unwrap_or_else(|| panic!("no case '{part}'"));
    assert!(case.holds.is_none() || case.found.is_some(), "{case:?}");
    case.holds
}

/// Holds manager/step.
#[test]
fn a_claim_holds_by_its_figures_or_does_not() {
    let of = |off: f64, on: f64| {
        [(false, off), (true, on)].map(|(riding, mbps)| {
            cell(
                Probes::Pk1,
                riding,
                vec![run(Probes::Pk1, riding, mbps, &[], 0.0)],
            )
        })
    };
    assert_eq!(holds(&of(3.0, 3.9), "beside pk1"), Some(true));
    assert_eq!(holds(&of(3.9, 3.0), "beside pk1"), Some(false));
    assert_eq!(holds(&of(3.9, 3.0), "beside pk2"), None);
    assert_eq!(holds(&of(3.9, 3.0), "no harm"), Some(true));
}

/// Holds manager/step.
#[test]
fn estimations_are_held_against_all_that_had_their_time() {
    let of = |off: &[u64], on: &[u64]| {
        let cells = [(false, off, 4.0), (true, on, 6.0)];
        cells.map(|(riding, times, found)| {
            cell(
                Probes::Pathload,
                riding,
                vec![run(Probes::Pathload, riding, 4.0, times, found)],
            )
        })
    };
    let found = of(&[20, 40, 60, 60, 50], &[20, 20, 25, 30, 60]);
    assert_eq!(holds(&found, "completes sooner"), Some(true));
    assert_eq!(holds(&found, "pSLOW completes more often"), Some(true));
    assert_eq!(holds(&found, "not corrected, pathload finds"), Some(true));
    let spared = "pathload, corrected by what its trains were spared";
    assert_eq!(holds(&found, spared), None, "three are not enough");
    let found = of(&[20, 40, 30, 60, 50], &[20, 20, 25, 30, 60]);
    assert_eq!(holds(&found, spared), Some(true));
    assert_eq!(
        holds(&found, "pathload, corrected by the riders"),
        Some(false)
    );
    assert_eq!(
        holds(&found, "pSLOW completes more often"),
        Some(false),
        "as often is not more"
    );
}

#[test]
fn too_few_estimations_are_said_to_be_too_few() {
    let found = [false, true].map(|riding| {
        let run = run(Probes::Pathload, riding, 4.0, &[20], 4.0);
        cell(Probes::Pathload, riding, vec![run])
    });
    let cross = step();
    let cases = Claims::new(&cross, &found).step();
    let sooner = cases
        .iter()
        .find(|case| case.name.contains("completes sooner"));
    let said = sooner.unwrap().found.clone().unwrap();
    assert!(said.contains("pathload 1 off, 1 on"), "{said}");
}

#[test]
fn a_cell_without_runs_tells_nothing() {
    let found = [
        cell(Probes::Pk2, false, Vec::new()),
        cell(Probes::Pk2, true, Vec::new()),
    ];
    for cross in [step(), Cross::Web, "5Mbit".parse().unwrap()] {
        let claims = Claims::new(&cross, &found);
        let experiment = claims.add(Experiment::new("manager/x", "?"));
        assert!(experiment.cases.len() > 10);
        assert!(experiment.cases.iter().all(|case| case.holds.is_none()));
    }
}

/// Cells without riding and with it of all tools, whose application reads so much of 4 Mbit/s.
fn cells(mbps: impl Fn(Probes, bool) -> f64) -> Vec<Found> {
    let tools = [&PATHLOADS[..], &REGULAR].concat();
    let pairs = tools
        .into_iter()
        .flat_map(|probes| [(probes, false), (probes, true)]);
    let cells = pairs.map(|(probes, riding)| {
        let times: &[u64] = match (probes.pause().is_some(), riding) {
            (false, _) => &[],
            (true, false) => &[20, 30, 40, 50, 60],
            (true, true) => &[10, 20, 30, 40, 45],
        };
        let run = run(probes, riding, mbps(probes, riding), times, 5.0);
        cell(probes, riding, vec![run])
    });
    cells.collect()
}

/// Holds manager/fixed5.
#[test]
fn beside_a_constant_load_more_probes_slow_the_application_down_and_riding_sustains_it() {
    let slowed = |last: f64| {
        cells(move |probes, riding| match probes {
            _ if riding => 3.95,
            Probes::Pk2 => 3.7,
            Probes::Pk3 => last,
            _ => 3.9,
        })
    };
    let fixed: Cross = "5Mbit".parse().unwrap();
    let of = |found: &[Found], part| told(&Claims::new(&fixed, found).fixed(), part);
    let found = slowed(3.5);
    for part in [
        "riding takes away what pk2 adds",
        "with riding the application is sustained",
        "the application is slowed by more probes",
        "figure 5.14",
        "figure 5.15: pathload takes as long",
        "figure 5.11: riding does others no harm",
    ] {
        assert_eq!(of(&found, part), Some(true), "{part}");
    }
    assert_eq!(of(&slowed(3.8), "slowed by more probes"), Some(false));
    let lost = cells(|probes, _| if probes == Probes::Pk3 { 3.7 } else { 3.9 });
    assert_eq!(of(&lost, "is sustained"), Some(false));
}

/// Holds manager/web, manager/losses.
#[test]
fn beside_connections_of_others_riding_may_hurt_and_a_ratio_of_a_half_hurts_less() {
    let seconds = |probes, below: usize| {
        let mut run = run(probes, true, 4.0, &[10, 20, 30, 40, 45], 5.0);
        run.source_mbps[..below].fill(3.0);
        run.summary.riders_lost = below as u64;
        run
    };
    let found = |slow: usize, half: usize| {
        let mut found = cells(|_, _| 4.0);
        for one in &mut found {
            match (one.cell.probes, one.cell.riding) {
                (Probes::PathloadFast, true) => one.runs = vec![seconds(Probes::PathloadFast, 4)],
                (Probes::Pathload, true) => one.runs = vec![seconds(Probes::Pathload, slow)],
                _ => {}
            }
        }
        let half_of_it = Cell {
            probes: Probes::PathloadFast,
            riding: true,
            ratio: 0.5,
        };
        let run = seconds(Probes::PathloadFast, half);
        found.push(Found::of(half_of_it, vec![run]));
        found
    };
    let of = |found: &[Found], part| told(&Claims::new(&Cross::Web, found).web(), part);
    let as_told = found(2, 1);
    for part in [
        "with pFAST riding hurts the application",
        "with pSLOW it hurts less",
        "losses come toward the end of trains",
        "a ratio of 0.5 loses fewer riders",
        "a ratio of 0.5 hurts the application less",
        "a ratio of 0.5 still makes pFAST faster",
    ] {
        assert_eq!(of(&as_told, part), Some(true), "{part}");
    }
    assert_eq!(of(&found(5, 1), "with pSLOW it hurts less"), Some(false));
    assert_eq!(of(&found(2, 5), "hurts the application less"), Some(false));
    assert_eq!(of(&found(2, 5), "loses fewer riders"), Some(false));
}
