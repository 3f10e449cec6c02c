//! How good the instrument was, what the reader should be warned of, and whether the run says anything about the path.

use super::Plan;
use super::run::{Ending, Outcome};
use super::sampler::BIN;
use super::summary::Summary;
use super::tables::Tables;
use record::{CpuUse, Distribution, Instrument, Status, Warning};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;
use units::TrafficClass;

/// A host whose processors were busier than this under load, on average, could not have driven the test any faster.
const SATURATED_PCT: f64 = 95.0;
/// A host that lost more than this to its hypervisor was not there when it should have been.
const STOLEN_PCT: f64 = 10.0;
/// An emulator later than this (99th percentile) has measured itself.
const EMULATOR_LATE_MS: f64 = 10.0;
/// A bin that takes this much longer than planned is a standstill of the instrument.
const STALL: Duration = Duration::from_millis(50);
/// The specification's limit on the distance of the server.
const FAR_MS: f64 = 80.0;

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
    let lengths = tables
        .series
        .iter()
        .filter(|row| row.end == "client")
        .map(|row| row.bin_ns);
    let late = lengths
        .clone()
        .filter_map(|ns| Duration::from_nanos(ns).checked_sub(BIN));
    let stalled: Vec<Duration> = late.filter(|late| *late > STALL).collect();
    let mut instrument = Instrument {
        cpu: cpu.collect(),
        stalls: Some(stalled.len() as u64),
        longest_stall_ms: stalled.iter().max().map(|stall| stall.as_secs_f64() * 1e3),
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
    let invalid = ["cpu_saturated", "cpu_stolen", "emulator_late"];
    match ending {
        Ending::Interrupted | Ending::Lost(_) => Status::Incomplete,
        Ending::Complete if warnings.iter().any(|w| invalid.contains(&w.code.as_str())) => {
            Status::Invalid
        }
        Ending::Complete => Status::Complete,
    }
}

/// What the reader should know.
pub(crate) fn warnings(
    outcome: &Outcome,
    instrument: &Instrument,
    summary: &Summary,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |code: &str, message: String, advice: &str| {
        warnings.push(Warning {
            code: code.to_owned(),
            message,
            advice: advice.to_owned(),
        });
    };
    match &outcome.ending {
        Ending::Complete => {}
        Ending::Interrupted => warn(
            "interrupted",
            "the run was interrupted: the figures are of the time before".to_owned(),
            "run it again to the end",
        ),
        Ending::Lost(reason) => warn(
            "server_lost",
            format!("the server was lost ({reason}): the figures are of the time before"),
            "see whether 'isobath serve' still runs there, and run again",
        ),
    }
    for failure in &outcome.failures {
        warn(
            "stream_failed",
            failure.clone(),
            "the other streams were measured; run again",
        );
    }
    for cpu in &instrument.cpu {
        if cpu.mean_pct >= SATURATED_PCT {
            warn(
                "cpu_saturated",
                format!(
                    "the {}'s processors were {:.0} % busy under load",
                    cpu.host, cpu.mean_pct
                ),
                "use a faster host or fewer streams: this run measured the host, not the path",
            );
        }
        if cpu.steal_pct >= STOLEN_PCT {
            warn(
                "cpu_stolen",
                format!(
                    "the {}'s hypervisor took {:.0} % of its time",
                    cpu.host, cpu.steal_pct
                ),
                "use a host that is not shared: this run measured the host, not the path",
            );
        }
    }
    let late = summary
        .lab
        .iter()
        .map(|link| link.emulator_late_p99_us / 1e3)
        .fold(0.0, f64::max);
    if late >= EMULATOR_LATE_MS {
        warn(
            "emulator_late",
            format!("the emulated links were {late:.0} ms late (99th percentile)"),
            "'isobath lab calibrate' tells what this machine can emulate; use a slower lab",
        );
    }
    let unwritten: u64 = summary.lab.iter().map(|link| link.unwritten).sum();
    if unwritten > 0 {
        warn(
            "emulator_lost",
            format!("the emulator could not hand {unwritten} packets back to the kernel"),
            "they are missing from what was delivered; run again on a quieter machine",
        );
    }
    if let Some(idle) = summary.latency_ms.idle.filter(|idle| idle.p50 > FAR_MS) {
        warn(
            "distance",
            format!(
                "the server is {:.0} ms away: RRUL is specified for at most {FAR_MS:.0} ms",
                idle.p50
            ),
            "read the figures as they are, or use a nearer server",
        );
    }
    if let Some(message) = changed_marks(&outcome.tables) {
        warn(
            "dscp_changed",
            message,
            "classification does not survive this path",
        );
    }
    warnings
}

/// Which classes did not arrive as they were sent.
fn changed_marks(tables: &Tables) -> Option<String> {
    let dscp = |octet: u8| TrafficClass::from_octet(octet).dscp;
    let mut changed = BTreeSet::new();
    for sample in &tables.samples {
        for (way, seen) in [("up", sample.tos_seen_far), ("down", sample.tos_seen_near)] {
            let seen = seen.filter(|seen| dscp(*seen) != dscp(sample.tos_sent));
            changed.extend(seen.map(|seen| {
                format!(
                    "{} arrives as {} ({way})",
                    dscp(sample.tos_sent),
                    dscp(seen)
                )
            }));
        }
    }
    let list: Vec<_> = changed.into_iter().collect();
    (!list.is_empty()).then(|| list.join(", "))
}
