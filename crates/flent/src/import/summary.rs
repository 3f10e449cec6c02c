//! `summary` of an imported run: every series as Flent sums it up, and the classic figures of `rrul`.
//!
//! Where a figure has a counterpart in the summary of `rrul` it has the same name, shape and unit.

use super::Source;
use super::figures::{Figures, Values};
use super::times::Span;
use crate::naming::Role;
use record::Distribution;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that run.json says in `summary`.
pub(crate) fn summarise(source: &Source) -> Value {
    let has_values = |name: &&String| !Values::of(source, name).timed.is_empty();
    let names = source.roles.iter().map(|(name, _)| name);
    let series: Map<String, Value> = names
        .filter(has_values)
        .map(|name| (name.clone(), json!(Figures::of(source, name))))
        .collect();
    let times = &source.times;
    let mut summary = json!({
        "series": series,
        "phases": {"idle": times.idle, "load": times.load, "loaded": times.loaded, "discarded": []},
        "latency_ms": latency(source),
        "loss_pct": {"idle": loss(source, times.idle), "loaded": loss(source, times.loaded)},
        "throughput_mbps": throughput(source),
        "fairness": {"down": fairness(source, "down"), "up": fairness(source, "up")},
        "transferred_bytes": {"down": transferred(source, "down"), "up": transferred(source, "up")},
    });
    for (key, kind) in [
        ("tcp_rr_ms", "tcp_rr"),
        ("icmp_rr_ms", "icmp_rr"),
        ("dns_ms", "dns"),
    ] {
        summary[key] = phases(source, &|role| role.kind == kind);
    }
    summary
}

/// The series of a kind, with their values.
fn values<'a>(
    source: &'a Source,
    wanted: &'a dyn Fn(&Role) -> bool,
) -> impl Iterator<Item = (&'a str, Values)> + 'a {
    let chosen = source
        .roles
        .iter()
        .filter(|(_, role)| !role.computed && wanted(role));
    chosen.map(|(name, _)| (name.as_str(), Values::of(source, name)))
}

/// The distribution over all wanted series, idle and loaded.
fn phases(source: &Source, wanted: &dyn Fn(&Role) -> bool) -> Value {
    let all: Vec<Values> = values(source, wanted).map(|(_, values)| values).collect();
    let over = |span| Distribution::of(all.iter().flat_map(|values| values.within(span)));
    json!({"idle": over(source.times.idle), "loaded": over(source.times.loaded)})
}

/// UDP round trips; ICMP ones in a file without.
fn latency(source: &Source) -> Value {
    let has_udp = source.roles.iter().any(|(_, role)| role.kind == "udp_rr");
    let kind = if has_udp { "udp_rr" } else { "icmp_rr" };
    let wanted = |role: &Role| role.is_round_trip() && role.kind == kind && !role.marked;
    let mut latency = phases(source, &wanted);
    let classes: BTreeSet<&str> = (source.roles.iter())
        .filter(|(_, role)| wanted(role))
        .map(|(_, role)| role.class.as_str())
        .collect();
    let of_class = |class| phases(source, &|role| wanted(role) && role.class == class);
    let classes: Map<String, Value> = (classes.into_iter())
        .map(|class| (class.to_owned(), of_class(class)))
        .collect();
    latency["by_class"] = Value::Object(classes);
    latency["of"] = json!(kind);
    latency
}

/// Share of UDP requests that were never answered, in per cent; `None` when the file does not tell.
fn loss(source: &Source, span: Option<Span>) -> Option<f64> {
    let [start, end] = span?;
    let (mut sent, mut lost) = (0_u64, 0_u64);
    for (name, role) in &source.roles {
        if role.kind != "udp_rr"
            || role.marked
            || source.series_meta(name, "PACKET_LOSS_RATE").is_none()
        {
            continue;
        }
        for point in source.file.raw_values.get(name).into_iter().flatten() {
            let t = super::figures::seconds(source, point);
            let counts = t >= start && t < end;
            sent += u64::from(counts);
            lost += u64::from(counts && point.is_lost());
        }
    }
    (sent > 0).then(|| 100.0 * lost as f64 / sent as f64)
}

/// Mean of each load series of a direction over the loaded time, by class.
fn rates<'a>(source: &'a Source, direction: &'a str) -> Vec<(&'a str, f64)> {
    let loads = source.roles.iter();
    let loads = loads.filter(|(_, role)| role.is_load() && role.direction == direction);
    let rate = |(name, role): &'a (String, Role)| {
        let resampled = source.file.results.get(name)?;
        let [start, end] = source.times.loaded?;
        let timed = source.file.x_values.iter().zip(resampled);
        let inside = timed.filter(|(t, _)| (start..end).contains(*t));
        let mean = Distribution::of(inside.filter_map(|(_, value)| *value))?.mean;
        Some((role.class.as_str(), mean))
    };
    loads.filter_map(rate).collect()
}

fn throughput(source: &Source) -> Value {
    let sum = |rates: &[(&str, f64)]| {
        (!rates.is_empty()).then(|| rates.iter().map(|(_, rate)| rate).sum::<f64>())
    };
    let by_class = |rates: &[(&str, f64)]| {
        let mut classes = BTreeMap::<String, f64>::new();
        for (class, rate) in rates {
            *classes.entry((*class).to_owned()).or_default() += rate;
        }
        classes
    };
    let (down, up) = (rates(source, "down"), rates(source, "up"));
    let both: Vec<_> = down.iter().chain(&up).copied().collect();
    json!({
        "down": sum(&down),
        "up": sum(&up),
        "sum": sum(&both),
        "down_by_class": by_class(&down),
        "up_by_class": by_class(&up),
    })
}

/// Jain's index over the load series of a direction; `None` with fewer than two.
fn fairness(source: &Source, direction: &str) -> Option<f64> {
    let shares: Vec<f64> = rates(source, direction)
        .into_iter()
        .map(|(_, rate)| rate)
        .collect();
    (shares.len() > 1).then(|| stats::jain(&shares)).flatten()
}

/// Payload of all load series of a direction, as the rows of the table `series` have it.
fn transferred(source: &Source, direction: &str) -> Option<u64> {
    let loads = source.roles.iter();
    let mut loads = loads
        .filter(|(_, role)| role.is_load() && role.direction == direction)
        .peekable();
    loads.peek()?;
    let sums = loads.map(|(name, _)| super::rows::total_bytes(source, name));
    Some(sums.fold(0, u64::saturating_add))
}
