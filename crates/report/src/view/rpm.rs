//! Runs of `isobath rpm`: what the load carried in each interval, and how quickly requests were answered meanwhile.

use super::each;
use super::probes::{LOSS_BIN_NS, MOST_LOSS_BINS};
use crate::distribution::{Figures, Values};
use crate::envelope::{Envelope, Line};
use crate::grid::{Counts, Grid};
use crate::number::{ms, seconds, short};
use record::{Record, Run};
use schema::rpm::tables::{RpmInterval, RpmProbe};
use serde::Serialize;
use std::collections::BTreeMap;

/// The name of the measurement in `run.json`.
const TEST: &str = "rpm";
/// What a request waits for, in this order: the first three on a connection of its own, the last on one that carries load.
const STEPS: [&str; 4] = ["tcp", "tls", "http", "self"];
/// Two directions of ten minutes in the shortest intervals.
const MOST_INTERVALS: u32 = 6_000;
/// Loads beside which requests leave.
const LOADS: [&str; 3] = ["idle", "down", "up"];

/// Responsiveness under load.
#[derive(Serialize)]
pub(crate) struct Rpm {
    ways: Vec<Way>,
    steps: Vec<Step>,
    /// Requests that came to nothing, by when they were begun.
    failed: Counts,
}

/// The intervals of one direction.
#[derive(Serialize)]
struct Way {
    load: String,
    intervals: Vec<Interval>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Interval {
    /// Its end, and how long it took.
    t_s: f64,
    lasted_s: f64,
    carried_mbps: f64,
    /// That carried load at its end.
    connections: u32,
    /// Round trips per minute at its end.
    rpm: Option<f64>,
}

impl From<&RpmInterval> for Interval {
    fn from(row: &RpmInterval) -> Self {
        Self {
            t_s: seconds(row.t_ns),
            lasted_s: seconds(row.lasted_ns),
            carried_mbps: short(row.carried_bytes as f64 * 8e3 / row.lasted_ns.max(1) as f64),
            connections: row.connections,
            rpm: row.rpm.map(short),
        }
    }
}

/// A step to an answer: over time, and beside each load.
#[derive(Serialize)]
struct Step {
    name: &'static str,
    line_ms: Line,
    idle: Option<Figures>,
    down: Option<Figures>,
    up: Option<Figures>,
}

/// Reads the tables; `None` when the record is of another test.
pub(crate) fn read(record: &Record, run: &Run) -> Result<Option<Rpm>, record::Error> {
    if run.test != TEST {
        return Ok(None);
    }
    let mut requests = Requests::default();
    each(record, |row| requests.add(&row))?;
    let mut ways = BTreeMap::<String, Vec<Interval>>::new();
    let mut seen = 0;
    each(record, |row: RpmInterval| {
        seen += 1;
        if seen <= MOST_INTERVALS {
            let intervals = ways.entry(row.load.to_string()).or_default();
            intervals.push(Interval::from(&row));
        }
    })?;
    let ways = ways.into_iter();
    Ok(Some(Rpm {
        ways: ways
            .map(|(load, intervals)| Way { load, intervals })
            .collect(),
        failed: requests.failed.counts(&()),
        steps: requests.steps(),
    }))
}

struct Requests {
    lines: [Envelope; STEPS.len()],
    values: [[Values; LOADS.len()]; STEPS.len()],
    failed: Grid<()>,
}

impl Default for Requests {
    fn default() -> Self {
        Self {
            lines: Default::default(),
            values: Default::default(),
            failed: Grid::new(LOSS_BIN_NS, MOST_LOSS_BINS),
        }
    }
}

impl Requests {
    fn add(&mut self, row: &RpmProbe) {
        if row.http_ns.is_none() {
            self.failed.add(&(), (row.t_ns, row.t_ns), 1.0);
        }
        let [http, own] = match &*row.kind {
            "self" => [None, row.http_ns],
            _ => [row.http_ns, None],
        };
        let load = LOADS.iter().position(|load| *load == &*row.load);
        for (step, ns) in [row.tcp_ns, row.tls_ns, http, own].into_iter().enumerate() {
            let Some(ns) = ns else { continue };
            self.lines[step].push(row.t_ns, ms(ns));
            if let Some(load) = load {
                self.values[step][load].push(ms(ns));
            }
        }
    }

    fn steps(&self) -> Vec<Step> {
        let all = STEPS.iter().zip(&self.lines).zip(&self.values);
        let step = |((&name, line), values): ((&&'static str, &Envelope), &[Values; 3])| {
            let [idle, down, up] = values
                .each_ref()
                .map(|values| Figures::of(&Values::sorted(&[values]), values.n));
            Step {
                name,
                line_ms: line.line(),
                idle,
                down,
                up,
            }
        };
        all.map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_sorted_by_step_and_load_and_failed_ones_counted() {
        let mut requests = Requests::default();
        let foreign = RpmProbe {
            t_ns: 1_000_000_000,
            load: "down".into(),
            kind: "foreign".into(),
            tcp_ns: Some(10_000_000),
            tls_ns: Some(20_000_000),
            http_ns: Some(30_000_000),
            ..RpmProbe::default()
        };
        let own = RpmProbe {
            kind: "self".into(),
            tcp_ns: None,
            tls_ns: None,
            http_ns: Some(40_000_000),
            ..foreign.clone()
        };
        let failed = RpmProbe {
            http_ns: None,
            ..foreign.clone()
        };
        for row in [&foreign, &own, &failed] {
            requests.add(row);
        }
        let steps = requests.steps();
        let medians = steps.iter().map(|step| {
            assert_eq!((&step.idle, &step.up), (&None, &None));
            step.down.as_ref().map(|down| (down.n, down.p50))
        });
        // Of the one that failed two steps are known.
        let expected = [(2, 10.0), (2, 20.0), (1, 30.0), (1, 40.0)].map(Some);
        assert_eq!(medians.collect::<Vec<_>>(), expected);
        let counts = serde_json::to_value(requests.failed.counts(&())).unwrap();
        assert_eq!(counts["n"], serde_json::json!([1]));
    }

    #[test]
    fn an_interval_has_its_rate() {
        let interval = Interval::from(&RpmInterval {
            t_ns: 5_000_000_000,
            lasted_ns: 1_000_000_000,
            carried_bytes: 1_000_000,
            connections: 3,
            rpm: Some(900.0),
            ..RpmInterval::default()
        });
        let expected = Interval {
            t_s: 5.0,
            lasted_s: 1.0,
            carried_mbps: 8.0,
            connections: 3,
            rpm: Some(900.0),
        };
        assert_eq!(interval, expected);
    }
}
