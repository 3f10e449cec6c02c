//! How long probes took.
//!
//! An estimator that sends at an even pace, or in slots, has a delay over time and its distribution. One that sends streams
//! compares the probes of each stream with each other: a stream that is faster than what is available fills a queue, so that each
//! probe waits longer than the one before. Of these the last streams are kept, probe by probe, since the estimate rests on them.

use super::answer::Answer;
use crate::envelope::{Envelope, Line};
use crate::grid::{Counts, Grid};
use crate::number::{ms, seconds};
use crate::view::probes::{LOSS_BIN_NS, MOST_LOSS_BINS};
use crate::view::replay::{Collector as Quantities, Quantity};
use schema::estimate::plan::{Method, What};
use schema::estimate::tables::{ProbeRow, TrainRow};
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

/// The last trains of which each probe is shown.
const MOST_OVERLAID: usize = 12;
/// A probe's number takes the place of time in an [`Envelope`], whose first bins are as wide as this.
const ONE_PROBE: u64 = 1_000_000;

/// What is shown of an estimator's probes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Shown {
    RoundTrips,
    Ways,
    Streams,
    Nothing,
}

/// How long probes took.
#[derive(Serialize)]
pub(super) struct Delays {
    /// Whether these are round trips; else ways above the least of the run.
    is_round_trip: bool,
    /// Over time; empty for estimators by streams.
    line_ms: Line,
    /// Probes that were lost, by when those before them left.
    lost: Counts,
    /// All of them; null for estimators by streams.
    ms: Option<Quantity>,
    /// The last trains of estimators by streams.
    overlaid: Vec<Overlaid>,
}

/// The probes of one train that arrived.
#[derive(Serialize)]
struct Overlaid {
    train: u32,
    /// When the first of them left.
    t_s: f64,
    /// Places in the train, and the way above the least of the run.
    probe: Vec<f64>,
    ms: Vec<f64>,
    /// How many arrived, and how many did not.
    arrived: usize,
    lost: u32,
}

pub(super) struct Collector {
    shown: Shown,
    least_ns: i64,
    line: Envelope,
    lost: Grid<()>,
    all: Quantities,
    overlaid: VecDeque<Overlaid>,
}

impl Shown {
    fn of(answer: &Answer) -> Self {
        match (answer.estimator, answer.what) {
            (Some(Method::Isochronous), Some(What::Rtt)) => Self::RoundTrips,
            (Some(Method::Isochronous | Method::Badabing), _) => Self::Ways,
            (
                Some(Method::Pathload | Method::PathloadFast | Method::Yaz | Method::Pathchirp),
                _,
            ) => Self::Streams,
            _ => Self::Nothing,
        }
    }
}

impl Collector {
    pub(super) fn of(answer: &Answer, least_ns: i64) -> Self {
        Self {
            shown: Shown::of(answer),
            least_ns,
            line: Envelope::default(),
            lost: Grid::new(LOSS_BIN_NS, MOST_LOSS_BINS),
            all: Quantities::default(),
            overlaid: VecDeque::new(),
        }
    }

    /// The probes of a train, in the order of their numbers. Its losses are then told, so that it leaves `trains`.
    pub(super) fn arrived(&mut self, passage: &[ProbeRow], trains: &mut BTreeMap<u32, TrainRow>) {
        let Some(first) = passage.first() else {
            return;
        };
        match self.shown {
            Shown::Nothing => {}
            Shown::Streams => self.overlay(passage, trains.get(&first.train)),
            Shown::RoundTrips | Shown::Ways => {
                self.over_time(passage, trains.get(&first.train));
                trains.remove(&first.train);
            }
        }
    }

    fn value_ms(&self, row: &ProbeRow) -> Option<f64> {
        if self.shown == Shown::RoundTrips {
            return row.round_trip_ns().map(ms);
        }
        let above = row.one_way_delay_ns().saturating_sub(self.least_ns);
        Some(ms(u64::try_from(above).unwrap_or(0)))
    }

    fn over_time(&mut self, passage: &[ProbeRow], train: Option<&TrainRow>) {
        let lost = train.map_or(0, TrainRow::lost);
        let mut left = u64::from(lost);
        let mut next = 0;
        for row in passage {
            let missing = u64::from(row.probe.saturating_sub(next)).min(left);
            self.lose(row.t_ns, missing);
            left -= missing;
            next = row.probe.saturating_add(1);
            if let Some(ms) = self.value_ms(row) {
                self.line.push(row.t_ns, ms);
                self.all.push(ms);
            }
        }
        let last_ns = passage.last().map_or(0, |row| row.t_ns);
        self.lose(last_ns, left);
    }

    fn lose(&mut self, t_ns: u64, probes: u64) {
        if probes > 0 {
            self.lost.add(&(), (t_ns, t_ns), probes as f64);
            self.line.gap(t_ns);
        }
    }

    fn overlay(&mut self, passage: &[ProbeRow], train: Option<&TrainRow>) {
        let mut line = Envelope::default();
        for row in passage {
            if let Some(ms) = self.value_ms(row) {
                line.push(u64::from(row.probe).saturating_mul(ONE_PROBE), ms);
            }
        }
        let line = line.line();
        let first = passage.first();
        self.overlaid.push_back(Overlaid {
            train: first.map_or(0, |row| row.train),
            t_s: seconds(first.map_or(0, |row| row.t_ns)),
            probe: line.t_s.iter().map(|place| (place * 1e3).round()).collect(),
            ms: line.v.into_iter().flatten().collect(),
            arrived: passage.len(),
            lost: train.map_or(0, TrainRow::lost),
        });
        if self.overlaid.len() > MOST_OVERLAID {
            self.overlaid.pop_front();
        }
    }

    /// What was collected; `trains` are those that no probe arrived of.
    pub(super) fn delays(mut self, trains: &BTreeMap<u32, TrainRow>) -> Option<Delays> {
        if matches!(self.shown, Shown::RoundTrips | Shown::Ways) {
            for train in trains.values() {
                self.lose(train.t_ns, u64::from(train.lost()));
            }
        }
        let delays = Delays {
            is_round_trip: self.shown == Shown::RoundTrips,
            line_ms: self.line.line(),
            lost: self.lost.counts(&()),
            ms: self.all.quantity(),
            overlaid: self.overlaid.into(),
        };
        (self.shown != Shown::Nothing).then_some(delays)
    }
}
