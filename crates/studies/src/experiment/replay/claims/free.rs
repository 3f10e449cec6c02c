//! Claims 6 to 10 and 19, 21, 22: what structure and windows change where nothing is in the way.

use super::{
    Among, Cell, Claim, Constrained, Found, LONG_MS, LONG_S, Model, Pooled, Structure, Told,
    UNEQUAL_PCT, Unconstrained, Windows, cells, every, falls, falls_in_runs, ladder, never_grew,
    row, sequential_cells, sequential_ladder,
};
use serde_json::json;

/// Every structure, with usernet.
const OWN: [Cell; 4] = cells(Model::Usernet);
/// And with the mean round trip those of which D shows curves.
const MEAN: [Cell; 3] = sequential_cells(Model::Mean);
/// The fewest huge connections of a run whose median says something; all runs play the same ones.
const FEWEST_HUGE: usize = 20;

const fn windows(kib: u16) -> Cell {
    Cell {
        structure: Structure::ATBT,
        rtt: Model::Usernet,
        windows: Windows::Fixed(kib),
    }
}

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        number: 6,
        name: "blocks end sooner than a-b, and a-b than a-t-b-t",
        expected: "usernet, unconstrained: share below 1 s blocks > a-b > a-t-b-t, a-t-b-t by 10 points (D 5.3.1: 94, 88, 63 %)",
        needs: &OWN,
        among: Among::Nothing,
        modes: &[Unconstrained],
        judge: below_a_second,
    },
    Claim {
        number: 7,
        name: "block-concurrent is as block-sequential, slightly faster",
        expected: "usernet, unconstrained: within 2 points at 1 s, and the mean share up to 1 s not lower (D 5.3.1)",
        needs: &OWN,
        among: Among::Nothing,
        modes: &[Unconstrained],
        judge: blocks,
    },
    Claim {
        number: 8,
        name: "a-b is as block-sequential where there is one epoch, and slower beyond",
        expected: "mean, unconstrained: quantiles from 5 to 55 % within 10 %, the 80 % at least a tenth later (D 5.3.1)",
        needs: &MEAN,
        among: Among::Nothing,
        modes: &[Unconstrained],
        judge: one_epoch,
    },
    Claim {
        number: 9,
        name: "responses of a-b are the fastest",
        expected: "mean, unconstrained: most within 2 RTT, a-t-b-t 10 points behind, and the largest mean share up to 1 s (D 5.3.2: 80 and 52 % within 160 ms)",
        needs: &MEAN,
        among: Among::Nothing,
        modes: &[Unconstrained],
        judge: responses,
    },
    Claim {
        number: 10,
        name: "a-t-b-t has ten times the active connections",
        expected: "usernet, unconstrained: at least 10 times those of blocks and a-b (D 5.3.4, of an hour)",
        needs: &OWN,
        among: Among::Nothing,
        modes: &[Unconstrained],
        judge: active,
    },
    Claim {
        number: 19,
        name: "windows matter to huge connections only",
        expected: "unconstrained, 8 and 64 KB: all within 3 points, those below 4 KB within 2; above 1 MB the median falls by a third or more (D 6.3.1: 50 to 25 s)",
        needs: &[windows(8), windows(64)],
        among: Among::Nothing,
        modes: &[Unconstrained],
        judge: by_size,
    },
    Claim {
        number: 20,
        name: "on a constrained link large windows slow the others down",
        expected: "64 KB against 8 KB: queue longer above 16 ms and durations longer, connections above 1 MB sooner (D 6.3.2)",
        needs: &[windows(8), windows(64)],
        among: Among::Nothing,
        modes: &[Constrained],
        judge: in_the_way,
    },
    Claim {
        number: 21,
        name: "more structure means more packets, and evener ones",
        expected: "usernet, unconstrained: packets blocks < a-b < a-t-b-t, variation in reverse (D 6.4: 0.115, 0.113, 0.100, 0.063 in 1 s)",
        needs: &OWN,
        among: Among::Nothing,
        modes: &[Unconstrained],
        judge: packets,
    },
    Claim {
        number: 22,
        name: "structure does not change long-range dependence",
        expected: "usernet, unconstrained: the 95 % intervals of the Hurst parameter overlap (D 6.5)",
        needs: &OWN,
        among: Among::Nothing,
        modes: &[Unconstrained],
        judge: hurst,
    },
];

fn below_a_second(found: &Found) -> Option<Told> {
    let all = ladder(found, Model::Usernet, Unconstrained)?;
    let shares = all.map(|of| of.durations.up_to(1_000.0));
    let [concurrent, sequential, ab, full] = shares;
    Some(Told::new(
        falls(&[concurrent.min(sequential), ab, full]) && ab - full >= 10.0,
        format!("blocks {concurrent:.1} and {sequential:.1}, a-b {ab:.1}, a-t-b-t {full:.1} %"),
        json!({ "below_1s_pct": shares }),
    ))
}

fn blocks(found: &Found) -> Option<Told> {
    let [concurrent, sequential, ..] = ladder(found, Model::Usernet, Unconstrained)?;
    let gap = concurrent.durations.up_to(1_000.0) - sequential.durations.up_to(1_000.0);
    let bodies = [concurrent, sequential].map(|of| of.durations.body(1_000.0));
    Some(Told::new(
        gap.abs() < 2.0 && bodies[0] >= bodies[1],
        format!(
            "{gap:+.2} points at 1 s; mean shares up to 1 s {} %",
            row(&bodies, " and ")
        ),
        json!({ "gap_points": gap, "mean_share_up_to_1s_pct": bodies }),
    ))
}

fn one_epoch(found: &Found) -> Option<Told> {
    let [sequential, ab, _] = sequential_ladder(found, Model::Mean, Unconstrained)?;
    let quotient = |share: f64| {
        let (ab, sequential) = (
            ab.durations.quantile(share)?,
            sequential.durations.quantile(share)?,
        );
        Some(ab / sequential.max(1e-3))
    };
    let mut farthest = 0.0_f64;
    for step in 1..=11 {
        farthest = farthest.max((quotient(f64::from(step) * 5.0)? - 1.0).abs() * 100.0);
    }
    let later = (quotient(80.0)? - 1.0) * 100.0;
    Some(Told::new(
        farthest <= 10.0 && later >= 10.0,
        format!("up to 55 %: {farthest:.1} % apart at most; at 80 %: a-b {later:.1} % later"),
        json!({ "farthest_pct": farthest, "later_at_80_pct": later }),
    ))
}

fn responses(found: &Found) -> Option<Told> {
    let [sequential, ab, full] = sequential_ladder(found, Model::Mean, Unconstrained)?;
    let rtt = ab.rtts.quantile(50.0)?;
    let of = [ab, sequential, full];
    let shares = of.map(|of| of.responses.up_to(2.0 * rtt));
    let bodies = of.map(|of| of.responses.body(1_000.0));
    let is_most = |of: [f64; 3]| of[0] >= of[1] && of[0] > of[2];
    Some(Told::new(
        is_most(shares) && is_most(bodies) && shares[0] - shares[2] >= 10.0,
        format!(
            "a-b, block-sequential, a-t-b-t within {:.0} ms: {} %; mean shares up to 1 s: {} %",
            2.0 * rtt,
            row(&shares, ", "),
            row(&bodies, ", ")
        ),
        json!({ "rtt_ms": rtt, "within_2rtt_pct": shares, "mean_share_up_to_1s_pct": bodies }),
    ))
}

fn active(found: &Found) -> Option<Told> {
    let all = ladder(found, Model::Usernet, Unconstrained)?;
    let [concurrent, sequential, ab, full] = [
        all[0].active?,
        all[1].active?,
        all[2].active?,
        all[3].active?,
    ];
    let times = full / concurrent.max(sequential).max(ab).max(1e-9);
    let words = format!(
        "{times:.1} times: blocks {concurrent:.0} and {sequential:.0}, a-b {ab:.0}, a-t-b-t {full:.0}"
    );
    let figures = json!({ "active": [concurrent, sequential, ab, full], "times": times });
    if times < 10.0 && found.longest_s < LONG_S {
        let why = format!(
            "{words}; what waits for more than {} s, and is most of D's, is not played",
            found.longest_s
        );
        return Some(Told::cannot(why, figures));
    }
    Some(Told::new(times >= 10.0, words, figures))
}

fn window_pair(found: &Found, mode: super::Mode) -> Option<[&Pooled; 2]> {
    Some([found.get(windows(8), mode)?, found.get(windows(64), mode)?])
}

/// The medians of huge connections; none when too few ended.
fn huge(of: [&Pooled; 2]) -> Option<[f64; 2]> {
    let median = |of: &Pooled| {
        of.huge
            .quantile(50.0)
            .filter(|_| of.huge.n() >= FEWEST_HUGE * of.runs)
    };
    Some([median(of[0])?, median(of[1])?])
}

/// What is to be said when only the huge ones are unknown.
fn with_huge(
    rest: Option<bool>,
    words: &str,
    of: [&Pooled; 2],
    is_sooner: fn([f64; 2]) -> bool,
    mut figures: serde_json::Value,
) -> Told {
    let medians = huge(of);
    figures["above_1mb_median_ms"] = json!(medians);
    match medians {
        _ if rest == Some(false) => Told::new(false, words, figures),
        None => Told::cannot(
            format!(
                "{words}; of {} connections above 1 MB too few ended to have a median",
                of[0].huge.n()
            ),
            figures,
        ),
        Some(medians) => {
            let words = format!(
                "{words}; above 1 MB the median is {} ms",
                row(&medians, " and ")
            );
            Told::of(every([rest, Some(is_sooner(medians))]), words, figures)
        }
    }
}

fn by_size(found: &Found) -> Option<Told> {
    let of = window_pair(found, Unconstrained)?;
    let all = of[0].durations.gap(&of[1].durations, 0.0, f64::MAX);
    let small = of[0].small.gap(&of[1].small, 0.0, f64::MAX);
    let words = format!("all {all:.1}, below 4 KB {small:.1} points apart");
    let figures = json!({ "all_points": all, "small_points": small });
    let is_sooner = |[eight, sixty_four]: [f64; 2]| sixty_four <= eight * 2.0 / 3.0;
    Some(with_huge(
        Some(all < 3.0 && small < 2.0),
        &words,
        of,
        is_sooner,
        figures,
    ))
}

fn in_the_way(found: &Found) -> Option<Told> {
    let of = window_pair(found, Constrained)?;
    if let Some(told) = never_grew(of.map(|of| &of.queue_ms)) {
        return Some(told);
    }
    let queues = of.map(|of| of.queue_ms.above(LONG_MS));
    let bodies = of.map(|of| of.durations.body(3_000.0));
    let words = format!(
        "8 and 64 KB: queue above 16 ms for {} % of the time, mean shares of durations up to 3 s {} %",
        row(&queues, " and "),
        row(&bodies, " and ")
    );
    let figures = json!({ "above_16ms_pct": queues, "mean_share_up_to_3s_pct": bodies });
    let is_longer = falls_in_runs(&[&of[1].long_pct, &of[0].long_pct]);
    let rest = every([is_longer, Some(bodies[1] < bodies[0])]);
    let is_sooner = |[eight, sixty_four]: [f64; 2]| sixty_four < eight;
    Some(with_huge(rest, &words, of, is_sooner, figures))
}

fn packets(found: &Found) -> Option<Told> {
    let all = ladder(found, Model::Usernet, Unconstrained)?;
    let mut figures = Vec::new();
    for of in all {
        figures.push([of.kpps?, of.cov_1s?]);
    }
    let loads = all.map(|of| of.mbps);
    let column = |at: usize| figures.iter().map(|of| of[at]).collect::<Vec<f64>>();
    let (kpps, cov) = (column(0), column(1));
    let three = |values: &[f64]| {
        let words = values.iter().map(|value| format!("{value:.3}"));
        words.collect::<Vec<_>>().join(", ")
    };
    let words = format!("{} kpackets/s, CoV {}", three(&kpps), three(&cov));
    let values = json!({ "kpps": kpps, "cov_1s": cov, "load_mbps": loads });
    let most = loads.iter().copied().fold(0.0, f64::max);
    let least = loads.iter().copied().fold(most, f64::min);
    let words = format!("{words}; {least:.1} to {most:.1} Mbit/s in the window");
    // Of whole traffic all octets are counted, as D does: waits carry some of them from the warm-up into the window.
    if found.longest_s < LONG_S && most - least > most * UNEQUAL_PCT / 100.0 {
        let why = format!("{words}, so there are more packets of more octets");
        return Some(Told::cannot(why, values));
    }
    let reversed = [cov[0].min(cov[1]), cov[2], cov[3]];
    let growing = [-kpps[0].max(kpps[1]), -kpps[2], -kpps[3]];
    Some(Told::new(
        falls(&growing) && falls(&reversed),
        words,
        values,
    ))
}

fn hurst(found: &Found) -> Option<Told> {
    let all = ladder(found, Model::Usernet, Unconstrained)?;
    let intervals: Vec<[f64; 2]> = all.iter().filter_map(|of| of.hurst).collect();
    if intervals.len() < all.len() {
        let why = "the runs are too short for the Hurst parameter of their arrivals";
        return Some(Told::cannot(why, json!({ "intervals": intervals })));
    }
    let low = intervals.iter().map(|of| of[0]).fold(f64::MIN, f64::max);
    let high = intervals.iter().map(|of| of[1]).fold(f64::MAX, f64::min);
    let words = intervals
        .iter()
        .map(|[low, high]| format!("{low:.2} to {high:.2}"));
    Some(Told::new(
        low <= high,
        words.collect::<Vec<_>>().join(", "),
        json!({ "intervals": intervals }),
    ))
}
