//! Claims 23 to 25: the instrument, and the control.

use super::{
    Among, CONTROL, Claim, Constrained, Found, LONG_S, Mode, Model, Told, Unconstrained, cells,
    every, falls_in_runs, ladder, never_grew,
};
use record::Verdict;
use serde_json::json;
use vectors::describe::Measure;

/// What changes by no more than this has not changed, in per cent.
const CHANGED: f64 = 5.0;

/// The claim on one run's capture, which judges for itself whether that is enough.
pub(super) const FIDELITY: u32 = 23;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        number: FIDELITY,
        name: "what was replayed is what was asked for",
        expected: "the control's own capture, extracted again: PASS of isobath replay verify (D 4.3, by eye)",
        needs: &[CONTROL],
        among: Among::Nothing,
        modes: &Mode::ALL,
        judge: fidelity,
    },
    Claim {
        number: 24,
        name: "the queue of a-t-b-t drains sooner",
        expected: "usernet, constrained: the longest time without an empty queue is shorter than those of blocks and a-b (D 6.4: 12 against above 30 min)",
        needs: &cells(Model::Usernet),
        among: Among::Nothing,
        modes: &[Constrained],
        judge: drains,
    },
    Claim {
        number: 25,
        name: "a constrained link makes the control's responses slower and nothing else",
        expected: "the median response rises by more than 5 %, mean duration and active connections change by less (D 4.6: 110 to 140 ms)",
        needs: &[CONTROL],
        among: Among::Nothing,
        modes: &Mode::ALL,
        judge: control,
    },
];

fn fidelity(found: &Found) -> Option<Told> {
    let fidelity = found.fidelity.as_ref()?;
    // The distances of round-trip times are shown by `verify`, and judged by their errors.
    let judged = fidelity
        .distributions
        .iter()
        .filter(|one| one.measure != Measure::MinRttMs);
    let distances = judged.map(|one| one.distance);
    let worst = distances.fold(0.0, f64::max);
    let rtt = fidelity.rtt_error_ms.map_or(f64::NAN, |of| of.p50);
    let words = format!(
        "{} of {} connections found, {} with the same ADUs; sizes and epochs at most {worst:.4} apart, round trips {rtt:.3} ms off in the median",
        fidelity.found, fidelity.connections, fidelity.same_adus
    );
    let figures = serde_json::to_value(fidelity).unwrap_or_default();
    Some(match fidelity.verdict {
        Verdict::Pass => Told::new(true, words, figures),
        Verdict::Fail => Told::new(false, words, figures),
        Verdict::Inconclusive | Verdict::Error => {
            Told::cannot(format!("too little was captured: {words}"), figures)
        }
    })
}

fn drains(found: &Found) -> Option<Told> {
    let all = ladder(found, Model::Usernet, Constrained)?;
    if let Some(told) = never_grew(all.map(|of| &of.queue_ms)) {
        return Some(told);
    }
    let runs = all.map(|of| of.busy_s.as_slice());
    let sooner = runs[..3]
        .iter()
        .map(|other| falls_in_runs(&[other, runs[3]]));
    let seconds = runs.map(|runs| runs.iter().map(|run| run.1).collect::<Vec<f64>>());
    let mean = |of: &Vec<f64>| of.iter().sum::<f64>() / of.len().max(1) as f64;
    let [concurrent, sequential, ab, full] = seconds.each_ref().map(mean);
    let told = Told::of(
        every(sooner),
        format!(
            "blocks {concurrent:.1} and {sequential:.1}, a-b {ab:.1}, a-t-b-t {full:.1} s of {:.0}",
            found.starts_s
        ),
        json!({ "busy_s": seconds }),
    );
    Some(told.unless_overloaded(found, Model::Usernet))
}

fn control(found: &Found) -> Option<Told> {
    let (free, full) = (
        found.get(CONTROL, Unconstrained)?,
        found.get(CONTROL, Constrained)?,
    );
    if let Some(told) = never_grew([&full.queue_ms]) {
        return Some(told);
    }
    let change = |from: f64, to: f64| (to / from.max(1e-9) - 1.0) * 100.0;
    let medians = [free, full].map(|of| of.responses.quantile(50.0));
    let medians = [medians[0]?, medians[1]?];
    let response = change(medians[0], medians[1]);
    let duration = change(free.durations.mean, full.durations.mean);
    let active = change(free.active?, full.active?);
    let words = format!(
        "median response {:.0} to {:.0} ms ({response:+.1} %), mean duration {duration:+.1} %, active connections {active:+.1} %",
        medians[0], medians[1]
    );
    let figures = json!({ "response_median_ms": medians, "response_pct": response, "duration_pct": duration, "active_pct": active });
    let else_nothing = duration.abs() <= CHANGED && active.abs() <= CHANGED;
    if response > CHANGED && !else_nothing && found.longest_s < LONG_S {
        let why = format!(
            "{words}; those that wait for more than {} s, which D's mean and most of its active connections are of, are not played",
            found.longest_s
        );
        return Some(Told::cannot(why, figures));
    }
    Some(Told::new(
        response > CHANGED && else_nothing,
        words,
        figures,
    ))
}
