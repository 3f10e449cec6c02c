//! Claims 11 to 14: what structure changes where the link is hardly enough.

use super::{
    Among, CORE, Cell, Claim, Constrained, Found, LADDER, LONG_MS, Mode, Model, Pooled, Told,
    Unconstrained, cells, every, falls, falls_in_runs, ladder, long_packets, never_grew, row,
    sequential_cells, sequential_ladder, with,
};
use serde_json::json;

const OWN: [Cell; 4] = cells(Model::Usernet);
const MEAN: [Cell; 3] = sequential_cells(Model::Mean);
/// Two shares of time within so many points are about the same.
const ALIKE: f64 = 10.0;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        number: 11,
        name: "the less structure, the longer the queue",
        expected: "constrained, all round trips, time above 16 ms: blocks within 10 points of each other, > a-b > a-t-b-t (D 5.4.3: 65 to 80 against 20 %)",
        needs: &OWN,
        among: Among::Grid,
        modes: &[Constrained],
        judge: structure,
    },
    Claim {
        number: 12,
        name: "the queue is longest with usernet, then 10path, then mean",
        expected: "constrained, every structure: so the time above 16 ms (D 5.2.3)",
        needs: &OWN,
        among: Among::Grid,
        modes: &[Constrained],
        judge: round_trips,
    },
    Claim {
        number: 13,
        name: "a-t-b-t has the slowest responses of a free link and the fastest of a full one",
        expected: "mean: most above 1 s unconstrained; constrained within 400 ms a-t-b-t > a-b > block-sequential (D 5.4.2: 80, 68, 60 %)",
        needs: &MEAN,
        among: Among::Nothing,
        modes: &Mode::ALL,
        judge: responses,
    },
    Claim {
        number: 14,
        name: "on a full link blocks take longer than a-t-b-t",
        expected: "usernet, constrained: at 70 % or more of the quantiles, for both (D 5.4.1)",
        needs: &OWN,
        among: Among::Nothing,
        modes: &[Constrained],
        judge: durations,
    },
];

fn structure(found: &Found) -> Option<Told> {
    let mut all = Vec::new();
    for rtt in CORE {
        all.extend(ladder(found, rtt, Constrained).map(|of| (rtt, of)));
    }
    if all.is_empty() {
        return None;
    }
    if let Some(told) = never_grew(all.iter().flat_map(|(_, of)| of.map(|of| &of.queue_ms))) {
        return Some(told);
    }
    let packets = found.rate().map_or(f64::NAN, long_packets);
    let shares: Vec<_> = all
        .iter()
        .map(|(_, of)| of.map(|of| of.queue_ms.above(LONG_MS)))
        .collect();
    let by_packets: Vec<_> = all
        .iter()
        .map(|(_, of)| of.map(|of| of.queue_packets.above(packets)))
        .collect();
    let is_so = |of: &[&Pooled; 4]| {
        let [concurrent, sequential, ab, full] = of.map(|of| of.long_pct.as_slice());
        let apart = of[0].queue_ms.above(LONG_MS) - of[1].queue_ms.above(LONG_MS);
        every([
            Some(apart.abs() <= ALIKE),
            falls_in_runs(&[concurrent, ab, full]),
            falls_in_runs(&[sequential, ab, full]),
        ])
    };
    let words = all
        .iter()
        .zip(&shares)
        .map(|((rtt, _), of)| format!("{rtt} {}", row(of, ", ")));
    let told = Told::of(
        every(all.iter().map(|(_, of)| is_so(of))),
        format!(
            "blk-conc, blk-seq, a-b, a-t-b-t in %: {}",
            words.collect::<Vec<_>>().join("; ")
        ),
        json!({
            "rtts": all.iter().map(|(rtt, _)| rtt.to_string()).collect::<Vec<_>>(),
            "above_16ms_pct": shares, "long_packets": packets, "above_long_packets_pct": by_packets,
        }),
    );
    let unless = |told: Told, (rtt, _): &(Model, _)| told.unless_overloaded(found, *rtt);
    Some(all.iter().fold(told, unless))
}

fn round_trips(found: &Found) -> Option<Told> {
    let all = with(
        found,
        Constrained,
        [Model::Usernet, Model::TenPaths, Model::Mean],
    );
    if all.is_empty() {
        return None;
    }
    if let Some(told) = never_grew(all.iter().flat_map(|(_, of)| of.map(|of| &of.queue_ms))) {
        return Some(told);
    }
    let shares: Vec<_> = all
        .iter()
        .map(|(_, of)| of.map(|of| of.queue_ms.above(LONG_MS)))
        .collect();
    let words = all
        .iter()
        .zip(&shares)
        .map(|((structure, _), of)| format!("{structure} {}", row(of, ", ")));
    let is_so = |of: &[&Pooled; 3]| falls_in_runs(&of.map(|of| of.long_pct.as_slice()));
    Some(Told::of(
        every(all.iter().map(|(_, of)| is_so(of))),
        format!(
            "usernet, 10path, mean in %: {}",
            words.collect::<Vec<_>>().join("; ")
        ),
        json!({
            "structures": all.iter().map(|(structure, _)| structure.to_string()).collect::<Vec<_>>(),
            "above_16ms_pct": shares,
        }),
    ))
}

fn responses(found: &Found) -> Option<Told> {
    let [sequential, ab, full] = sequential_ladder(found, Model::Mean, Unconstrained)?;
    let slow = [full, ab, sequential].map(|of| of.responses.above(1_000.0));
    let [sequential, ab, full] = sequential_ladder(found, Model::Mean, Constrained)?;
    let of = [full, ab, sequential];
    if let Some(told) = never_grew(of.map(|of| &of.queue_ms)) {
        return Some(told);
    }
    let fast = of.map(|of| of.responses.up_to(400.0));
    let told = Told::new(
        slow[0] > slow[1].max(slow[2]) && falls(&fast),
        format!(
            "a-t-b-t, a-b, block-sequential: above 1 s unconstrained {} %, within 400 ms constrained {} %",
            row(&slow, ", "),
            row(&fast, ", ")
        ),
        json!({ "free_above_1s_pct": slow, "full_within_400ms_pct": fast }),
    );
    Some(told.unless_overloaded(found, Model::Mean))
}

fn durations(found: &Found) -> Option<Told> {
    let all = ladder(found, Model::Usernet, Constrained)?;
    if let Some(told) = never_grew(all.map(|of| &of.queue_ms)) {
        return Some(told);
    }
    let is_longer = |rung: usize, share: f64| {
        let of = |rung: usize| all[rung].durations.quantile(share);
        match (of(rung), of(LADDER.len() - 1)) {
            (Some(block), Some(full)) => block > full,
            (block, full) => block.is_none() && full.is_some(),
        }
    };
    let longer = [0, 1].map(|rung| {
        (1..100)
            .filter(|&share| is_longer(rung, f64::from(share)))
            .count()
    });
    let told = Told::new(
        longer.iter().all(|&quantiles| quantiles >= 70),
        format!(
            "block-concurrent at {}, block-sequential at {} of 99 quantiles",
            longer[0], longer[1]
        ),
        json!({ "longer_quantiles": longer }),
    );
    Some(told.unless_overloaded(found, Model::Usernet))
}
