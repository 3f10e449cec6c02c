//! How good the instrument was, and whether the run says anything about the path.

use super::findings::Ends;
use super::results::Quality;
use super::run::Outcome;
use super::summary::interface_dropped;
use kit::instrument;
use kit::instrument::{Measured, between_hosts, cpu_use, latest};
use record::{Instrument, Status, Warning};
use serde_json::json;
use std::time::Duration;

/// Warnings that say that something else than the path held the transfer back.
const HOST_LIMITS: [&str; 4] = [
    "thread_saturated",
    "above_limit",
    "held_by_limit",
    "overflows",
];

/// The state of the instrument over the run, whose sender was the host `sender`.
pub fn instrument(outcome: &Outcome, sender: &str, emulator: Option<Duration>) -> Instrument {
    let findings = &outcome.findings;
    let whole = Duration::ZERO..=Duration::MAX;
    let cpu = ["client", "server"]
        .into_iter()
        .filter_map(|host| cpu_use(&findings.cpu, host, &whole));
    let receiver = if sender == "client" {
        "server"
    } else {
        "client"
    };
    let late = |pick: fn(&Ends) -> &Quality| {
        let ends = findings.quality.iter();
        ends.filter_map(move |ends| pick(ends).late_us)
    };
    let lateness = [
        latest(format!("{sender} sender"), late(|ends| &ends.sender)),
        latest(format!("{receiver} receiver"), late(|ends| &ends.receiver)),
    ];
    let mut instrument = Instrument {
        cpu: cpu.collect(),
        lateness: lateness.into_iter().flatten().collect(),
        ..Instrument::default()
    };
    let mut more = |name: &str, value| {
        instrument.more.insert(name.to_owned(), value);
    };
    let both = || {
        let ends = findings.quality.iter();
        ends.flat_map(|ends| [&ends.sender, &ends.receiver])
    };
    let sum = |figure: fn(&Quality) -> u64| both().map(figure).sum::<u64>();
    let busiest = |pick: fn(&Ends) -> &Quality| {
        let shares = findings
            .quality
            .iter()
            .filter_map(|ends| pick(ends).thread_pct);
        shares.fold(None, |most: Option<f64>, share| {
            Some(most.map_or(share, |most| most.max(share)))
        })
    };
    more("sender_thread_pct", json!(busiest(|ends| &ends.sender)));
    more("receiver_thread_pct", json!(busiest(|ends| &ends.receiver)));
    more("datagrams_refused", json!(sum(|q| q.refused)));
    more("datagrams_above_limit", json!(sum(|q| q.above_limit)));
    more("sends_held_by_limit", json!(sum(|q| q.held)));
    more("socket_overflows", json!(sum(|q| q.overflows)));
    more("sends_blocked", json!(sum(|q| q.blocked)));
    let transfers: Vec<_> = findings.transfers.iter().collect();
    more("interface_dropped", json!(interface_dropped(&transfers)));
    more("rows_left_out", json!(sum(|q| q.rows_left_out)));
    if let Some(far) = outcome.far {
        more("server_rows_lost", json!(far.rows_lost));
    }
    let server = outcome.far.map(|far| far.process_cpu_s);
    between_hosts(&mut instrument, outcome.clock, emulator, server);
    instrument
}

/// Whether the run was complete, and whether the instrument was up to it.
pub fn status(outcome: &Outcome, planned: usize, warnings: &[Warning]) -> Status {
    let measured = |how: &str| ["complete", "limited", "time"].contains(&how);
    let transfers = outcome.findings.transfers.iter();
    let good = transfers.filter(|t| measured(&t.outcome)).count();
    let measured = Measured::of(good, planned);
    instrument::status(&outcome.ending, measured, warnings, &HOST_LIMITS)
}
