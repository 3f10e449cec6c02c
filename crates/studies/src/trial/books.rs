//! What is known of a run as it goes on, whichever world it is in, and what of it is written down.

use super::ledger::{Ledger, SECOND};
use super::plan::Plan;
use super::prober::Note;
use super::source::Seconds;
use super::summary::Tables;
use super::tables::SourceRow;
use super::truth::Truth;
use super::{Live, run::Outcome};
use crate::dumbbell::Place;
use kit::ending::Ending;
use kit::thinned::Thinned;
use path::Others;
use record::RecordWriter;
use schema::tables::Queue;
use std::time::Duration;
use units::Instant;

/// Within this time a packet has left the bottleneck, or is lost.
pub(super) const TRANSIT: Duration = Duration::from_secs(1);

/// See the [module](self). Times are nanoseconds since the application's beginning.
pub(super) struct Books<'a> {
    plan: &'a Plan,
    place: &'a Place,
    pub(super) ledger: Ledger,
    truth: Truth,
    seconds: &'a Seconds,
    tables: Tables,
    gap_error_ns: Thinned,
    /// The next second whose reading has no row yet.
    read_s: u64,
    /// The link's own traffic at the last look.
    others: Others,
    /// Octets that had left the bottleneck at the first look and at the last one.
    counted: Option<[u64; 2]>,
    /// Why it cannot go on.
    pub(super) broken: Option<String>,
    record: &'a mut RecordWriter,
}

impl<'a> Books<'a> {
    /// Empty ones for a run in `place`, whose application's reading is in `seconds`.
    pub(super) fn new(
        plan: &'a Plan,
        place: &'a Place,
        seconds: &'a Seconds,
        record: &'a mut RecordWriter,
    ) -> Self {
        Self {
            plan,
            place,
            ledger: Ledger::default(),
            truth: Truth::new(place.rate),
            seconds,
            tables: Tables::default(),
            gap_error_ns: Thinned::default(),
            read_s: 0,
            others: Others::default(),
            counted: None,
            broken: None,
            record,
        }
    }

    /// The tool says something.
    pub(super) fn note(&mut self, note: Note) {
        match note {
            Note::Offered(number, train) => self.ledger.offered(number, &train),
            Note::Told(number, outcome) => {
                self.gap_error_ns
                    .add(outcome.worst_error().as_nanos() as f64);
                self.ledger.told(number, &outcome);
            }
            Note::Estimated(estimated) => self.truth.estimated(estimated),
            Note::Broken(reason) => self.broken = Some(reason),
        }
    }

    /// What has left the bottleneck so far, all and others' of the link's own, at `at_ns`; nothing before the run begins.
    pub(super) fn counted(&mut self, at_ns: Option<u64>, left: u64, others: Others) {
        let own = left.saturating_sub(others.left.bytes);
        let first = self.counted.map_or(own, |[first, _]| first);
        self.counted = Some([first, own]);
        let before = std::mem::replace(&mut self.others, others).left;
        if let Some(at_ns) = at_ns {
            let packets = others.left.packets - before.packets;
            let bytes = others.left.bytes - before.bytes;
            self.ledger.cross(at_ns, packets, bytes);
        }
    }

    /// Writes what can no longer change: all before `settled_ns`; and of the queues that of the bottleneck.
    pub(super) fn flush(
        &mut self,
        settled_ns: u64,
        mut queue: Vec<Queue>,
    ) -> Result<(), record::Error> {
        self.ledger.settle(settled_ns);
        let (throughput, trains, losses) = self.ledger.take();
        self.truth.carried(&throughput);
        let estimates = self.truth.take(settled_ns);
        let source = self.read(settled_ns);
        let bottleneck = &self.place.bottleneck;
        queue.retain(|row| row.link == bottleneck.link && row.direction == bottleneck.direction);
        self.record.append(&queue)?;
        self.record.append(&throughput)?;
        self.record.append(&trains)?;
        self.record.append(&losses)?;
        self.record.append(&estimates)?;
        self.record.append(&source)?;
        let tables = &mut self.tables;
        tables.throughput.extend(throughput);
        tables.trains.extend(trains);
        tables.losses.extend(losses);
        tables.estimates.extend(estimates);
        tables.source.extend(source);
        self.record.flush()
    }

    /// The record, for tables that are not of every world.
    pub(super) const fn record(&mut self) -> &mut RecordWriter {
        self.record
    }

    /// What the application read in the seconds before `settled_ns`.
    fn read(&mut self, settled_ns: u64) -> Vec<SourceRow> {
        let planned = self.plan.duration.0.as_secs();
        let until = (settled_ns / SECOND).min(planned).max(self.read_s);
        let seconds = self.seconds.of(self.read_s..until);
        self.read_s = until;
        let row = |(second, bytes)| SourceRow {
            t_ns: second * SECOND,
            bytes,
        };
        seconds.into_iter().map(row).collect()
    }

    /// How it goes, so long after the beginning.
    pub(super) fn live(&self, elapsed: Duration) -> Live {
        let last = self.tables.source.last();
        Live {
            done: elapsed.as_secs_f64() / self.plan.duration.0.as_secs_f64(),
            source_mbps: last.map_or(0.0, |row| row.bytes as f64 * 8e-6),
            trains: self.tables.trains.len() as u64,
            riders: self.ledger.carried,
            estimates: self.tables.estimates.len(),
        }
    }

    /// Closes them over a run that ended like this. Of one that was cut short at `now_ns` the last second is not whole and has no row.
    pub(super) fn close(
        mut self,
        ending: Ending,
        now_ns: u64,
        queue: Vec<Queue>,
    ) -> Result<Outcome, record::Error> {
        let transit = u64::try_from(TRANSIT.as_nanos()).unwrap_or(u64::MAX);
        let until = match ending {
            Ending::Complete => u64::MAX,
            _ => now_ns.saturating_sub(transit),
        };
        self.flush(until, queue)?;
        self.tables.tenths = self.ledger.tenths();
        self.record.append(&self.tables.tenths)?;
        self.record.flush()?;
        let [first, last] = self.counted.unwrap_or_default();
        Ok(Outcome {
            ending,
            cpu: Vec::new(),
            truth: Vec::new(),
            capacity: self.place.rate,
            gap_error_ns: self.gap_error_ns.distribution(),
            captured_bytes: self.ledger.octets,
            counted_bytes: last - first,
            uncaptured: 0,
            unmatched: self.ledger.unmatched,
            tables: self.tables,
        })
    }
}

/// From one moment to another, in nanoseconds.
pub(super) fn since(origin: Instant, at: Instant) -> u64 {
    u64::try_from(at.since(origin).as_nanos()).unwrap_or(u64::MAX)
}
