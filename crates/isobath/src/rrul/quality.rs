//! How good the instrument was, and whether the run says anything about the path.

use super::Plan;
use super::run::{Ending, Outcome};
use super::sampler::BIN;
use super::tables::Tables;
use record::{CpuUse, Distribution, Instrument, Status, Warning};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// A bin that takes this much longer than planned is a standstill of the instrument.
const STALL: Duration = Duration::from_millis(50);

/// The state of the instrument over the run.
pub(crate) fn instrument(plan: &Plan, outcome: &Outcome, emulator: Duration) -> Instrument {
    let tables = &outcome.tables;
    let cpu = ["client", "server"]
        .into_iter()
        .filter_map(|host| cpu_use(plan, tables, host));
    let udp: Vec<_> = tables
        .samples
        .iter()
        .filter(|s| s.owd_up_ns.is_some())
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
        stalls: Some(stalled.len() as u64),
        longest_stall_ms: stalled
            .values()
            .max()
            .map(|stall| stall.as_secs_f64() * 1e3),
        kernel_stamps_pct: (!udp.is_empty()).then(|| stamped as f64 / udp.len() as f64 * 100.0),
        ..Instrument::default()
    };
    let clock = outcome.clock;
    instrument.more.insert(
        "clock_offset_ms".to_owned(),
        json!(clock.offset_ns as f64 / 1e6),
    );
    instrument.more.insert(
        "clock_offset_error_ms".to_owned(),
        json!(clock.rtt_ns as f64 / 2e6),
    );
    if let Some(after) = outcome.clock_after {
        let drift = after.offset_ns.saturating_sub(clock.offset_ns);
        instrument
            .more
            .insert("clock_drift_ms".to_owned(), json!(drift as f64 / 1e6));
    }
    if tables.lab.is_some() {
        instrument
            .more
            .insert("emulator_cpu_s".to_owned(), json!(emulator.as_secs_f64()));
    }
    if let Some(far) = &outcome.far {
        instrument
            .more
            .insert("server_process_cpu_s".to_owned(), json!(far.process_cpu_s));
        instrument
            .more
            .insert("server_rows_lost".to_owned(), json!(far.rows_lost));
        instrument
            .more
            .insert("server_datagrams_refused".to_owned(), json!(far.refused));
    }
    instrument
}

fn cpu_use(plan: &Plan, tables: &Tables, host: &str) -> Option<CpuUse> {
    let (start, end) = if plan.load.is_empty() {
        (Duration::ZERO, plan.total())
    } else {
        plan.loaded()
    };
    let rows = tables
        .cpu
        .iter()
        .filter(|row| row.host == host && (start..=end).contains(&Duration::from_nanos(row.t_ns)));
    let busy = Distribution::of(rows.clone().map(|row| row.busy_pct))?;
    let steal = Distribution::of(rows.map(|row| row.steal_pct))?;
    Some(CpuUse {
        host: host.to_owned(),
        mean_pct: busy.mean,
        max_pct: busy.max,
        steal_pct: steal.mean,
    })
}

/// Whether the run was complete, and whether the instrument was up to it.
pub(crate) fn status(ending: &Ending, warnings: &[Warning]) -> Status {
    let invalid = [
        "cpu_saturated",
        "cpu_stolen",
        "emulator_late",
        "server_rows_lost",
    ];
    let missing = ["no_load", "path_stood_still", "udp_unanswered"];
    let has = |codes: &[&str]| warnings.iter().any(|w| codes.contains(&w.code.as_str()));
    match ending {
        Ending::Interrupted | Ending::Lost(_) => Status::Incomplete,
        Ending::Complete if has(&missing) => Status::Incomplete,
        Ending::Complete if has(&invalid) => Status::Invalid,
        Ending::Complete => Status::Complete,
    }
}
