//! The one sentence at the top: the answer to the question that the test asks.

use crate::told;
use crate::view::{estimate, mbm, replay};
use record::{Distribution, Run, Status};
use schema::{btc, rrul};

/// The sentence for a run.
pub(crate) fn sentence(run: &Run) -> String {
    if let Some(told) = run.summary["sentence"].as_str() {
        return told.to_owned();
    }
    let says = match run.test.as_str() {
        mbm::TEST | mbm::SIMULATED => mbm::sentence::sentence(run),
        replay::TEST | replay::SIMULATED => replay::sentence(run),
        estimate::TEST => estimate::sentence(run),
        "btc" | "sim-btc" => told::summary(run).and_then(|figures| bulk_transfer(&figures)),
        _ => told::summary(run).and_then(|figures| under_load(&figures)),
    };
    says.unwrap_or_else(|| without_figures(run))
}

/// Of the RRUL family: how much longer round trips take under load.
fn under_load(figures: &rrul::Summary) -> Option<String> {
    let median = |phase: &Option<Distribution>| phase.map(|figures| figures.p50);
    let latency = &figures.latency_ms;
    let of = latency.words();
    match (median(&latency.idle), median(&latency.loaded)) {
        (Some(idle), Some(loaded)) => {
            let added = (loaded - idle).max(0.0);
            let web = web_pages(figures).unwrap_or_default();
            Some(format!(
                "Under load this path adds {} to a round trip{web} ({} idle, {} loaded; medians, {of}).",
                ms(added),
                ms(idle),
                ms(loaded)
            ))
        }
        (Some(idle), None) => Some(format!(
            "A round trip takes {} without load (median, {of}).",
            ms(idle)
        )),
        (None, Some(loaded)) => Some(format!(
            "A round trip takes {} under load (median, {of}).",
            ms(loaded)
        )),
        (None, None) => None,
    }
}

fn web_pages(figures: &rrul::Summary) -> Option<String> {
    let web = figures.web.as_ref()?;
    // Less than a twentieth longer is as long.
    let times = 100.0 / web.responsiveness?;
    (times.is_finite() && times > 1.05).then_some(())?;
    Some(format!(", and web pages take {}", web.times_as_long()?))
}

/// Of bulk transfers: what one gets, and how that stands to the kernel's.
fn bulk_transfer(figures: &btc::Summary) -> Option<String> {
    let ours = figures.ours.as_ref().and_then(|ours| ours.throughput_mbps);
    if let (Some(difference), Some(ours)) = (figures.difference_pct, ours) {
        let than = match difference.p50 {
            p if p.abs() < 0.05 => "as much as the kernel's TCP".to_owned(),
            p if p < 0.0 => format!("{:.1} % less than the kernel's TCP", -p),
            p => format!("{p:.1} % more than the kernel's TCP"),
        };
        let of = if difference.n > 1 {
            format!(" (medians of {} pairs)", difference.n)
        } else {
            String::new()
        };
        return Some(format!(
            "A bulk transfer gets {} over this path, {than}{of}.",
            rate(ours.p50)
        ));
    }
    let lost = figures.loss_pct.map_or_else(String::new, |lost| {
        let lost = crate::number::short((lost * 100.0).round() / 100.0);
        format!(", and loses {lost} % of its packets")
    });
    Some(format!(
        "A bulk transfer gets {} over this path{lost}.",
        rate(figures.throughput_mbps?)
    ))
}

/// A rate with three significant digits.
pub(crate) fn rate(mbps: f64) -> String {
    match mbps {
        v if v >= 99.95 => format!("{v:.0} Mbit/s"),
        v if v >= 9.995 => format!("{v:.1} Mbit/s"),
        v => format!("{v:.2} Mbit/s"),
    }
}

fn without_figures(run: &Run) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use schema::btc::{Side, Summary};
    use serde_json::{Value, json};

    #[track_caller]
    fn assert_said(summary: &Summary, expected: &str) {
        let mut run = Run::new("btc", "2026-11-21T07:29:11Z".parse().unwrap(), Value::Null);
        run.summary = json!(summary);
        assert_eq!(sentence(&run), expected);
    }

    #[test]
    fn a_bulk_transfer_is_told_by_its_throughput() {
        let alone = Summary {
            throughput_mbps: Some(9.412),
            loss_pct: Some(0.312),
            ..Summary::default()
        };
        assert_said(
            &alone,
            "A bulk transfer gets 9.41 Mbit/s over this path, and loses 0.31 % of its packets.",
        );
        let ours = Side {
            throughput_mbps: Distribution::of([94.13]),
            ..Side::default()
        };
        let compared = Summary {
            ours: Some(ours),
            difference_pct: Distribution::of([-1.24; 30]),
            ..Summary::default()
        };
        assert_said(
            &compared,
            "A bulk transfer gets 94.1 Mbit/s over this path, 1.2 % less than the kernel's TCP (medians of 30 pairs).",
        );
        assert_said(
            &Summary::default(),
            "The measurement btc did not come to its end.",
        );
    }
}
