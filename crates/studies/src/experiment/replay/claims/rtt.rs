//! Claims 1 to 5 and 15 to 18: what models of round trips change.

use super::{
    Among, CONTROL, CORE, Cell, Claim, Constrained, Found, LADDER, LONG_MS, Mode, Model, Pooled,
    Structure, Told, Unconstrained, every, falls, falls_in_runs, never_grew, row, with,
};
use serde_json::json;

const BLOCKS: Structure = Structure::BlockSequential;
/// A gap of distributions below so many points is too small to say how much of it remains.
const LEAST_GAP: f64 = 5.0;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        number: 1,
        name: "the model of round trips changes short durations only",
        expected: "unconstrained, every structure: some two models 10 points apart below 500 ms, all within 2 above 1 s (D 5.1.1)",
        needs: &CONTROLS,
        among: Among::Grid,
        modes: &[Unconstrained],
        judge: short_only,
    },
    Claim {
        number: 2,
        name: "one round trip for all makes steps",
        expected: "block-sequential: 4 ms beyond 50 ms hold 10 points with mean and 3 with 10path; less with usernet, and with a-t-b-t (D 5.1.1)",
        needs: &[
            Cell::new(BLOCKS, Model::Mean),
            Cell::new(BLOCKS, Model::TenPaths),
            Cell::new(BLOCKS, Model::Usernet),
            Cell::new(Structure::ATBT, Model::Mean),
            Cell::new(Structure::ATBT, Model::TenPaths),
        ],
        among: Among::Nothing,
        modes: &[Unconstrained],
        judge: steps,
    },
    Claim {
        number: 3,
        name: "nothing is faster than the mean round trip, if all have it",
        expected: "mean: at most 0.1 % of responses below 1 RTT, 5 % of durations from connect below 2; usernet: 40 % of responses below 50 ms (D 5.1.2)",
        needs: &[
            Cell::new(BLOCKS, Model::Mean),
            Cell::new(BLOCKS, Model::Usernet),
        ],
        among: Among::Nothing,
        modes: &[Unconstrained],
        judge: floor,
    },
    Claim {
        number: 4,
        name: "usernet is faster than mean, and mean than 10path",
        expected: "unconstrained, every structure: so the mean shares of durations up to 500 ms (D 5.1.1)",
        needs: &CONTROLS,
        among: Among::Grid,
        modes: &[Unconstrained],
        judge: order,
    },
    Claim {
        number: 5,
        name: "active connections do not depend on the model of round trips",
        expected: "unconstrained, every structure: counted by the second, within 2 % (D 5.1.4)",
        needs: &CONTROLS,
        among: Among::Grid,
        modes: &[Unconstrained],
        judge: active,
    },
    Claim {
        number: 15,
        name: "a constrained link hides round trips from all but a-t-b-t",
        expected: "of the gap of usernet and 10path below 500 ms less than half remains with blocks and a-b, more with a-t-b-t (D 5.2.1)",
        needs: &[
            Cell::new(Structure::BlockConcurrent, Model::TenPaths),
            Cell::new(BLOCKS, Model::TenPaths),
            Cell::new(Structure::AB, Model::TenPaths),
            Cell::new(Structure::ATBT, Model::TenPaths),
        ],
        among: Among::Nothing,
        modes: &Mode::ALL,
        judge: hidden,
    },
    Claim {
        number: 16,
        name: "the shorter the round trips, the longer the queue",
        expected: "constrained, time above 16 ms: nodelay > median > usernet > uniform (D 6.1.2.1: 93, 78, 20, 4 %)",
        needs: &[
            Cell::new(Structure::ATBT, Model::NoDelay),
            Cell::new(Structure::ATBT, Model::Median),
            Cell::new(Structure::ATBT, Model::Uniform),
        ],
        among: Among::Nothing,
        modes: &[Constrained],
        judge: lighter,
    },
    Claim {
        number: 17,
        name: "without any delay connections still take long: they wait",
        expected: "a-t-b-t, nodelay, unconstrained: 20 % take above 1 s, within 10 points, without or with the connections that were left out (D 6.1.1.1)",
        needs: &[Cell::new(Structure::ATBT, Model::NoDelay)],
        among: Among::Nothing,
        modes: &[Unconstrained],
        judge: waits,
    },
    Claim {
        number: 18,
        name: "thirty paths stand for each connection's own, but for the queue",
        expected: "durations with da:30 and usernet within 3 points unconstrained; da:30's queue longer constrained (D 6.2)",
        needs: &[Cell::new(Structure::ATBT, Model::DA)],
        among: Among::Nothing,
        modes: &Mode::ALL,
        judge: paths,
    },
];

const CONTROLS: [Cell; 3] = [
    CONTROL,
    Cell::new(Structure::ATBT, Model::Mean),
    Cell::new(Structure::ATBT, Model::TenPaths),
];

/// The largest gap of any two of three.
fn widest(of: [&Pooled; 3], from: f64, to: f64) -> f64 {
    let gap = |one: usize, other: usize| of[one].durations.gap(&of[other].durations, from, to);
    gap(0, 1).max(gap(0, 2)).max(gap(1, 2))
}

fn names(structures: impl IntoIterator<Item = Structure>) -> Vec<String> {
    structures.into_iter().map(|s| s.to_string()).collect()
}

fn short_only(found: &Found) -> Option<Told> {
    let all = with(found, Unconstrained, CORE);
    let gaps: Vec<[f64; 2]> = all
        .iter()
        .map(|(_, of)| [widest(*of, 0.0, 500.0), widest(*of, 1_000.0, f64::MAX)])
        .collect();
    (!gaps.is_empty()).then(|| {
        let words = all
            .iter()
            .zip(&gaps)
            .map(|((structure, _), [short, long])| format!("{structure} {short:.1} and {long:.1}"));
        Told::new(
            gaps.iter()
                .all(|[short, long]| *short >= 10.0 && *long < 2.0),
            format!(
                "points below 500 ms and above 1 s: {}",
                words.collect::<Vec<_>>().join(", ")
            ),
            json!({ "structures": names(all.iter().map(|of| of.0)), "gaps_points": gaps }),
        )
    })
}

fn steps(found: &Found) -> Option<Told> {
    let rise = |structure, rtt| {
        let of = found.get(Cell::new(structure, rtt), Unconstrained)?;
        Some(of.durations.steepest(4.0, 50.0, 500.0))
    };
    let blocks = CORE.map(|rtt| rise(BLOCKS, rtt));
    let [usernet, mean, ten] = [blocks[0]?, blocks[1]?, blocks[2]?];
    let full = [
        rise(Structure::ATBT, Model::Mean)?,
        rise(Structure::ATBT, Model::TenPaths)?,
    ];
    let are_steps = mean >= 10.0 && ten >= 3.0;
    let are_none = usernet < 3.0 && full[0] < 10.0 && full[1] < 3.0;
    Some(Told::new(
        are_steps && are_none,
        format!(
            "block-sequential: mean {mean:.1}, 10path {ten:.1}, usernet {usernet:.1}; a-t-b-t: mean {:.1}, 10path {:.1}",
            full[0], full[1]
        ),
        json!({ "mean": mean, "10path": ten, "usernet": usernet, "a-t-b-t_mean": full[0], "a-t-b-t_10path": full[1] }),
    ))
}

fn floor(found: &Found) -> Option<Told> {
    let mean = found.get(Cell::new(BLOCKS, Model::Mean), Unconstrained)?;
    let own = found.get(Cell::new(BLOCKS, Model::Usernet), Unconstrained)?;
    // Vectors of different repeats have different means: no run's is below the least.
    let rtt = mean.rtts.quantile(0.0)?;
    let below = mean.responses.up_to(rtt - 0.5);
    let connect = mean.from_connect.up_to(2.0 * rtt - 0.5);
    let fast = own.responses.up_to(50.0);
    Some(Told::new(
        below <= 0.1 && connect <= 5.0 && fast >= 40.0,
        format!(
            "mean ({rtt:.0} ms): {below:.2} % of responses below 1 RTT, {connect:.1} % of durations below 2; usernet: {fast:.1} % of responses below 50 ms"
        ),
        json!({ "rtt_ms": rtt, "responses_below_rtt_pct": below, "durations_below_2rtt_pct": connect, "usernet_below_50ms_pct": fast }),
    ))
}

fn order(found: &Found) -> Option<Told> {
    let all = with(found, Unconstrained, CORE);
    let bodies: Vec<[f64; 3]> = all
        .iter()
        .map(|(_, of)| of.map(|of| of.durations.body(500.0)))
        .collect();
    (!all.is_empty()).then(|| {
        let words = all
            .iter()
            .zip(&bodies)
            .map(|((structure, _), bodies)| format!("{structure} {}", row(bodies, " > ")));
        Told::new(
            bodies.iter().all(|bodies| falls(bodies)),
            format!("usernet, mean, 10path in %: {}", words.collect::<Vec<_>>().join(", ")),
            json!({ "structures": names(all.iter().map(|of| of.0)), "mean_share_up_to_500ms_pct": bodies }),
        )
    })
}

fn active(found: &Found) -> Option<Told> {
    let all = with(found, Unconstrained, CORE);
    let mut spreads = Vec::new();
    for (structure, of) in &all {
        let means = [of[0].active?, of[1].active?, of[2].active?];
        let most = means.iter().copied().fold(0.0, f64::max);
        let least = means.iter().copied().fold(f64::MAX, f64::min);
        spreads.push((*structure, (most - least) * 100.0 / means[0]));
    }
    (!spreads.is_empty()).then(|| {
        let words = spreads.iter().map(|(structure, pct)| format!("{structure} {pct:.1} %"));
        Told::new(
            spreads.iter().all(|(_, pct)| *pct < 2.0),
            format!("largest difference: {}", words.collect::<Vec<_>>().join(", ")),
            json!({ "structures": names(spreads.iter().map(|s| s.0)), "difference_pct": spreads.iter().map(|s| s.1).collect::<Vec<_>>() }),
        )
    })
}

fn hidden(found: &Found) -> Option<Told> {
    let gap = |structure, mode| {
        let of = |rtt| found.get(Cell::new(structure, rtt), mode);
        let (own, ten) = (of(Model::Usernet)?, of(Model::TenPaths)?);
        Some(own.durations.gap(&ten.durations, 0.0, 500.0))
    };
    let mut gaps = Vec::new();
    for structure in LADDER {
        gaps.push([gap(structure, Unconstrained)?, gap(structure, Constrained)?]);
    }
    let queues = LADDER
        .iter()
        .filter_map(|&structure| found.get(Cell::new(structure, Model::Usernet), Constrained));
    if let Some(told) = never_grew(queues.map(|of| &of.queue_ms)) {
        return Some(told);
    }
    if let Some((structure, _)) = LADDER.iter().zip(&gaps).find(|(_, gap)| gap[0] < LEAST_GAP) {
        let why = format!("unconstrained, {structure} shows no gap of {LEAST_GAP} points to hide");
        return Some(Told::cannot(why, json!({ "gaps_points": gaps })));
    }
    let remains: Vec<f64> = gaps.iter().map(|[free, held]| held / free).collect();
    let holds = remains[..3].iter().all(|share| *share < 0.5) && remains[3] >= 0.5;
    let words = LADDER
        .iter()
        .zip(&gaps)
        .map(|(structure, [free, held])| format!("{structure} {free:.1} to {held:.1}"));
    let told = Told::new(
        holds,
        format!(
            "points unconstrained to constrained: {}",
            words.collect::<Vec<_>>().join(", ")
        ),
        json!({ "structures": names(LADDER), "gaps_points": gaps }),
    );
    Some(told.unless_overloaded(found, Model::Usernet))
}

fn constrained(found: &Found, rtt: Model) -> Option<&Pooled> {
    found.get(Cell::new(Structure::ATBT, rtt), Constrained)
}

fn lighter(found: &Found) -> Option<Told> {
    let models = [
        Model::NoDelay,
        Model::Median,
        Model::Usernet,
        Model::Uniform,
    ];
    let mut all: Vec<&Pooled> = Vec::new();
    for rtt in models {
        all.push(constrained(found, rtt)?);
    }
    if let Some(told) = never_grew(all.iter().map(|of| &of.queue_ms)) {
        return Some(told);
    }
    let of_runs: Vec<_> = all.iter().map(|of| of.long_pct.as_slice()).collect();
    let shares: Vec<f64> = all.iter().map(|of| of.queue_ms.above(LONG_MS)).collect();
    Some(Told::of(
        falls_in_runs(&of_runs),
        format!(
            "nodelay, median, usernet, uniform: {} %",
            row(&shares, ", ")
        ),
        json!({ "above_16ms_pct": shares }),
    ))
}

fn waits(found: &Found) -> Option<Told> {
    let of = found.get(Cell::new(Structure::ATBT, Model::NoDelay), Unconstrained)?;
    let played = of.durations.above(1_000.0);
    // What is not played took longer than that.
    let share = found.kept.map_or(1.0, |kept| {
        kept.short.connections as f64 / kept.drawn.connections.max(1) as f64
    });
    let all = 100.0 - (100.0 - played) * share;
    Some(Told::new(
        all >= 10.0 && played <= 30.0,
        format!("{played:.1} % of those played, {all:.1} % with those left out, which took longer"),
        json!({ "played_above_1s_pct": played, "all_above_1s_pct": all }),
    ))
}

fn paths(found: &Found) -> Option<Told> {
    let da = Cell::new(Structure::ATBT, Model::DA);
    let gap = found.get(da, Unconstrained)?.durations.gap(
        &found.get(CONTROL, Unconstrained)?.durations,
        0.0,
        f64::MAX,
    );
    let held = [
        found.get(da, Constrained)?,
        found.get(CONTROL, Constrained)?,
    ];
    if let Some(told) = never_grew(held.map(|of| &of.queue_ms)) {
        return Some(told);
    }
    let is_longer = falls_in_runs(&held.map(|of| of.long_pct.as_slice()));
    let [da, own] = held.map(|of| of.queue_ms.above(LONG_MS));
    Some(Told::of(
        every([Some(gap < 3.0), is_longer]),
        format!(
            "{gap:.1} points; queue above 16 ms for {da:.1} % of the time, {own:.1} % with usernet"
        ),
        json!({ "gap_points": gap, "da_above_16ms_pct": da, "usernet_above_16ms_pct": own }),
    ))
}
