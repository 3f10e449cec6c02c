use super::super::World;
use super::super::found::Group;
use super::super::hour::Runs;
use super::*;
use crate::experiment::{Description, Study};
use tmix::replay::verify::Fidelity;
use units::Rate;

/// Times of 1,000 connections or responses that spread evenly over what lies between two of these, in equal parts.
fn spread(knots: &[f64]) -> Curve {
    // In thousandths of a part.
    let parts = knots.len() - 1;
    let at = |place: usize| {
        let along = place * parts;
        let (part, rest) = (&knots[along / 1_000..], (along % 1_000) as f64 / 1e3);
        part[0] + (part[1] - part[0]) * rest
    };
    Curve::of_all((0..1_000).map(at))
}

/// A queue that is above 16 ms for this share of the time.
fn queue(share: u32) -> Curve {
    Curve::of_all((0..100).map(|at| if at < share { 50.0 } else { 0.0 }))
}

/// A single run's.
fn run(value: f64) -> Runs {
    vec![(Hour::FIRST, value)]
}

fn group(cell: Cell, mode: Mode, pooled: Pooled) -> Group {
    Group::made_up(cell, mode, pooled)
}

/// What a claim says of these.
fn told(number: u32, groups: Vec<Group>) -> Option<Told> {
    let found = Found {
        groups,
        starts_s: 60.0,
        longest_s: 15.0,
        rates: vec!["16Mbit".parse::<Rate>().unwrap()],
        ..Found::default()
    };
    let claim = all().find(|claim| claim.number == number).unwrap();
    (claim.judge)(&found)
}

#[track_caller]
fn holds(number: u32, groups: Vec<Group>) -> Option<bool> {
    let told = told(number, groups).unwrap();
    assert!(
        !told.found.is_empty() && told.figures.is_object(),
        "{told:?}"
    );
    told.holds
}

/// The ladder with usernet or mean, each rung made by `of` from its place.
fn rungs(rtt: Model, mode: Mode, of: impl Fn(usize) -> Pooled) -> Vec<Group> {
    let rungs = LADDER.into_iter().enumerate();
    rungs
        .map(|(at, structure)| group(Cell::new(structure, rtt), mode, of(at)))
        .collect()
}

/// One structure with the three models of round trips.
fn core(structure: Structure, mode: Mode, of: impl Fn(usize) -> Pooled) -> Vec<Group> {
    let models = CORE.into_iter().enumerate();
    models
        .map(|(at, rtt)| group(Cell::new(structure, rtt), mode, of(at)))
        .collect()
}

fn lasting(knots: &[f64]) -> Pooled {
    Pooled {
        durations: spread(knots),
        ..Pooled::default()
    }
}

fn answering(knots: &[f64]) -> Pooled {
    Pooled {
        responses: spread(knots),
        ..Pooled::default()
    }
}

fn queueing(share: u32) -> Pooled {
    Pooled {
        queue_ms: queue(share),
        long_pct: run(f64::from(share)),
        ..Pooled::default()
    }
}

/// Durations that end evenly up to so many milliseconds, then alike.
fn until(ms: f64) -> Pooled {
    lasting(&[0.0, ms, 1_000.0, 9_000.0])
}

#[test]
fn there_are_twenty_five_claims_each_once_and_each_study_tells_its_own() {
    let numbers: Vec<u32> = all().map(|claim| claim.number).collect();
    assert_eq!(numbers, (1..=25).collect::<Vec<u32>>());
    let told_by = |name: &str| {
        let Study::Replay(replays) = Description::find(name).unwrap().0.study else {
            panic!("it is that study")
        };
        let experiment = add(Experiment::new(name, "?"), &replays, &Found::default());
        let numbers = experiment
            .cases
            .iter()
            .map(|case| case.name.split_once('.').unwrap().0);
        numbers.map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        told_by("replay/structure"),
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 21 22 23 24 25"
    );
    assert_eq!(told_by("replay/rtt"), "1 4 5 16 17 18 19 20 23 25");
}

#[test]
fn what_was_not_run_and_what_is_too_little_is_said() {
    let claim = all().next().unwrap();
    assert_eq!(case(claim, &Found::default()).found, None);
    let few = Pooled {
        durations: Curve::of_all([1.0; 9]),
        ..Pooled::default()
    };
    let found = Found {
        groups: vec![group(CONTROL, Unconstrained, few)],
        ..Found::default()
    };
    let case = case(claim, &found);
    assert_eq!(case.holds, None);
    assert!(case.found.unwrap().starts_with("too few connections: 9"));
}

/// The study in virtual time.
fn simulated() -> Replays {
    let Study::Replay(mut replays) = Description::find("replay/structure").unwrap().0.study else {
        panic!("it is that study");
    };
    replays.in_world(World::Sim).unwrap();
    replays
}

/// Whether models fall, of whose runs number `n` played what `hours` says of it.
fn falls_by(hours: impl Fn(usize) -> usize, models: &[&[f64]]) -> Option<bool> {
    let replays = simulated();
    let runs = |values: &&[f64]| -> Runs {
        let values = values.iter().enumerate();
        values
            .map(|(n, value)| (replays.hour(hours(n)), *value))
            .collect()
    };
    let models: Vec<Runs> = models.iter().map(runs).collect();
    falls_in_runs(&models.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn what_is_told_of_models_is_told_of_all_their_runs() {
    let falls = |models: &[&[f64]]| falls_by(|_| 0, models);
    assert_eq!(falls(&[&[9.0, 8.0], &[7.0, 5.0], &[4.0]]), Some(true));
    assert_eq!(falls(&[&[9.0, 6.0], &[7.0, 5.0], &[4.0]]), None);
    assert_eq!(falls(&[&[9.0, 6.0], &[7.0, 5.0], &[8.0]]), Some(false));
    assert_eq!(falls(&[&[1.0], &[1.0]]), None);
    assert_eq!(falls(&[&[1.0], &[]]), None);
}

#[test]
fn runs_of_the_same_vectors_are_compared() {
    let falls = |models: &[&[f64]]| falls_by(|n| n, models);
    assert_eq!(
        falls(&[&[50.0, 40.0, 30.0], &[45.0, 35.0, 25.0]]),
        Some(true)
    );
    assert_eq!(
        falls(&[&[45.0, 35.0, 25.0], &[50.0, 40.0, 30.0]]),
        Some(false)
    );
    assert_eq!(falls(&[&[50.0, 40.0, 30.0], &[45.0, 41.0, 25.0]]), None);
    assert_eq!(falls(&[&[50.0, 40.0], &[45.0]]), Some(true));
}

#[test]
fn one_claim_that_fails_is_enough() {
    assert_eq!(every([Some(true), None, Some(false)]), Some(false));
    assert_eq!(every([Some(true), None]), None);
    assert_eq!(every([Some(true), Some(true)]), Some(true));
}

/// Holds tmix/equal-octets.
#[test]
fn nothing_is_told_of_models_that_delivered_different_loads() {
    let of = |block: f64| {
        let ladder = rungs(Model::Usernet, Unconstrained, move |at| Pooled {
            runs: 1,
            octets: if at == 0 { block } else { 100e6 },
            ..lasting(&[0.0, [600.0, 600.0, 700.0, 3_000.0][at], 9_000.0])
        });
        // One that the claim does not compare.
        let other = Pooled {
            runs: 1,
            octets: 1.0,
            ..until(1.0)
        };
        let other = group(CONTROL, Constrained, other);
        let found = Found {
            groups: ladder.into_iter().chain([other]).collect(),
            ..Found::default()
        };
        case(all().find(|claim| claim.number == 6).unwrap(), &found)
    };
    assert_eq!(of(102e6).holds, Some(true));
    let case = of(106e6);
    assert_eq!(case.holds, None);
    assert!(
        case.found
            .unwrap()
            .contains("between 100.0 and 106.0 MB were delivered")
    );
}

#[test]
fn a_claim_on_the_grid_compares_all_of_it_and_others_what_they_need() {
    let block = group(
        Cell::new(Structure::AB, Model::Mean),
        Constrained,
        Pooled::default(),
    );
    let of = |number| {
        all()
            .find(|claim| claim.number == number)
            .unwrap()
            .compares(&block)
    };
    assert!(of(11) && of(12));
    assert!(!of(1), "of free links only");
    assert!(!of(14) && !of(16));
    assert!(all().all(|claim| !claim.modes.is_empty()));
}

/// Holds tmix/rtt-free.
#[test]
fn claim_1_round_trips_change_short_durations_only() {
    let ends = |ms: [f64; 3]| core(Structure::ATBT, Unconstrained, |at| until(ms[at]));
    assert_eq!(holds(1, ends([100.0, 300.0, 500.0])), Some(true));
    assert_eq!(holds(1, ends([100.0, 110.0, 105.0])), Some(false));
    let late = core(Structure::ATBT, Unconstrained, |at| {
        lasting(&[0.0, 100.0, [2_000.0, 9_000.0][at / 2]])
    });
    assert_eq!(holds(1, late), Some(false));
}

/// Holds tmix/rtt-free.
#[test]
fn claim_2_one_round_trip_makes_steps() {
    let smooth = || until(900.0);
    let stepped = || lasting(&[0.0, 79.0, 80.0, 900.0]);
    let both = |full: fn() -> Pooled| {
        let blocks = core(Structure::BlockSequential, Unconstrained, |at| {
            if at == 0 { until(900.0) } else { stepped() }
        });
        blocks
            .into_iter()
            .chain(core(Structure::ATBT, Unconstrained, move |_| full()))
            .collect()
    };
    assert_eq!(holds(2, both(|| until(900.0))), Some(true));
    assert_eq!(
        holds(2, both(|| lasting(&[0.0, 79.0, 80.0, 900.0]))),
        Some(false)
    );
    let none = [Structure::BlockSequential, Structure::ATBT]
        .map(|of| core(of, Unconstrained, |_| smooth()));
    assert_eq!(holds(2, none.into_iter().flatten().collect()), Some(false));
}

/// Holds tmix/rtt-free.
#[test]
fn claim_3_nothing_is_faster_than_the_round_trip() {
    let pair_of = |rtts: &[f64], least: f64| {
        let mean = Pooled {
            rtts: Curve::of_all(rtts.iter().copied()),
            from_connect: spread(&[2.0 * least, 900.0]),
            ..answering(&[least, 900.0])
        };
        let own = answering(&[5.0, 45.0, 300.0]);
        let of = |rtt, pooled| {
            group(
                Cell::new(Structure::BlockSequential, rtt),
                Unconstrained,
                pooled,
            )
        };
        vec![of(Model::Mean, mean), of(Model::Usernet, own)]
    };
    let pair = |least| pair_of(&[80.0], least);
    assert_eq!(holds(3, pair(80.0)), Some(true));
    assert_eq!(holds(3, pair(60.0)), Some(false));
    // Of three sets of vectors with means of their own.
    assert_eq!(holds(3, pair_of(&[80.0, 78.0, 83.0], 78.0)), Some(true));
    assert_eq!(holds(3, pair_of(&[80.0, 78.0, 83.0], 60.0)), Some(false));
}

/// Holds tmix/rtt-free.
#[test]
fn claims_4_and_5_order_and_active_connections() {
    let of = |ms: [f64; 3], active: [f64; 3]| {
        core(Structure::AB, Unconstrained, move |at| Pooled {
            active: Some(active[at]),
            ..until(ms[at])
        })
    };
    assert_eq!(holds(4, of([100.0, 200.0, 300.0], [1.0; 3])), Some(true));
    assert_eq!(holds(4, of([100.0, 300.0, 200.0], [1.0; 3])), Some(false));
    assert_eq!(
        holds(5, of([1.0; 3], [1_000.0, 1_010.0, 995.0])),
        Some(true)
    );
    assert_eq!(
        holds(5, of([1.0; 3], [1_000.0, 1_030.0, 1_000.0])),
        Some(false)
    );
}

/// Holds tmix/structure-free.
#[test]
fn claims_6_and_7_blocks_end_sooner_and_alike() {
    let ladder = |ends: [f64; 4]| {
        rungs(Model::Usernet, Unconstrained, move |at| {
            lasting(&[0.0, ends[at], 2.0 * ends[at]])
        })
    };
    assert_eq!(holds(6, ladder([600.0, 601.0, 700.0, 3_000.0])), Some(true));
    assert_eq!(
        holds(6, ladder([600.0, 601.0, 3_000.0, 700.0])),
        Some(false)
    );
    assert_eq!(holds(7, ladder([600.0, 601.0, 700.0, 3_000.0])), Some(true));
    assert_eq!(
        holds(7, ladder([700.0, 600.0, 700.0, 3_000.0])),
        Some(false)
    );
}

/// Holds tmix/structure-free.
#[test]
fn claim_8_a_b_falls_behind_beyond_one_epoch() {
    let ladder = |second: f64| {
        rungs(Model::Mean, Unconstrained, move |at| match at {
            2 => lasting(&[0.0, 100.0, 100.0 + second]),
            _ => lasting(&[0.0, 100.0, 200.0]),
        })
    };
    assert_eq!(holds(8, ladder(160.0)), Some(true));
    assert_eq!(holds(8, ladder(100.0)), Some(false));
}

/// Holds tmix/structure-free, tmix/structure-constrained.
#[test]
fn claims_9_and_13_responses() {
    let ladder = |mode, ms: [f64; 4], share: u32| {
        rungs(Model::Mean, mode, move |at| Pooled {
            rtts: Curve::of_all([80.0]),
            queue_ms: queue(share),
            long_pct: run(f64::from(share)),
            ..answering(&[80.0, ms[at]])
        })
    };
    assert_eq!(
        holds(9, ladder(Unconstrained, [200.0, 190.0, 170.0, 2_000.0], 0)),
        Some(true)
    );
    assert_eq!(
        holds(9, ladder(Unconstrained, [200.0, 120.0, 170.0, 2_000.0], 0)),
        Some(false)
    );
    let both = |full: f64, share: u32| {
        let free = ladder(Unconstrained, [200.0, 190.0, 170.0, 2_000.0], 0);
        let constrained = ladder(Constrained, [900.0, 800.0, 700.0, full], share);
        let all = free.into_iter().chain(constrained);
        // D shows no curve of block-concurrent here, and it need not have been run.
        all.filter(|group| group.cell.structure != Structure::BlockConcurrent)
            .collect()
    };
    assert_eq!(holds(13, both(500.0, 50)), Some(true));
    assert_eq!(holds(13, both(750.0, 50)), Some(false));
    assert_eq!(holds(13, both(500.0, 0)), None);
}

/// Holds tmix/structure-free.
#[test]
fn claim_10_cannot_fail_in_a_short_run() {
    let ladder = |full: f64| {
        rungs(Model::Usernet, Unconstrained, move |at| Pooled {
            active: Some(if at == 3 { full } else { 50.0 }),
            ..Pooled::default()
        })
    };
    assert_eq!(holds(10, ladder(500.0)), Some(true));
    assert_eq!(holds(10, ladder(300.0)), None);
}

/// Holds tmix/rtt-constrained, tmix/structure-constrained.
#[test]
fn claims_11_and_12_the_queue_by_structure_and_by_round_trips() {
    let ladder =
        |shares: [u32; 4]| rungs(Model::Usernet, Constrained, move |at| queueing(shares[at]));
    assert_eq!(holds(11, ladder([75, 70, 60, 20])), Some(true));
    assert_eq!(
        holds(11, ladder([75, 50, 40, 20])),
        Some(false),
        "blocks differ"
    );
    assert_eq!(holds(11, ladder([75, 70, 20, 60])), Some(false));
    assert_eq!(holds(11, ladder([0, 0, 0, 0])), None);
    let models =
        |shares: [u32; 3]| core(Structure::AB, Constrained, move |at| queueing(shares[at]));
    assert_eq!(holds(12, models([70, 50, 60])), Some(true));
    assert_eq!(holds(12, models([70, 60, 50])), Some(false));
    assert_eq!(holds(12, models([0; 3])), None);
}

/// Holds tmix/structure-constrained.
#[test]
fn claim_14_blocks_take_longer_on_a_full_link() {
    let ladder = |block: f64| {
        rungs(Model::Usernet, Constrained, move |at| Pooled {
            queue_ms: queue(50),
            long_pct: run(50.0),
            ..lasting(&[0.0, if at < 2 { block } else { 100.0 }, 5_000.0])
        })
    };
    assert_eq!(holds(14, ladder(900.0)), Some(true));
    assert_eq!(holds(14, ladder(50.0)), Some(false));
}

/// Holds tmix/rtt-constrained.
#[test]
fn claim_15_a_full_link_hides_round_trips() {
    let all = |held: [f64; 2]| {
        let of = |mode, gap: [f64; 2]| {
            LADDER
                .into_iter()
                .enumerate()
                .flat_map(move |(rung, structure)| {
                    core(structure, mode, move |at| Pooled {
                        queue_ms: queue(50),
                        long_pct: run(50.0),
                        ..until(100.0 + at as f64 * gap[rung / 3])
                    })
                })
        };
        of(Unconstrained, [150.0; 2])
            .chain(of(Constrained, held))
            .collect()
    };
    assert_eq!(holds(15, all([5.0, 150.0])), Some(true));
    assert_eq!(holds(15, all([150.0, 150.0])), Some(false));
    assert_eq!(holds(15, all([5.0, 5.0])), Some(false));
}

/// Holds tmix/other-rtts, tmix/da-enough.
#[test]
fn claims_16_to_18_other_models_of_round_trips() {
    let of = |rtt, mode, pooled| group(Cell::new(Structure::ATBT, rtt), mode, pooled);
    let queues = |shares: [u32; 4]| {
        let models = [
            Model::NoDelay,
            Model::Median,
            Model::Usernet,
            Model::Uniform,
        ];
        let both = models.into_iter().zip(shares);
        both.map(|(rtt, share)| of(rtt, Constrained, queueing(share)))
            .collect::<Vec<_>>()
    };
    assert_eq!(holds(16, queues([93, 78, 20, 4])), Some(true));
    assert_eq!(holds(16, queues([93, 20, 78, 4])), Some(false));
    assert_eq!(holds(16, queues([0; 4])), None);
    assert_eq!(
        holds(17, vec![of(Model::NoDelay, Unconstrained, until(500.0))]),
        Some(false)
    );
    let few = vec![of(
        Model::NoDelay,
        Unconstrained,
        lasting(&[0.0, 500.0, 1_030.0]),
    )];
    assert_eq!(holds(17, few), Some(false));
    let fifth = lasting(&[0.0, 100.0, 200.0, 300.0, 999.0, 9_000.0]);
    assert_eq!(
        holds(17, vec![of(Model::NoDelay, Unconstrained, fifth)]),
        Some(true)
    );
    let paths = |ms: f64, share: u32| {
        vec![
            of(Model::DA, Unconstrained, until(ms)),
            of(Model::Usernet, Unconstrained, until(100.0)),
            of(Model::DA, Constrained, queueing(share)),
            of(Model::Usernet, Constrained, queueing(20)),
        ]
    };
    assert_eq!(holds(18, paths(104.0, 40)), Some(true));
    assert_eq!(holds(18, paths(104.0, 10)), Some(false));
    assert_eq!(holds(18, paths(300.0, 40)), Some(false));
}

/// Holds tmix/window-effects.
#[test]
fn claims_19_and_20_windows() {
    let of = |mode, kib, share, huge: Curve, ms| {
        let cell = Cell {
            windows: Windows::Fixed(kib),
            ..CONTROL
        };
        let pooled = Pooled {
            huge,
            small: spread(&[0.0, 100.0]),
            queue_ms: queue(share),
            long_pct: run(f64::from(share)),
            ..until(ms)
        };
        group(cell, mode, pooled)
    };
    let huge = |ms: f64| Curve::of_all([ms; 30]);
    let free = |one, other, ms| {
        vec![
            of(Unconstrained, 8, 0, one, 100.0),
            of(Unconstrained, 64, 0, other, ms),
        ]
    };
    assert_eq!(holds(19, free(huge(5e4), huge(2.5e4), 101.0)), Some(true));
    assert_eq!(holds(19, free(huge(5e4), huge(4.9e4), 101.0)), Some(false));
    assert_eq!(
        holds(19, free(Curve::default(), Curve::default(), 101.0)),
        None
    );
    assert_eq!(
        holds(19, free(Curve::default(), Curve::default(), 300.0)),
        Some(false)
    );
    let full = |share, ms, last| {
        vec![
            of(Constrained, 8, 20, huge(5e4), 100.0),
            of(Constrained, 64, share, huge(last), ms),
        ]
    };
    assert_eq!(holds(20, full(40, 200.0, 2e4)), Some(true));
    assert_eq!(holds(20, full(40, 200.0, 6e4)), Some(false));
    assert_eq!(holds(20, full(10, 200.0, 2e4)), Some(false));
    assert_eq!(holds(20, full(40, 90.0, 2e4)), Some(false));
}

/// Holds tmix/arrivals.
#[test]
fn claims_21_and_22_arrivals() {
    let ladder = |cov: [f64; 4], full_mbps: f64, hurst: f64| {
        rungs(Model::Usernet, Unconstrained, move |at| Pooled {
            kpps: Some([48.8, 49.0, 50.3, 60.2][at]),
            cov_1s: Some(cov[at]),
            mbps: if at == 3 { full_mbps } else { 16.0 },
            hurst: (hurst > 0.0).then_some(if at == 3 {
                [hurst, hurst + 0.1]
            } else {
                [0.9, 1.0]
            }),
            ..Pooled::default()
        })
    };
    let paper = [0.1147, 0.1126, 0.0999, 0.0625];
    assert_eq!(holds(21, ladder(paper, 16.0, 0.9)), Some(true));
    assert_eq!(
        holds(21, ladder([0.1, 0.1, 0.2, 0.3], 16.0, 0.9)),
        Some(false)
    );
    assert_eq!(holds(21, ladder(paper, 9.0, 0.9)), None);
    assert_eq!(holds(22, ladder(paper, 16.0, 0.95)), Some(true));
    assert_eq!(holds(22, ladder(paper, 16.0, 0.7)), Some(false));
    assert_eq!(holds(22, ladder(paper, 16.0, 0.0)), None);
}

/// Holds tmix/fidelity.
#[test]
fn claim_23_is_the_verdict_of_verify() {
    for (verdict, holds) in [
        ("PASS", Some(true)),
        ("FAIL", Some(false)),
        ("INCONCLUSIVE", None),
    ] {
        let fidelity = json!({
            "verdict": verdict, "connections": 9, "found": 9, "same_adus": 9, "not_overlapping": 0, "distributions": [],
            "rtt_error_ms": null, "start_error_ms": null, "wait_error_ms": null,
        });
        let found = Found {
            fidelity: Some(serde_json::from_value::<Fidelity>(fidelity).unwrap()),
            ..Found::default()
        };
        let claim = all().find(|claim| claim.number == 23).unwrap();
        assert_eq!((claim.judge)(&found).unwrap().holds, holds, "{verdict}");
    }
    assert_eq!(told(23, Vec::new()), None);
}

/// Holds tmix/structure-constrained.
#[test]
fn claim_24_the_queue_drains_sooner() {
    let ladder = |full: f64, share| {
        rungs(Model::Usernet, Constrained, move |at| Pooled {
            busy_s: run(if at == 3 { full } else { 30.0 }),
            ..queueing(share)
        })
    };
    assert_eq!(holds(24, ladder(5.0, 50)), Some(true));
    assert_eq!(holds(24, ladder(31.0, 50)), Some(false));
    assert_eq!(holds(24, ladder(5.0, 0)), None);
}

#[test]
fn what_is_load_is_not_said_to_be_structure() {
    let both = |full: f64, block_mbps: f64| {
        let free = rungs(Model::Usernet, Unconstrained, move |at| Pooled {
            mbps: if at == 3 { 15.2 } else { block_mbps },
            ..Pooled::default()
        });
        let constrained = rungs(Model::Usernet, Constrained, move |at| Pooled {
            busy_s: run(if at == 3 { full } else { 30.0 }),
            ..queueing(50)
        });
        free.into_iter().chain(constrained).collect()
    };
    assert_eq!(holds(24, both(5.0, 15.9)), Some(true));
    assert_eq!(holds(24, both(5.0, 20.0)), None, "the link has 16 Mbit/s");
    assert_eq!(holds(24, both(31.0, 20.0)), Some(false));
    let found = told(24, both(5.0, 20.0)).unwrap();
    assert!(
        found
            .found
            .contains("20.0 Mbit/s were carried, more than the link's 16.0"),
        "{found:?}"
    );
    assert_eq!(found.figures["link_mbps"], 16.0);
}

/// Holds tmix/control-constrained.
#[test]
fn claim_25_responses_only() {
    let pair = |response: f64, mean: f64, share| {
        let of = |mode, response: f64, mean: f64| {
            let mut durations = spread(&[0.0, 100.0]);
            durations.mean = mean;
            let pooled = Pooled {
                durations,
                responses: spread(&[0.0, response]),
                active: Some(1_500.0),
                queue_ms: queue(share),
                long_pct: run(f64::from(share)),
                ..Pooled::default()
            };
            group(CONTROL, mode, pooled)
        };
        vec![
            of(Unconstrained, 220.0, 33e3),
            of(Constrained, response, mean),
        ]
    };
    assert_eq!(holds(25, pair(280.0, 33.2e3, 30)), Some(true));
    assert_eq!(holds(25, pair(222.0, 33.2e3, 30)), Some(false));
    // Those whose mean D has are not played.
    assert_eq!(holds(25, pair(280.0, 39e3, 30)), None);
    assert_eq!(holds(25, pair(222.0, 39e3, 30)), Some(false));
    assert_eq!(holds(25, pair(280.0, 33e3, 0)), None);
}
