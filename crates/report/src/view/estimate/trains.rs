//! At which rate each train was to leave and arrived, what it lost, and whether the sender kept its gaps.
//!
//! The rate of a train is that of its **dispersion**: the octets of all its packets but the first, over the time from the first
//! to the last. A train that is planned without gaps leaves as fast as the host can, and has the rate at which it did leave. The
//! rate is a mean over the train: of a chirp, whose gaps shrink, it is one of the rates that were tried, and a train that lost
//! packets arrived with less than it might have.

use crate::distribution::{Figures, Values};
use crate::envelope::{Envelope, Line};
use crate::grid::{Counts, Grid};
use crate::view::probes::{LOSS_BIN_NS, MOST_LOSS_BINS};
use schema::estimate::tables::{ProbeRow, TrainRow};
use serde::Serialize;
use std::collections::BTreeMap;

/// The trains of a run.
#[derive(Serialize)]
pub(super) struct Trains {
    n: u64,
    probes: u64,
    arrived: u64,
    /// By train, as it was planned; of trains without gaps as it left (`left_mbps`).
    planned_mbps: Line,
    left_mbps: Line,
    arrived_mbps: Line,
    /// Probes that were lost, by when their train left.
    lost: Counts,
    /// By how much a gap of each train was wrong at most.
    gap_error_us: Line,
    gap_us: Option<Figures>,
}

pub(super) struct Collector {
    n: u64,
    probes: u64,
    arrived: u64,
    planned: Envelope,
    left: Envelope,
    arriving: Envelope,
    lost: Grid<()>,
    gap_error: Envelope,
    gap_errors: Values,
    /// When each train left.
    t_ns: BTreeMap<u32, u64>,
}

impl Collector {
    pub(super) fn of(trains: &BTreeMap<u32, TrainRow>) -> Self {
        let mut all = Self {
            n: 0,
            probes: 0,
            arrived: 0,
            planned: Envelope::default(),
            left: Envelope::default(),
            arriving: Envelope::default(),
            lost: Grid::new(LOSS_BIN_NS, MOST_LOSS_BINS),
            gap_error: Envelope::default(),
            gap_errors: Values::default(),
            t_ns: trains.iter().map(|(&n, train)| (n, train.t_ns)).collect(),
        };
        for train in trains.values() {
            all.left(train);
        }
        all
    }

    fn left(&mut self, train: &TrainRow) {
        self.n += 1;
        self.probes += u64::from(train.probes);
        self.arrived += u64::from(train.arrived);
        let all_but_first = train.bytes as f64 * share_behind_first(train.probes);
        let (line, took_ns) = match train.planned_ns {
            0 => (&mut self.left, train.lasted_ns),
            planned => (&mut self.planned, planned),
        };
        if let Some(mbps) = mbps(all_but_first, took_ns) {
            line.push(train.t_ns, mbps);
        }
        if train.lost() > 0 {
            let at = (train.t_ns, train.t_ns);
            self.lost.add(&(), at, f64::from(train.lost()));
        }
        // A train without gaps has none to keep.
        if train.planned_ns > 0 && train.probes > 1 {
            let us = train.worst_gap_error_ns as f64 / 1e3;
            self.gap_error.push(train.t_ns, us);
            self.gap_errors.push(us);
        }
    }

    /// The probes of a train, in the order of their numbers.
    pub(super) fn arrived(&mut self, passage: &[ProbeRow]) {
        let Some(first) = passage.iter().min_by_key(|row| row.arrived_ns) else {
            return;
        };
        let last_ns = passage.iter().map(|row| row.arrived_ns).max();
        let octets: u64 = passage.iter().map(|row| u64::from(row.bytes)).sum();
        let behind = octets.saturating_sub(u64::from(first.bytes)) as f64;
        let took_ns = last_ns.unwrap_or(0).saturating_sub(first.arrived_ns);
        let t_ns = self.t_ns.get(&first.train).copied();
        if let Some(mbps) = mbps(behind, took_ns) {
            self.arriving.push(t_ns.unwrap_or(first.t_ns), mbps);
        }
    }

    pub(super) fn trains(self) -> Trains {
        let sorted = Values::sorted(&[&self.gap_errors]);
        Trains {
            n: self.n,
            probes: self.probes,
            arrived: self.arrived,
            planned_mbps: self.planned.line(),
            left_mbps: self.left.line(),
            arrived_mbps: self.arriving.line(),
            lost: self.lost.counts(&()),
            gap_error_us: self.gap_error.line(),
            gap_us: Figures::of(&sorted, self.gap_errors.n),
        }
    }
}

/// The share of a train's octets that is behind its first packet.
fn share_behind_first(probes: u32) -> f64 {
    f64::from(probes.saturating_sub(1)) / f64::from(probes.max(1))
}

/// So many octets in so long; `None` where there is no such rate.
fn mbps(octets: f64, took_ns: u64) -> Option<f64> {
    (octets > 0.0 && took_ns > 0).then(|| octets * 8e3 / took_ns as f64)
}
