//! The one sentence at the top: the answer to the question that the test asks.

use crate::view::{RunView, estimate, mbm, replay};
use record::{Run, Status};
use serde_json::Value;

/// The sentence for a run.
pub(crate) fn sentence(run: &Run) -> String {
    if let Some(told) = run.summary["sentence"].as_str() {
        return told.to_owned();
    }
    if let Some(verdict) = mbm::sentence::sentence(run) {
        return verdict;
    }
    if let Some(told) = replay::sentence(run) {
        return told;
    }
    if let Some(told) = estimate::sentence(run) {
        return told;
    }
    if let Some(bulk) = bulk_transfer(&run.summary) {
        return bulk;
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

/// Of bulk transfers: what one gets, and how that stands to the kernel's.
fn bulk_transfer(summary: &Value) -> Option<String> {
    let difference = &summary["difference_pct"];
    if let (Some(percent), Some(ours)) = (difference["p50"].as_f64(), rate(&summary["ours"])) {
        let than = match percent {
            p if p.abs() < 0.05 => "as much as the kernel's TCP".to_owned(),
            p if p < 0.0 => format!("{:.1} % less than the kernel's TCP", -p),
            p => format!("{p:.1} % more than the kernel's TCP"),
        };
        let pairs = difference["n"].as_u64().unwrap_or(1);
        let of = if pairs > 1 {
            format!(" (medians of {pairs} pairs)")
        } else {
            String::new()
        };
        return Some(format!(
            "A bulk transfer gets {ours} over this path, {than}{of}."
        ));
    }
    let lost = summary["loss_pct"]
        .as_f64()
        .map_or_else(String::new, |lost| {
            format!(
                ", and loses {} % of its packets",
                crate::number::short((lost * 100.0).round() / 100.0)
            )
        });
    Some(format!(
        "A bulk transfer gets {} over this path{lost}.",
        rate(summary)?
    ))
}

/// The throughput of `figures`: a number, or the median of a distribution.
fn rate(figures: &Value) -> Option<String> {
    let throughput = &figures["throughput_mbps"];
    let mbps = throughput.as_f64().or_else(|| throughput["p50"].as_f64())?;
    Some(match mbps {
        v if v >= 99.95 => format!("{v:.0} Mbit/s"),
        v if v >= 9.995 => format!("{v:.1} Mbit/s"),
        v => format!("{v:.2} Mbit/s"),
    })
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
    let told = of_several_transfers(runs).or_else(|| mbm::sentence::of_several(runs));
    if let Some(told) = told {
        return told;
    }
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

/// Of runs of bulk transfers: which got the most.
fn of_several_transfers(runs: &[RunView]) -> Option<String> {
    let of_run = |view: &RunView| {
        let own = &view.run.summary["ours"];
        let figures = if own.is_object() {
            own
        } else {
            &view.run.summary
        };
        let throughput = &figures["throughput_mbps"];
        let mbps = throughput.as_f64().or_else(|| throughput["p50"].as_f64());
        view.btc.as_ref()?;
        Some((mbps?, view.name.clone(), rate(figures)?))
    };
    let mut found: Vec<_> = runs.iter().filter_map(of_run).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    match found.as_slice() {
        [(_, best, most), .., (_, worst, least)] => Some(format!(
            "Of {} runs, a bulk transfer gets the most over {best} ({most}), the least over {worst} ({least}).",
            runs.len()
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn assert_said(summary: Value, expected: &str) {
        let mut run = Run::new("btc", "2026-11-21T07:29:11Z".parse().unwrap(), Value::Null);
        run.summary = summary;
        assert_eq!(sentence(&run), expected);
    }

    #[test]
    fn a_bulk_transfer_is_told_by_its_throughput() {
        assert_said(
            json!({"throughput_mbps": 9.412, "loss_pct": 0.312}),
            "A bulk transfer gets 9.41 Mbit/s over this path, and loses 0.31 % of its packets.",
        );
        assert_said(
            json!({"ours": {"throughput_mbps": {"p50": 94.13}}, "difference_pct": {"n": 30, "p50": -1.24}}),
            "A bulk transfer gets 94.1 Mbit/s over this path, 1.2 % less than the kernel's TCP (medians of 30 pairs).",
        );
        assert_said(
            json!({"throughput_mbps": null}),
            "The measurement btc did not come to its end.",
        );
    }
}
