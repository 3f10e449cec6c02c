//! The end of a replay on a terminal, from `run.json` alone.

use super::plan::Plan;
use kit::scorecard;
use record::Run;
use schema::replay::{Arrivals, Spread, Summary, Udp};
use serde::Deserialize;

/// The scorecard of `run`, whose summary is `summary`.
pub fn scorecard(run: &Run, summary: &Summary) -> String {
    let plan: Option<Plan> = Deserialize::deserialize(&run.plan).ok();
    let mut lines = vec![scorecard::title_over_tcp(run, "replay")];
    let lab = run.path.lab.is_some();
    lines.extend(plan.as_ref().map(|plan| sentence(plan, summary, lab)));
    lines.push(String::new());
    lines.extend(plan.as_ref().map(|plan| models(plan, lab)));
    let c = &summary.connections;
    lines.push(format!(
        "connections   {} planned, {} completed, {} cut at the end, {} reset, {} refused",
        c.planned,
        c.completed,
        c.unfinished + c.never,
        c.reset,
        c.refused
    ));
    lines.push(format!(
        "data          {:.1} of {:.1} MB arrived",
        summary.bytes.sent as f64 / 1e6,
        summary.bytes.planned as f64 / 1e6
    ));
    lines.extend(summary.udp.map(|udp| flows(&udp)));
    lines.push(load(summary));
    lines.push(String::new());
    lines.push(format!(
        "              {:>10} {:>10} {:>10} {:>10} {:>10}",
        "median", "mean", "80 %", "90 %", "99 %"
    ));
    let rows = [
        ("duration", summary.duration_ms, "ms"),
        ("from connect", summary.duration_from_connect_ms, "ms"),
        ("response", summary.response_ms, "ms"),
        ("queue", summary.queue_packets, "packets"),
        ("", summary.queue_ms, "ms"),
        ("active", summary.active_connections, "connections"),
        ("start late", summary.start_lateness_ms, "ms"),
        (
            "datagrams late",
            summary.udp.and_then(|udp| udp.send_lateness_ms),
            "ms",
        ),
    ];
    lines.extend(
        rows.iter()
            .filter_map(|(name, spread, unit)| Some(row(name, (*spread)?, unit))),
    );
    if let Some(empty) = summary.queue_empty_pct {
        lines.push(format!(
            "              the queue was empty {empty:.1} % of the time"
        ));
    }
    lines.extend(summary.arrivals.map(arrivals));
    lines.push(String::new());
    lines.extend(scorecard::closing(run));
    lines.join("\n") + "\n"
}

/// What went over the link, or between two hosts what arrived.
fn load(summary: &Summary) -> String {
    let way = summary.forward.name();
    let (Some(mbps), Some(packets)) = (summary.throughput_mbps, summary.packets_per_s) else {
        let mbps = summary.goodput_mbps;
        return format!(
            "load          {:.2} Mbit/s {way} (forward), {:.2} Mbit/s back of data",
            mbps.forward, mbps.reverse
        );
    };
    format!(
        "load          {:.2} Mbit/s {way} (forward), {:.2} Mbit/s back; {:.0} and {:.0} packets/s",
        mbps.forward, mbps.reverse, packets.forward, packets.reverse
    )
}

/// What became of flows of UDP.
fn flows(udp: &Udp) -> String {
    format!(
        "flows of UDP  {} planned, {} completed, {} cut at the end, {} broken; {:.1} of {:.1} MB arrived, {} of {} datagrams",
        udp.planned,
        udp.completed,
        udp.unfinished + udp.never,
        udp.broken,
        udp.bytes.sent as f64 / 1e6,
        udp.bytes.planned as f64 / 1e6,
        udp.datagrams.received,
        udp.datagrams.sent
    )
}

/// How uneven what comes to the queue is.
fn arrivals(arrivals: Arrivals) -> String {
    let variation =
        |cov: Option<f64>| cov.map_or_else(|| "-".to_owned(), |cov| format!("{cov:.3}"));
    let hurst = arrivals.hurst.map_or_else(String::new, |hurst| {
        format!(
            ", Hurst {:.2} (95 %: {:.2} to {:.2})",
            hurst.value, hurst.low, hurst.high
        )
    });
    format!(
        "arrivals      {:.2} thousand packets/s, coefficient of variation {} in 1 s, {} in 10 ms{hurst}",
        arrivals.mean_kpps,
        variation(arrivals.cov_1s),
        variation(arrivals.cov_10ms)
    )
}

fn row(name: &str, spread: Spread, unit: &str) -> String {
    let figures = [
        spread.of.p50,
        spread.of.mean,
        spread.p80,
        spread.of.p90,
        spread.of.p99,
    ];
    let figures = figures.map(|figure| format!("{figure:>10.2}")).join(" ");
    format!("{name:14}{figures} {unit}")
}

fn sentence(plan: &Plan, summary: &Summary, lab: bool) -> String {
    let median = |spread: Option<Spread>| {
        spread.map_or_else(
            || "-".to_owned(),
            |spread| format!("{:.0} ms", spread.of.p50),
        )
    };
    let rate = match (plan.bottleneck, plan.constrained) {
        (Some(rate), true) => format!("a link of {rate}, as much as it carries and a little more"),
        (Some(rate), false) => format!("a link of {rate}"),
        (None, _) if lab => "the lab's link".to_owned(),
        (None, _) => "this path".to_owned(),
    };
    format!(
        "Over {rate} half of the connections took less than {}, half of the answers came within {}.",
        median(summary.duration_ms),
        median(summary.response_ms)
    )
}

fn models(plan: &Plan, lab: bool) -> String {
    let models = &plan.models;
    let rtts = match (lab, plan.add_rtt) {
        (true, _) => models.rtt.to_string(),
        (false, true) => format!("the path's own and {}", models.rtt),
        (false, false) => "the path's own".to_owned(),
    };
    format!(
        "played        {} of {}, round trips {rtts}, windows {}",
        models.structure,
        plan.vectors.display(),
        models.windows
    )
}
