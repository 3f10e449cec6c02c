//! Runs of `isobath udpst`: the rate at which IP packets arrived, and how much later than the least.

use super::each;
use crate::envelope::{Envelope, Line};
use crate::number::{ms, seconds, short};
use record::{Record, Run};
use schema::udpst::tables::{UdpstInterval, UdpstTrial};
use serde::Serialize;
use std::collections::BTreeMap;

/// The name of the measurement in `run.json`.
const TEST: &str = "udpst";
/// Two directions of an hour in the shortest sub-intervals.
const MOST_INTERVALS: u32 = 72_000;

/// IP-layer capacity.
#[derive(Serialize)]
pub(crate) struct Udpst {
    ways: Vec<Way>,
}

/// One direction.
#[derive(Default, Serialize)]
struct Way {
    load: String,
    intervals: Vec<Interval>,
    /// Of each trial.
    rate_mbps: Line,
    rtt_ms: Line,
    owd_ms: Line,
}

#[derive(Debug, PartialEq, Serialize)]
struct Interval {
    /// Its end, and how long it took.
    t_s: f64,
    lasted_s: f64,
    mbps: f64,
    lost: u32,
    datagrams: u32,
}

impl From<&UdpstInterval> for Interval {
    fn from(row: &UdpstInterval) -> Self {
        Self {
            t_s: seconds(row.t_ns),
            lasted_s: seconds(row.lasted_ns),
            mbps: short(row.ip_bps / 1e6),
            lost: row.lost,
            datagrams: row.datagrams,
        }
    }
}

#[derive(Default)]
struct Trials {
    rate: Envelope,
    rtt: Envelope,
    owd: Envelope,
}

impl Trials {
    fn add(&mut self, row: &UdpstTrial) {
        let mbps = row.ip_bytes as f64 * 8e3 / row.lasted_ns.max(1) as f64;
        self.rate.push(row.t_ns, mbps);
        if let Some(ns) = row.rtt_variation_ns {
            self.rtt.push(row.t_ns, ms(ns));
        }
        if let Some(ns) = row.owd_variation_ns {
            self.owd.push(row.t_ns, ms(ns));
        }
    }
}

/// Reads the tables; `None` when the record is of another test.
pub(crate) fn read(record: &Record, run: &Run) -> Result<Option<Udpst>, record::Error> {
    if run.test != TEST {
        return Ok(None);
    }
    let mut trials = BTreeMap::<String, Trials>::new();
    each(record, |row: UdpstTrial| {
        trials.entry(row.load.to_string()).or_default().add(&row);
    })?;
    let mut intervals = BTreeMap::<String, Vec<Interval>>::new();
    let mut seen = 0;
    each(record, |row: UdpstInterval| {
        seen += 1;
        if seen <= MOST_INTERVALS {
            let of_load = intervals.entry(row.load.to_string()).or_default();
            of_load.push(Interval::from(&row));
        }
    })?;
    let ways = trials.into_iter().map(|(load, trials)| Way {
        intervals: intervals.remove(&load).unwrap_or_default(),
        rate_mbps: trials.rate.line(),
        rtt_ms: trials.rtt.line(),
        owd_ms: trials.owd.line(),
        load,
    });
    Ok(Some(Udpst {
        ways: ways.collect(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_its_rate_and_what_was_lost_of_it() {
        let row = UdpstInterval {
            t_ns: 3_000_000_000,
            lasted_ns: 1_000_000_000,
            ip_bps: 19_990_000.0,
            datagrams: 2_000,
            lost: 7,
            ..UdpstInterval::default()
        };
        let expected = Interval {
            t_s: 3.0,
            lasted_s: 1.0,
            mbps: 19.99,
            lost: 7,
            datagrams: 2_000,
        };
        assert_eq!(Interval::from(&row), expected);
    }

    #[test]
    fn a_trial_without_a_round_trip_leaves_a_gap() {
        let mut trials = Trials::default();
        trials.add(&UdpstTrial {
            t_ns: 1_000_000_000,
            lasted_ns: 50_000_000,
            ip_bytes: 125_000,
            owd_variation_ns: Some(2_000_000),
            ..UdpstTrial::default()
        });
        let value = |line: Line| serde_json::to_value(line).unwrap();
        assert_eq!(value(trials.rate.line())["n"], 1);
        assert_eq!(value(trials.rtt.line())["n"], 0);
        assert_eq!(value(trials.owd.line())["n"], 1);
    }
}
