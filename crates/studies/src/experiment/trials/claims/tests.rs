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
    let cross = step();
    let cases = Claims::new(&cross, found).step();
    let mut named = cases.iter().filter(|case| case.name.contains(part));
    let case = named.next().unwrap_or_else(|| panic!("no case '{part}'"));
    assert!(case.holds.is_none() || case.found.is_some(), "{case:?}");
    case.holds
}

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
