//! How good the instrument was, and what the reader of a replay should beware of.

use super::limits::margin::BEYOND;
use kit::ending::Ending;
use kit::instrument;
use kit::instrument::{Measured, of_client};
use kit::warnings::List;
use record::{Instrument, Lateness, Status, Warning};
use schema::replay::{Datagrams, Summary, Udp};
use schema::tables::Cpu;
use serde_json::json;
use std::time::Duration;

/// Starts later than this (99th percentile) are not those that were asked for.
pub const MOST_LATE_MS: f64 = 5.0;
/// The code of the warning that says so.
const LATE: &str = "starts_late";

/// What is missing from a run for reasons of our own.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeftOut {
    /// Flows of UDP that were not played.
    pub udp: u64,
    /// Packets that are not in the capture.
    pub packets: u64,
    /// The round trips of connections: no link gives them.
    pub rtts: bool,
}

/// The state of the instrument over the run.
pub fn instrument(cpu: &[Cpu], summary: &Summary, emulator: Option<Duration>) -> Instrument {
    let lateness = summary.start_lateness_ms.map(|late| Lateness {
        of: "starts".to_owned(),
        late_us: late.in_us(),
        missed: 0,
    });
    let of_udp = summary.udp.into_iter().flat_map(|udp| {
        let kinds = [
            ("flows", udp.start_lateness_ms),
            ("datagrams", udp.send_lateness_ms),
        ];
        kinds.into_iter().filter_map(|(of, late)| {
            Some(Lateness {
                of: of.to_owned(),
                late_us: late?.in_us(),
                missed: 0,
            })
        })
    });
    let mut instrument = Instrument {
        lateness: lateness.into_iter().chain(of_udp).collect(),
        ..of_client(cpu)
    };
    if let Some(emulator) = emulator {
        let emulator = json!(emulator.as_secs_f64());
        instrument
            .more
            .insert("emulator_cpu_s".to_owned(), emulator);
    }
    instrument
}

/// All warnings of a run.
pub fn warnings(
    ending: &Ending,
    cpu: &[Cpu],
    summary: &Summary,
    instrument: &Instrument,
    left_out: LeftOut,
) -> Vec<Warning> {
    let mut list = List::default();
    list.ending(ending, "the figures are of what was played");
    list.instrument(instrument, cpu, &summary.links);
    let of_flows = summary.udp.and_then(|udp| udp.start_lateness_ms);
    let starts = [
        ("connections were opened", summary.start_lateness_ms),
        ("flows of UDP began", of_flows),
    ];
    for (what, late) in starts {
        if let Some(late) = late.filter(|late| late.of.p99 > MOST_LATE_MS) {
            list.add(
                LATE,
                format!("{what} late: {:.1} ms at the 99th percentile", late.of.p99),
                "replay less at once, by 'isobath trace transform --thin'",
            );
        }
    }
    if let Some(udp) = summary.udp {
        flows(&mut list, &udp);
    }
    if left_out.udp > 0 {
        list.add(
            "udp_left_out",
            format!("{} flows of UDP were not played", left_out.udp),
            "the load is that of the connections of TCP alone",
        );
    }
    if left_out.rtts {
        list.add(
            "rtts_left_out",
            "no link of this lab delays connections by their round trips".to_owned(),
            "all are as far apart as the lab's links make them; use --lab dumbbell, or give a link the stage connection_delay",
        );
    }
    if left_out.packets > 0 {
        list.add(
            "capture_incomplete",
            format!("{} packets are not in the capture", left_out.packets),
            "do not verify with it, or replay less at once",
        );
    }
    let broken = summary.connections.reset + summary.connections.refused;
    if broken > 0 {
        list.add(
            "broken",
            format!("{broken} connections were refused or broken"),
            "see the column 'end' of the table 'connections'",
        );
    }
    if let Some(drops) = summary.drops.filter(|drops| *drops > 0) {
        list.add(
            "dropped",
            format!("the links dropped {drops} packets"),
            "nothing is wrong with that; figures of the dissertation are without loss",
        );
    }
    list.0
}

/// What became of flows of UDP that should not have.
fn flows(list: &mut List, udp: &Udp) {
    if udp.broken > 0 {
        list.add(
            "flows_broken",
            format!("the sockets of {} flows of UDP failed", udp.broken),
            "see the column 'end' of the table 'flows'",
        );
    }
    let Datagrams { sent, lost, .. } = udp.datagrams;
    if lost > 0 {
        list.add(
            "datagrams_lost",
            format!("{lost} of {sent} datagrams did not arrive in time"),
            "nothing is wrong with those that the links dropped; for others this machine had no room",
        );
    }
}

/// Whether the run was complete, and whether the instrument was up to it.
pub fn status(ending: &Ending, warnings: &[Warning]) -> Status {
    instrument::status(ending, Measured::All, warnings, &[LATE, BEYOND])
}
