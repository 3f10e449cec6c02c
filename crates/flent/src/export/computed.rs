//! Sums and means over series, which Flent's plots of totals are made of.
//!
//! Flent reckons them step by step over what is not null, and from the means of the series for the mean. Files that lack
//! them get them when Flent opens them, but then without median and percentile in `-f summary`.

use super::grid::sum;
use super::series::OneSeries;
use super::target::Target;
use crate::naming::ECN;
use serde_json::{Map, Value, json};

/// The computed series of the target's test.
pub(super) fn series(target: &Target, all: &[OneSeries]) -> Vec<OneSeries> {
    if !target.has_sums() {
        return Vec::new();
    }
    let loads = |direction: Option<&'static str>| -> Vec<&OneSeries> {
        let loads = all.iter().filter(|one| one.kind == "tcp_load");
        loads
            .filter(|one| direction.is_none_or(|d| one.direction == d))
            .collect()
    };
    let (up, down) = (loads(Some("up")), loads(Some("down")));
    let computed = [
        total("TCP upload sum", &up, false),
        total("TCP upload avg", &up, true),
        total("TCP download sum", &down, false),
        total("TCP download avg", &down, true),
        total("TCP totals", &loads(None), false),
        total("Ping (ms) avg", &pings(target, all), true),
    ];
    computed.into_iter().flatten().collect()
}

/// The series of plain UDP round trips: those with an ECN mark and those over TCP are not in Flent's mean.
/// Tests whose only round trips are ICMP have no mean of them.
fn pings<'a>(target: &Target, all: &'a [OneSeries]) -> Vec<&'a OneSeries> {
    if target.stand_in.is_some() {
        return Vec::new();
    }
    let is_plain = |one: &&OneSeries| !one.name.contains(ECN);
    all.iter()
        .filter(|one| one.kind == "udp_rr")
        .filter(is_plain)
        .collect()
}

fn total(name: &str, of: &[&OneSeries], mean: bool) -> Option<OneSeries> {
    let first = of.first()?;
    let mut steps = sum(of.iter().map(|one| one.steps.as_slice()));
    let told = of
        .iter()
        .filter_map(|one| one.meta.get("MEAN_VALUE")?.as_f64());
    let (mut value, count) = told.fold((0.0, 0_u32), |(sum, n), mean| (sum + mean, n + 1));
    if mean {
        for (at, step) in steps.iter_mut().enumerate() {
            let there = of
                .iter()
                .filter(|one| one.steps.get(at).is_some_and(Option::is_some));
            *step = step.map(|sum| sum / there.count() as f64);
        }
        value /= f64::from(count.max(1));
    }
    let unit = first.meta.get("UNITS").cloned().unwrap_or(Value::Null);
    let runner = if mean { "average" } else { "sum" };
    let meta = [
        ("UNITS", unit),
        ("MEAN_VALUE", json!(value)),
        ("COMMAND", json!(runner)),
    ];
    Some(OneSeries {
        name: name.to_owned(),
        kind: "computed",
        direction: first.direction,
        class: String::new(),
        steps,
        raw: Vec::new(),
        meta: meta
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect::<Map<_, _>>(),
    })
}
