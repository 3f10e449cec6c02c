//! How good the instrument was, and whether the run says anything about the path.

use super::Plan;
use super::messages::Done;
use super::run::Outcome;
use super::tables::Tables;
use kit::ending::Ending;
use kit::instrument;
use kit::instrument::{Measured, between_hosts, cpu_use};
use kit::sampler::BIN;
use record::{Distribution, Instrument, Lateness, Status, Warning};
use schema::rrul::Summary;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::time::Duration;

/// A host that looks this late has missed what it was to see.
const MISSED: Duration = Duration::from_millis(50);

/// A bin that takes this much longer than planned is a standstill of the instrument.
const STALL: Duration = Duration::from_millis(50);

/// The state of the instrument over the run.
pub fn instrument(
    plan: &Plan,
    outcome: &Outcome,
    summary: &Summary,
    emulator: Duration,
) -> Instrument {
    let tables = &outcome.tables;
    let times = times(plan);
    let hosts: BTreeSet<&str> = tables.cpu.iter().map(|row| &*row.host).collect();
    let cpu = hosts
        .into_iter()
        .filter_map(|host| cpu_use(&tables.cpu, host, &times));
    let udp: Vec<_> = tables
        .samples
        .iter()
        .filter(|s| s.owd_up_ns.is_some() && s.rtt_ns.is_some())
        .collect();
    let stamped = udp.iter().filter(|sample| sample.clock == "kernel").count();
    // One standstill delays all streams: it counts once, by the bin in which it ends.
    let rows = tables.series.iter().filter(|row| row.end == "client");
    let stalled: BTreeMap<u128, Duration> = rows
        .filter_map(|row| {
            let late = Duration::from_nanos(row.bin_ns).checked_sub(BIN)?;
            (late > STALL).then_some((u128::from(row.t_ns) / BIN.as_nanos(), late))
        })
        .collect();
    let mut instrument = Instrument {
        cpu: cpu.collect(),
        lateness: ["client", "server"]
            .into_iter()
            .filter_map(|end| lateness(plan, tables, end))
            .collect(),
        stalls: Some(stalled.len() as u64),
        longest_stall_ms: stalled
            .values()
            .max()
            .map(|stall| stall.as_secs_f64() * 1e3),
        kernel_stamps_pct: (!udp.is_empty()).then(|| stamped as f64 / udp.len() as f64 * 100.0),
        ..Instrument::default()
    };
    let mut more = |name: &str, value| {
        instrument.more.insert(name.to_owned(), value);
    };
    if let Some(after) = outcome.clock_after {
        let drift = after.offset_ns.saturating_sub(outcome.clock.offset_ns);
        more("clock_drift_ms", json!(drift as f64 / 1e6));
    }
    if let Some(line) = &summary.clock {
        more("owd_offset_ms", json!(line.offset_ms));
        more("owd_skew_ppm", json!(line.skew_ppm));
    }
    let (sent, unsent) = tables.calls_sent();
    if sent > 0 {
        more("call_datagrams_unsent", json!(unsent));
    }
    if !outcome.far.is_empty() {
        let sum = |figure: fn(&Done) -> u64| outcome.far.iter().map(figure).sum::<u64>();
        more("server_rows_lost", json!(sum(|far| far.rows_lost)));
        more("server_datagrams_refused", json!(sum(|far| far.refused)));
    }
    let emulator = tables.lab.is_some().then_some(emulator);
    let far = outcome.far.iter().map(|far| far.process_cpu_s);
    let server = (!outcome.far.is_empty()).then(|| far.sum());
    between_hosts(&mut instrument, outcome.clock, emulator, server);
    instrument
}

/// How late an end looked at its streams while they were under load: it looks at the end of every bin, so what is beyond
/// the bin is lateness. A host that is short of processor time is late here first.
fn lateness(plan: &Plan, tables: &Tables, end: &str) -> Option<Lateness> {
    let times = times(plan);
    let rows = tables.series.iter().filter(|row| row.end == end);
    // What somebody else's server tells, it tells when it likes, and not what was delivered.
    let rows = rows.filter(|row| row.delivered_bytes.is_some());
    let mut bins: BTreeMap<u64, u64> = BTreeMap::new();
    let width = kit::stream::nanos(BIN);
    for row in rows.filter(|row| times.contains(&Duration::from_nanos(row.t_ns))) {
        // A look that was due bins ago shows in the length of its bin.
        let late = (row.t_ns % width).max(row.bin_ns.saturating_sub(width));
        // All streams are looked at one after the other: the first tells when it began.
        let least = bins.entry(row.t_ns / width).or_insert(late);
        *least = late.min(*least);
    }
    let missed = bins
        .values()
        .filter(|late| Duration::from_nanos(**late) > MISSED);
    Some(Lateness {
        of: format!("{end} sampler"),
        missed: missed.count() as u64,
        late_us: Distribution::of(bins.values().map(|ns| *ns as f64 / 1e3))?,
    })
}

/// The time that the figures are from.
fn times(plan: &Plan) -> RangeInclusive<Duration> {
    let (start, end) = if plan.load.is_empty() {
        (Duration::ZERO, plan.total())
    } else {
        plan.loaded()
    };
    start..=end
}

/// Whether the run was complete, and whether the instrument was up to it.
pub fn status(ending: &Ending, warnings: &[Warning]) -> Status {
    let missing = [
        "no_load",
        "path_stood_still",
        "udp_unanswered",
        "echo_unanswered",
    ];
    let is_missing = |warning: &Warning| missing.contains(&warning.code.as_str());
    let measured = if warnings.iter().any(is_missing) {
        Measured::Part
    } else {
        Measured::All
    };
    instrument::status(ending, measured, warnings, &[])
}
