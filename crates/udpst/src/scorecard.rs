//! The end of a run on a terminal, from `run.json` alone.

use kit::scorecard;
use record::{Distribution, Run};
use schema::udpst::{Summary, Way};

/// The scorecard of `run`, whose summary is `summary`.
pub fn scorecard(run: &Run, summary: &Summary) -> String {
    let mut lines = vec![scorecard::title(run, "udpst"), summary.sentence.clone()];
    lines.push(String::new());
    let ways = [("down", &summary.down), ("up", &summary.up)];
    for (name, way) in ways {
        lines.extend(way.iter().flat_map(|way| told(name, way)));
    }
    lines.push(String::new());
    lines.extend(scorecard::closing(run));
    lines.join("\n") + "\n"
}

fn told(name: &str, way: &Way) -> [String; 2] {
    [
        format!(
            "{name:14}{} Mbit/s of IP packets in the best of {} sub-intervals (mean {}), within 5 % after {} s; lost {} % (then {} %)",
            number(way.capacity_mbps, 2),
            way.intervals,
            number(way.mean_mbps, 2),
            number(way.reached_s, 1),
            number(way.loss_pct, 2),
            number(way.capacity_loss_pct, 2)
        ),
        format!(
            "{:14}least round trip {} ms; above it p50 / p95 {} ms, one way {} ms; {} reordered, {} twice",
            "",
            number(way.least_rtt_ms, 1),
            quantiles(way.rtt_variation_ms),
            quantiles(way.owd_variation_ms),
            way.reordered,
            way.duplicates
        ),
    ]
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

fn quantiles(times: Option<Distribution>) -> String {
    times.map_or_else(
        || "-".to_owned(),
        |times| format!("{:.1} / {:.1}", times.p50, times.p95),
    )
}
