//! Replays of traffic (`isobath replay`): what connections took, and what they did to the bottleneck.
//!
//! All is reckoned from the tables, not from the summary, so a run that was killed has its figures too. Of a run of many connections
//! only some values are kept for the curves: its durations and response times are the summary's, of all. The summary also says what no
//! table does: which part of the run counts, which direction is the forward one, the bottleneck's rate, and the models.

mod connections;
mod link;
mod quantity;

use crate::told;
pub(crate) use quantity::{Collector, Quantity};
use record::{Record, Row, Run};
use schema::LinkTruth;
use schema::replay::tables::Offered;
use schema::replay::{Connections, Plan, Spread, Summary, Udp, Window};
use schema::tables::Queue;
use serde::{Deserialize, Serialize};

/// The name of the measurement in `run.json`.
pub(crate) const TEST: &str = "replay";
/// The same in virtual time.
pub(crate) const SIMULATED: &str = "sim-replay";

/// Whether `run` is a replay, in whichever world.
pub(crate) fn is_replay(run: &Run) -> bool {
    matches!(run.test.as_str(), TEST | SIMULATED)
}

/// A replay.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Replay {
    models: Models,
    /// The part of the run that series and queue are reckoned from, in seconds.
    window_s: (f64, f64),
    #[serde(flatten)]
    pub(crate) connections: connections::Connections,
    pub(crate) queue: Option<link::Queued>,
    pub(crate) active: Option<link::Alive>,
    pub(crate) throughput: Option<link::Throughput>,
    pub(crate) arrivals: Option<link::Arrivals>,
}

/// What was replayed, and over which bottleneck.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Models {
    structure: Option<String>,
    rtt: Option<String>,
    windows: Option<String>,
    /// Whether the bottleneck's rate was made from the load: `constrained` or `unconstrained`.
    mode: Option<String>,
    forward: String,
    rate_mbps: Option<f64>,
}

/// Which of the bottleneck's directions.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Way {
    Forward,
    Reverse,
}

/// Which link is the bottleneck, and what of the run counts.
struct Frame {
    link: String,
    forward: String,
    rate_mbps: Option<f64>,
    window_ns: (u64, u64),
}

/// Reads summary and tables, of which the last row is at `end_ns`; `None` when the record is of another test.
pub(crate) fn read(
    record: &Record,
    run: &Run,
    end_ns: u64,
) -> Result<Option<Replay>, record::Error> {
    if !is_replay(run) {
        return Ok(None);
    }
    let frame = Frame::of(record, run, end_ns)?;
    let mut connections = connections::read(record)?;
    if let Some(summary) = told::summary(run) {
        connections.as_told(&summary);
    }
    Ok(Some(Replay {
        models: Models::of(run, &frame),
        window_s: (seconds(frame.window_ns.0), seconds(frame.window_ns.1)),
        connections,
        queue: link::queue(record, &frame)?,
        active: link::active(record, &frame)?,
        throughput: link::throughput(record, &frame)?,
        arrivals: link::arrivals(record, &frame)?,
    }))
}

/// The part of a run that counts, in seconds after the first planned start; none of a run that was killed.
pub(crate) fn window_s(run: &Run) -> Option<(f64, f64)> {
    let Window { from_s, to_s } = told::summary::<Summary>(run)?.window;
    (0.0 <= from_s && from_s < to_s && to_s < 1e9).then_some((from_s, to_s))
}

impl Models {
    fn of(run: &Run, frame: &Frame) -> Self {
        let plan = told::plan::<Plan>(run);
        let models = plan.as_ref().map(|plan| plan.models);
        Self {
            structure: models.map(|models| models.structure.to_string()),
            rtt: models.map(|models| models.rtt.to_string()),
            windows: models.map(|models| models.windows.to_string()),
            mode: plan.map(|plan| {
                let mode = if plan.constrained {
                    "constrained"
                } else {
                    "unconstrained"
                };
                mode.to_owned()
            }),
            forward: frame.forward.clone(),
            rate_mbps: frame.rate_mbps,
        }
    }
}

impl Frame {
    fn of(record: &Record, run: &Run, end_ns: u64) -> Result<Self, record::Error> {
        let seen = match first::<Offered>(record)? {
            Some(row) => Some((row.link, row.direction)),
            None => first::<Queue>(record)?.map(|row| (row.link, row.direction)),
        };
        let (link, direction) = seen.unwrap_or_default();
        let planned = || told::plan::<Plan>(run).map(|plan| plan.forward);
        let told = told::summary::<Summary>(run).map(|summary| summary.forward);
        let forward = told.or_else(planned).map(schema::replay::plan::Way::name);
        let forward = forward.unwrap_or(&direction).to_owned();
        let window = window_s(run).map(|(from, to)| (nanoseconds(from), nanoseconds(to)));
        Ok(Self {
            rate_mbps: rate_mbps(run, &link, &forward),
            link: link.into_owned(),
            forward,
            window_ns: window.unwrap_or((0, end_ns)),
        })
    }

    fn counts(&self, t_ns: u64) -> bool {
        (self.window_ns.0..self.window_ns.1).contains(&t_ns)
    }

    /// Which way a row goes; `None` when it is of another link.
    fn way(&self, link: &str, direction: &str) -> Option<Way> {
        (link == self.link).then(|| {
            if direction == self.forward {
                Way::Forward
            } else {
                Way::Reverse
            }
        })
    }
}

/// The rate that the summary tells of a direction of a link.
fn rate_mbps(run: &Run, link: &str, direction: &str) -> Option<f64> {
    let links = told::links(run);
    let is_it = |entry: &&LinkTruth| entry.link == link && entry.direction == direction;
    let rate = links.iter().find(is_it)?.rate_mbps?;
    (rate > 0.0).then_some(rate)
}

/// The first row of a table that is there and not empty.
fn first<T: Row>(record: &Record) -> Result<Option<T>, record::Error> {
    if !record.table_names().any(|name| name == T::TABLE) {
        return Ok(None);
    }
    for batch in record.batches(T::TABLE)? {
        if let Some(row) = T::from_batch(&batch?)?.into_iter().next() {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

fn seconds(ns: u64) -> f64 {
    crate::number::seconds(ns)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be between 0 and 1e9 s"
)]
fn nanoseconds(s: f64) -> u64 {
    (s * 1e9) as u64
}

/// The sentence above a replay, from its summary.
pub(crate) fn sentence(run: &Run) -> Option<String> {
    let summary: Summary = told::summary(run)?;
    let Connections {
        completed, planned, ..
    } = summary.connections;
    let median = |spread: Option<Spread>| spread.map(|spread| crate::sentence::ms(spread.of.p50));
    let of = if completed == planned {
        format!("All {planned} connections of the replay came to their end")
    } else {
        format!("{completed} of the {planned} connections of the replay came to their end")
    };
    let durations = median(summary.duration_ms).map(|ms| format!("half of them took at most {ms}"));
    let responses =
        median(summary.response_ms).map(|ms| format!("half of their responses came within {ms}"));
    let parts: Vec<String> = [durations, responses].into_iter().flatten().collect();
    let flows = summary.udp.as_ref().map(flows);
    if planned == 0 && flows.is_some() {
        return flows;
    }
    let flows = flows.map_or_else(String::new, |flows| format!(" {flows}"));
    Some(if parts.is_empty() {
        format!("{of}.{flows}")
    } else {
        format!("{of}; {}.{flows}", parts.join(", "))
    })
}

fn flows(udp: &Udp) -> String {
    let (completed, planned, lost) = (udp.completed, udp.planned, udp.datagrams.lost);
    format!(
        "{completed} of {planned} flows of UDP came to their end; {lost} of their datagrams were lost."
    )
}

#[cfg(test)]
mod tests;
