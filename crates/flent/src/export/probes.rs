//! Probes as series: round trips and one-way delays in ms, page loads.

use super::Rows;
use super::grid::Grid;
use super::series::{OneSeries, Raw, probe_names};
use super::target::Target;
use crate::data::Key;
use schema::tables::{PageLoad, Sample, Stream};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The series of all probe streams, and that of the page loads.
pub(super) fn series(target: &Target, rows: &Rows, grid: Grid) -> Vec<OneSeries> {
    let mut by_name = BTreeMap::<String, Vec<&Stream>>::new();
    for (stream, name) in probe_names(target, &rows.streams) {
        by_name.entry(name).or_default().push(stream);
    }
    let mut samples = BTreeMap::<u16, Vec<&Sample>>::new();
    for row in &rows.samples {
        samples.entry(row.stream).or_default().push(row);
    }
    let one = |(name, streams): (String, Vec<&Stream>)| {
        let rows = streams.iter().filter_map(|stream| samples.get(&stream.id));
        let mut rows: Vec<&Sample> = rows.flatten().copied().collect();
        rows.sort_by_key(|row| row.t_ns);
        one_series(name, &streams, &rows, grid)
    };
    let mut all: Vec<_> = by_name.into_iter().filter_map(one).collect();
    all.extend(pages(&rows.page_loads, grid));
    all
}

/// What a probe measured, in ns: a round trip, or the one-way delay of a call's datagram.
fn delay(sample: &Sample) -> Option<f64> {
    let round_trip = sample.rtt_ns.map(|ns| ns as f64);
    let one_way = sample.owd_up_ns.or(sample.owd_down_ns).map(|ns| ns as f64);
    round_trip.or(one_way).filter(|_| !sample.lost)
}

fn one_series(
    name: String,
    streams: &[&Stream],
    rows: &[&Sample],
    grid: Grid,
) -> Option<OneSeries> {
    let first = streams.first()?;
    let kind = ["udp_rr", "tcp_rr", "icmp_rr", "dns", "voip"];
    let kind = kind.into_iter().find(|kind| *kind == first.kind)?;
    let direction = ["up", "down"].into_iter().find(|d| *d == first.direction);
    let values = rows
        .iter()
        .filter_map(|row| Some((row.t_ns, delay(row)? / 1e6)));
    let steps = grid.means(values);
    if rows.is_empty() {
        return None;
    }
    let number = |at: usize, row: &Sample| {
        if streams.len() > 1 {
            at as u64
        } else {
            row.seq
        }
    };
    let raw = rows
        .iter()
        .enumerate()
        .map(|(at, row)| raw(number(at, row), row));
    Some(OneSeries {
        name,
        kind,
        direction: direction.unwrap_or("both"),
        class: first.class.clone().into_owned(),
        steps,
        raw: raw.collect(),
        meta: meta(rows),
    })
}

fn raw(seq: u64, row: &Sample) -> Raw {
    let ms = |ns: i64| ns as f64 / 1e6;
    let value = delay(row).map(|ns| (Key::VAL, ns / 1e6));
    Raw {
        t_ns: row.t_ns,
        numbers: [
            Some((Key::SEQ, seq as f64)),
            value.or(Some((Key::LOST, 1.0))),
            row.owd_up_ns.map(|ns| (Key::OWD_UP, ms(ns))),
            row.owd_down_ns.map(|ns| (Key::OWD_DOWN, ms(ns))),
        ],
    }
}

fn meta(rows: &[&Sample]) -> Map<String, Value> {
    let values: Vec<f64> = rows
        .iter()
        .filter_map(|row| delay(row))
        .map(|ns| ns / 1e6)
        .collect();
    let lost = rows.len() - values.len();
    let mut meta = Map::new();
    meta.insert("UNITS".to_owned(), json!("ms"));
    if let Some(all) = record::Distribution::of(values.iter().copied()) {
        meta.insert("MEAN_VALUE".to_owned(), json!(all.mean));
        meta.insert("RTT_MIN".to_owned(), json!(all.min));
        meta.insert("RTT_MEDIAN".to_owned(), json!(all.p50));
        meta.insert("RTT_MAX".to_owned(), json!(all.max));
    }
    meta.insert("PACKETS_SENT".to_owned(), json!(rows.len()));
    meta.insert("PACKETS_RECEIVED".to_owned(), json!(values.len()));
    let share = lost as f64 / rows.len().max(1) as f64;
    meta.insert("PACKET_LOSS_RATE".to_owned(), json!(share));
    meta
}

/// Page loads as the series of Flent's tests of HTTP; loads that failed are left out.
fn pages(loads: &[PageLoad], grid: Grid) -> Option<OneSeries> {
    let times = || {
        loads
            .iter()
            .filter_map(|load| Some((load.t_ns, load.load_ns? as f64 / 1e6)))
    };
    let all = record::Distribution::of(times().map(|(_, ms)| ms))?;
    let raw = |(t_ns, ms)| Raw {
        t_ns,
        numbers: [Some((Key::VAL, ms)), None, None, None],
    };
    let meta = [("UNITS", json!("ms")), ("MEAN_VALUE", json!(all.mean))];
    Some(OneSeries {
        name: "HTTP latency".to_owned(),
        kind: "web",
        direction: "both",
        class: "CS0".to_owned(),
        steps: grid.means(times()),
        raw: times().map(raw).collect(),
        meta: meta
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    })
}
