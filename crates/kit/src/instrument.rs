//! How good the instrument was: what every run between two hosts says of it, and when it was too bad.

use crate::ending::Ending;
use crate::sampler::{Sink, StreamEnd};
use record::{CpuUse, Distribution, Instrument, Lateness, Status, Warning};
use schema::tables::{Cpu, Series};
use serde_json::json;
use session::ClockOffset;
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Warnings with which a run says nothing about the path.
const INVALID: [&str; 6] = [
    "cpu_saturated",
    "cpu_stolen",
    "emulator_late",
    "host_late",
    "cpu_throttled",
    "server_rows_lost",
];

/// How much of what was planned was measured.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Measured {
    /// No part of it.
    Nothing,
    /// Some of it.
    Part,
    /// All.
    All,
}

impl Measured {
    /// So many of so many.
    pub const fn of(done: usize, planned: usize) -> Self {
        match done {
            0 => Self::Nothing,
            done if done < planned => Self::Part,
            _ => Self::All,
        }
    }
}

/// The status of a run that ended like this, with these warnings: the same rule for every measurement. `own` are warnings of its
/// own with which a run says nothing about the path.
pub fn status(ending: &Ending, measured: Measured, warnings: &[Warning], own: &[&str]) -> Status {
    let says_nothing = |code: &str| INVALID.contains(&code) || own.contains(&code);
    let is_invalid = warnings.iter().any(|warning| says_nothing(&warning.code));
    match (ending, measured) {
        (Ending::Interrupted, _) => Status::Incomplete,
        (_, Measured::Nothing) => Status::Failed,
        (Ending::Complete, Measured::All) if is_invalid => Status::Invalid,
        (Ending::Complete, Measured::All) => Status::Complete,
        _ => Status::Incomplete,
    }
}

/// What a sampler finds of the processors, for whoever has no streams to be sampled.
#[derive(Default)]
pub struct Cpus(Mutex<Vec<Cpu>>);

impl Cpus {
    /// What was found since the last call.
    pub fn take(&self) -> Vec<Cpu> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Sink for &Cpus {
    fn series(&self, _: Series) {}

    fn cpu(&self, row: Cpu) {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rows.push(row);
    }

    fn ended(&self, _: StreamEnd) {}
}

/// Adds what is known of the clocks, and what the emulator and the server's process took of their processors.
pub fn between_hosts(
    instrument: &mut Instrument,
    clock: ClockOffset,
    emulator: Option<Duration>,
    server_s: Option<f64>,
) {
    let emulator_s = emulator.map(|time| time.as_secs_f64());
    let figures = [
        ("clock_offset_ms", Some(clock.offset_ns as f64 / 1e6)),
        ("clock_offset_error_ms", Some(clock.rtt_ns as f64 / 2e6)),
        ("emulator_cpu_s", emulator_s),
        ("server_process_cpu_s", server_s),
    ];
    for (name, figure) in figures {
        let figure = figure.map(|figure| (name.to_owned(), json!(figure)));
        instrument.more.extend(figure);
    }
}

/// The lateness of the part `of` the instrument, which was the latest of these at its 90th percentile.
pub fn latest(of: String, late_us: impl Iterator<Item = Distribution>) -> Option<Lateness> {
    let late_us = late_us.max_by(|one, other| one.p90.total_cmp(&other.p90))?;
    Some(Lateness {
        of,
        late_us,
        missed: 0,
    })
}

/// With how busy the client was, over the whole run.
pub fn of_client(rows: &[Cpu]) -> Instrument {
    let whole = Duration::ZERO..=Duration::MAX;
    Instrument {
        cpu: cpu_use(rows, "client", &whole).into_iter().collect(),
        ..Instrument::default()
    }
}

/// How busy `host` was in `times`.
pub fn cpu_use(rows: &[Cpu], host: &str, times: &RangeInclusive<Duration>) -> Option<CpuUse> {
    let rows = rows
        .iter()
        .filter(|row| row.host == host && times.contains(&Duration::from_nanos(row.t_ns)));
    let busy = Distribution::of(rows.clone().map(|row| row.busy_pct))?;
    let steal = Distribution::of(rows.map(|row| row.steal_pct))?;
    Some(CpuUse {
        host: host.to_owned(),
        mean_pct: busy.mean,
        max_pct: busy.max,
        steal_pct: steal.mean,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warnings::List;

    /// The status of a run of which all was measured, with an instrument that was late by so much.
    fn of_late(host: &str, late_ms: f64) -> Status {
        let instrument = Instrument {
            lateness: latest(
                host.to_owned(),
                Distribution::of([late_ms * 1e3]).into_iter(),
            )
            .into_iter()
            .collect(),
            ..Instrument::default()
        };
        let mut list = List::default();
        list.instrument(&instrument, &[], &[]);
        status(&Ending::Complete, Measured::All, &list.0, &[])
    }

    /// Holds rrul/cpu, btc/host-is-no-bottleneck.
    #[test]
    fn a_late_host_invalidates_whatever_was_measured() {
        assert_eq!(of_late("client", 30.0), Status::Invalid);
        assert_eq!(of_late("server-2", 30.0), Status::Invalid);
        assert_eq!(of_late("client", 3.0), Status::Complete);
        // When connections begin is the replay's own concern.
        assert_eq!(of_late("starts", 30.0), Status::Complete);
    }

    #[test]
    fn a_status_says_how_it_ended_and_how_much_there_is() {
        let of = |ending: &Ending, done| status(ending, Measured::of(done, 3), &[], &[]);
        let lost = Ending::Lost("gone".to_owned());
        assert_eq!(of(&Ending::Complete, 3), Status::Complete);
        assert_eq!(of(&Ending::Complete, 2), Status::Incomplete);
        assert_eq!(of(&Ending::Complete, 0), Status::Failed);
        assert_eq!(of(&lost, 0), Status::Failed);
        assert_eq!(of(&lost, 3), Status::Incomplete);
        assert_eq!(of(&Ending::Interrupted, 0), Status::Incomplete);
        assert_eq!(
            of(&Ending::Broke("no room".to_owned()), 1),
            Status::Incomplete
        );
    }
}
