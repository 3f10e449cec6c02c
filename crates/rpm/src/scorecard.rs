//! The end of a run on a terminal, from `run.json` alone.

use kit::scorecard;
use record::{Distribution, Run};
use schema::rpm::{Foreign, Summary, Way};
use units::HttpVersion;

/// The scorecard of `run`, whose summary is `summary`.
pub fn scorecard(run: &Run, summary: &Summary) -> String {
    let mut lines = vec![scorecard::title(run, "rpm"), String::new()];
    let ways = [("down", &summary.down), ("up", &summary.up)];
    for (name, way) in ways {
        lines.extend(way.as_ref().map(|way| headline(name, way)));
    }
    lines.push(format!(
        "idle          {} round trips per minute",
        number(summary.idle_rpm)
    ));
    lines.push(String::new());
    // HTTP/3 has no TCP, and its TLS is part of QUIC.
    let is_quic = run.plan["http"] == HttpVersion::H3.name();
    let secure = if is_quic { "QUIC" } else { "TLS" };
    lines.push(format!(
        "{:14}{:>18}{secure:>18}{:>18}{:>22}",
        "p50 / p95, ms", "TCP", "HTTP", "HTTP, loaded"
    ));
    lines.push(row("idle", &summary.idle, None));
    for (name, way) in ways {
        lines.extend(way.as_ref().map(|way| row(name, &way.foreign, way.self_ms)));
    }
    lines.push(String::new());
    lines.extend(scorecard::closing(run));
    lines.join("\n") + "\n"
}

fn headline(name: &str, way: &Way) -> String {
    format!(
        "{name:14}{} RPM ({} confidence): {} on new connections, {} on loaded ones; {} Mbit/s ({}), {} connections",
        number(way.rpm),
        way.rpm_confidence,
        number(way.foreign_rpm),
        number(way.self_rpm),
        way.goodput_mbps
            .map_or_else(|| "-".to_owned(), |mbps| format!("{mbps:.1}")),
        way.goodput_confidence,
        way.connections
    )
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.0}"))
}

fn row(name: &str, foreign: &Foreign, own: Option<Distribution>) -> String {
    format!(
        "{name:14}{:>18}{:>18}{:>18}{:>22}",
        quantiles(foreign.tcp_ms),
        quantiles(foreign.tls_ms),
        quantiles(foreign.http_ms),
        quantiles(own)
    )
}

fn quantiles(times: Option<Distribution>) -> String {
    times.map_or_else(
        || "-".to_owned(),
        |times| format!("{:.1} / {:.1}", times.p50, times.p95),
    )
}
