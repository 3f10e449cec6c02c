//! Replays of traffic beside each other, as figures of an [`experiment`](crate::experiment).
//!
//! A family of replays differs in one thing: the model of structure with round trips fixed, the model of round trips with the
//! structure fixed, windows. [`figures`] draws what is compared of them, one curve a replay, on the same axes; those of the
//! same name in another mode (constrained and unconstrained) share its colour and are dashed. [`table`] has the numbers.
//!
//! What is drawn of a replay ([`Thinned`]) is some hundred kilobytes however long it was, and can be kept as JSON, so the
//! record itself may be removed before its page is made.

mod family;

#[cfg(test)]
mod tests;

use crate::experiment::{Cell, Figure, Table};
use crate::number::short;
use crate::view::replay::{self, Quantity, Replay};
use crate::{Error, Subject, view};
use family::{Family, points, steps};
use serde::{Deserialize, Serialize};

/// What is drawn of one replay.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Thinned(Replay);

/// A replay of a family.
#[derive(Clone, Debug)]
pub struct Member {
    /// What to call it: the model by which it differs from the others.
    pub name: String,
    /// In which mode, where there is more than one: `constrained`. The mode of the first member is drawn solid.
    pub mode: Option<String>,
    /// What was found.
    pub found: Thinned,
}

impl Thinned {
    /// Of a record; `None` when it is of another measurement.
    ///
    /// # Errors
    /// [`Error::Record`] for a table that cannot be read.
    pub fn of(subject: &Subject) -> Result<Option<Self>, Error> {
        let read = || {
            let (_, end_ns) = view::extent(&subject.record)?;
            replay::read(&subject.record, &subject.run, end_ns)
        };
        let path = subject.record.dir().to_owned();
        let replay = read().map_err(|source| Error::Record { path, source })?;
        Ok(replay.map(Self))
    }

    /// The share of connections, in per cent, that took at most so long from their first octet to their last.
    pub fn durations_up_to_pct(&self, ms: f64) -> Option<f64> {
        Some(up_to_pct(self.0.connections.duration_ms.as_ref()?, ms))
    }

    /// The share of responses, in per cent, that came within so long.
    pub fn responses_up_to_pct(&self, ms: f64) -> Option<f64> {
        Some(up_to_pct(self.0.connections.response_ms.as_ref()?, ms))
    }

    /// The share of time, in per cent, in which the queue took longer than this to drain.
    pub fn queue_above_pct(&self, ms: f64) -> Option<f64> {
        let of = self.0.queue.as_ref()?.ms.as_ref()?;
        Some(100.0 - up_to_pct(of, ms))
    }
}

/// The share of a quantity that is at most `value`, to the resolution of its curve: a third of a per cent, finer in the tail.
fn up_to_pct(of: &Quantity, value: f64) -> f64 {
    let place = of.curve.v.partition_point(|&v| v <= value);
    let share = place.checked_sub(1).and_then(|at| of.curve.p.get(at));
    share.map_or(0.0, |p| p * 100.0)
}

/// The figures of a family, the most important first. Their ids begin with `id`; `differ` says in what its members differ:
/// `the structure`.
pub fn figures(id: &str, differ: &str, members: &[Member]) -> Vec<Figure> {
    let family = Family {
        id,
        differ,
        members,
    };
    let duration = |r: &Replay| r.connections.duration_ms.clone();
    let response = |r: &Replay| r.connections.response_ms.clone();
    let queue = |r: &Replay| r.queue.as_ref()?.ms.clone();
    let [queue_body, queue_tail] = family.queue(&queue);
    let course = [
        family.course(("queue-time", "queue", "ms"), &|r| {
            Some(points(r.queue.as_ref()?.ms_line.as_ref()?))
        }),
        family.course(("active", "active connections", ""), &|r| {
            Some(points(&r.active.as_ref()?.connections))
        }),
        family.course(
            ("packets", "packets forward per second", "thousand"),
            &|r| Some(steps(&r.throughput.as_ref()?.forward.kpps)),
        ),
        family.arrivals("arrivals-1s", 1.0),
        family.arrivals("arrivals-10ms", 0.01),
        family.spectrum(),
    ];
    let durations = ("durations", "connections", "duration", "ms");
    let responses = ("responses", "responses", "response time", "ms");
    let spreads = [
        family.spread(durations, [3_000.0, 500.0], &duration),
        family.spread(responses, [1_000.0, 500.0], &response),
    ];
    let distributions = spreads.into_iter().flatten();
    let figures = distributions.chain([queue_body, queue_tail]).chain(course);
    figures.flatten().collect()
}

/// The numbers of a family: a row a replay.
pub fn table(title: &str, members: &[Member]) -> Table {
    let columns = [
        ("replay", ""),
        ("connections", ""),
        ("median duration", "ms"),
        ("80 % take at most", "ms"),
        ("mean duration", "ms"),
        ("median response", "ms"),
        ("80 % come within", "ms"),
        ("queue empty", "%"),
        ("median queue", "ms"),
        ("90 % of the queue", "ms"),
        ("active, median", ""),
        ("arrivals", "kpackets/s"),
        ("CoV, 1 s", ""),
        ("CoV, 10 ms", ""),
        ("Hurst", ""),
        ("low", ""),
        ("high", ""),
    ];
    let table = Table::new(title);
    let table = columns
        .iter()
        .fold(table, |table, (name, unit)| table.column(*name, *unit));
    members
        .iter()
        .fold(table, |table, member| table.row(row(member)))
}

fn row(member: &Member) -> Vec<Cell> {
    let replay = &member.found.0;
    let number = |value: Option<f64>| value.map_or(Cell::Nothing, |value| short(value).into());
    let of =
        |quantity: Option<&Quantity>, figure: fn(&Quantity) -> f64| number(quantity.map(figure));
    let durations = replay.connections.duration_ms.as_ref();
    let responses = replay.connections.response_ms.as_ref();
    let queue = replay.queue.as_ref();
    let drain = queue.and_then(|queue| queue.ms.as_ref());
    let active = replay
        .active
        .as_ref()
        .and_then(|active| active.counted.as_ref());
    let arrivals = replay.arrivals.as_ref();
    let marginal = |bin_s: f64| arrivals.and_then(|arrivals| arrivals.of_bins(bin_s));
    let hurst = arrivals.and_then(|arrivals| arrivals.hurst);
    vec![
        named(member).into(),
        of(durations, |q| q.n as f64),
        of(durations, |q| q.p50),
        of(durations, |q| q.p80),
        of(durations, |q| q.mean),
        of(responses, |q| q.p50),
        of(responses, |q| q.p80),
        number(queue.map(|queue| queue.empty_pct)),
        of(drain, |q| q.p50),
        of(drain, |q| q.p90),
        of(active, |q| q.p50),
        number(marginal(1.0).map(|marginal| marginal.kpps.mean)),
        number(marginal(1.0).and_then(|marginal| marginal.cov)),
        number(marginal(0.01).and_then(|marginal| marginal.cov)),
        number(hurst.map(|hurst| hurst.value)),
        number(hurst.map(|hurst| hurst.low)),
        number(hurst.map(|hurst| hurst.high)),
    ]
}

fn named(member: &Member) -> String {
    let mode = member.mode.iter().map(|mode| format!(", {mode}"));
    mode.fold(member.name.clone(), |name, mode| name + &mode)
}
