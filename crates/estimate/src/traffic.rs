//! The counters of a run: the trains there were, and rows of their probes.

use super::Live;
use super::messages::Sent;
use super::plan::Plan;
use super::tables::{ProbeRow, TrainRow};
use probe::riders::Riders;
use probe::train::{Arrival, Extent, Passage, Train};
use record::RecordWriter;

/// The record has rows of so many probes at most.
const MOST_ROWS: usize = 500_000;

/// What there was on the carrier.
#[derive(Default)]
pub struct Traffic {
    pub trains: u32,
    pub probes: u64,
    pub octets: u64,
    pub arrived: u64,
    /// Packets of applications that travelled inside probes.
    pub riders: Riders,
    /// Rows that are not in the record yet.
    train_rows: Vec<TrainRow>,
    probe_rows: Vec<ProbeRow>,
    rows: usize,
    pub rows_left_out: u64,
}

impl Traffic {
    /// How it goes, for whoever watches.
    pub fn live(&self, plan: &Plan, done: Option<f64>) -> Live {
        Live {
            done,
            trains: self.trains,
            probes: self.probes,
            octets: self.octets,
            doing: plan.method.name().to_owned(),
        }
    }

    /// Gives the rows to the record, which writes them when it is flushed.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn hand_over(&mut self, record: &mut RecordWriter) -> Result<(), record::Error> {
        record.append(&self.train_rows)?;
        record.append(&self.probe_rows)?;
        self.train_rows.clear();
        self.probe_rows.clear();
        Ok(())
    }

    /// Where there is no record the rows are of no use.
    pub fn forget(&mut self) {
        self.train_rows.clear();
        self.probe_rows.clear();
    }

    /// A train, what came of it, and how it left. `place` puts the sender's nanoseconds (true) or the receiver's on the run's time; at
    /// `now` all was known.
    pub fn enter(
        &mut self,
        train: &Train,
        passage: &Passage,
        sent: Sent,
        now: u64,
        place: impl Fn(u64, bool) -> u64,
    ) {
        let first = passage.arrivals.first();
        let arrived = passage.arrivals.len();
        self.train_rows.push(TrainRow {
            train: self.trains,
            t_ns: first.map_or(now, |arrival| place(arrival.sent_ns, true)),
            probes: passage.sent,
            arrived: u32::try_from(arrived).unwrap_or(u32::MAX),
            bytes: train.octets(),
            planned_ns: u64::try_from(train.duration().as_nanos()).unwrap_or(u64::MAX),
            lasted_ns: sent.lasted_ns,
            worst_gap_error_ns: sent.worst_ns,
            echo: train.echo,
        });
        let row = |arrival: &Arrival| ProbeRow {
            train: self.trains,
            probe: arrival.number,
            bytes: octets(train, arrival.number),
            t_ns: place(arrival.sent_ns, true),
            arrived_ns: place(arrival.arrived_ns, false),
            returned_ns: arrival.back.map(|back| place(back.returned_ns, true)),
        };
        let room = MOST_ROWS.saturating_sub(self.rows);
        let rows = passage.arrivals.iter().take(room).map(row);
        self.probe_rows.extend(rows);
        self.rows += arrived.min(room);
        self.rows_left_out += arrived.saturating_sub(room) as u64;
        self.trains += 1;
        self.probes += u64::from(passage.sent);
        self.octets += match train.extent {
            // Their headers would have left without probing.
            Extent::Packets(_) => passage.riders.octets,
            _ => passage.octets,
        };
        self.arrived += arrived as u64;
    }
}

fn octets(train: &Train, number: u32) -> u32 {
    let probe = train.probes.get(number as usize);
    probe.map_or(0, |probe| probe.octets)
}
