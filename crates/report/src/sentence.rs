//! The one sentence at the top: the answer to the question that the test asks.

use crate::view::RunView;
use record::{Run, Status};
use serde_json::Value;

/// The sentence for a run.
pub(crate) fn sentence(run: &Run) -> String {
    if let Some(told) = run.summary["sentence"].as_str() {
        return told.to_owned();
    }
    let latency = &run.summary["latency_ms"];
    let median = |phase: &str| latency[phase]["p50"].as_f64();
    match (median("idle"), median("loaded")) {
        (Some(idle), Some(loaded)) => {
            let added = (loaded - idle).max(0.0);
            let web = web_pages(&run.summary).unwrap_or_default();
            format!(
                "Under load this path adds {} to a round trip{web} ({} idle, {} loaded; medians, UDP).",
                ms(added),
                ms(idle),
                ms(loaded)
            )
        }
        (Some(idle), None) => format!(
            "A round trip takes {} without load (median, UDP).",
            ms(idle)
        ),
        (None, Some(loaded)) => format!(
            "A round trip takes {} under load (median, UDP).",
            ms(loaded)
        ),
        (None, None) => without_latency(run),
    }
}

fn web_pages(summary: &Value) -> Option<String> {
    let median = |key: &str| summary["web"][key]["p50"].as_f64();
    let (idle, loaded) = (median("idle_ms")?, median("loaded_ms")?);
    let times = loaded / idle;
    (times.is_finite() && times > 1.05)
        .then(|| format!(", and web pages take {times:.1} times as long"))
}

fn without_latency(run: &Run) -> String {
    match run.status {
        Status::Failed => format!("The measurement {} could not be carried out.", run.test),
        Status::Incomplete => format!("The measurement {} did not come to its end.", run.test),
        Status::Complete | Status::Invalid => format!("Results of {}.", run.test),
    }
}

/// Milliseconds with three significant digits.
pub(crate) fn ms(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0} ms"),
        v if v >= 9.995 => format!("{value:.1} ms"),
        _ => format!("{value:.2} ms"),
    }
}

/// The sentence above several runs: which was the best under load, and by how much.
pub(crate) fn of_several(runs: &[RunView]) -> String {
    let mut loaded: Vec<(&str, f64)> = runs
        .iter()
        .filter_map(|view| {
            Some((
                view.name.as_str(),
                view.run.summary["latency_ms"]["loaded"]["p50"].as_f64()?,
            ))
        })
        .collect();
    loaded.sort_by(|a, b| a.1.total_cmp(&b.1));
    match loaded.as_slice() {
        [best, .., worst] => format!(
            "Of {} runs, {} has the shortest median round trip under load ({}), {} the longest ({}).",
            runs.len(),
            best.0,
            ms(best.1),
            worst.0,
            ms(worst.1)
        ),
        _ => format!("{} runs side by side.", runs.len()),
    }
}
