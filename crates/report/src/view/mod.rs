//! A run as a page shows it: what of a record goes into it, and in which form.
//!
//! Each submodule reads one table, batch by batch, and keeps what its figures need. Field names end in their unit, and
//! null is what was not measured, as everywhere in Isobath. The schema is told in `docs/report.md`.

pub(crate) mod btc;
mod clock;
pub(crate) mod cpu;
pub(crate) mod estimate;
pub(crate) mod hops;
pub(crate) mod https;
pub(crate) mod lab;
pub(crate) mod marks;
pub(crate) mod mbm;
pub(crate) mod probes;
pub(crate) mod replay;
pub(crate) mod rpm;
pub(crate) mod tcp;
pub(crate) mod udpst;
pub(crate) mod web;

use crate::Subject;
use crate::phases::Phases;
use crate::sentence::sentence;
use record::{Record, Row, Run};
use schema::tables::Stream;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// One run.
#[derive(Serialize)]
pub(crate) struct RunView {
    /// What to call it: the lab, the server, or the folder.
    pub(crate) name: String,
    /// The record's folder, without where it lies.
    folder: String,
    /// Its answer.
    pub(crate) sentence: String,
    /// Its `run.json`.
    pub(crate) run: Run,
    /// When the last row was taken.
    end_s: f64,
    pub(crate) phases: Phases,
    streams: Vec<Stream>,
    pub(crate) probes: probes::Probes,
    pub(crate) tcp: tcp::Tcp,
    pub(crate) web: Option<web::Web>,
    https: Option<https::Https>,
    hops: Vec<hops::Trace>,
    marks: Vec<marks::Mark>,
    lab: Vec<lab::Link>,
    cpu: Vec<cpu::Host>,
    /// Bulk transfers; null in a record of anything else.
    pub(crate) btc: Option<btc::Btc>,
    /// Model based metrics; likewise.
    pub(crate) mbm: Option<mbm::Mbm>,
    /// A property of a path; likewise.
    pub(crate) estimate: Option<estimate::Estimate>,
    /// Replayed traffic; likewise.
    pub(crate) replay: Option<replay::Replay>,
    /// Responsiveness by HTTP; likewise.
    pub(crate) rpm: Option<rpm::Rpm>,
    pub(crate) udpst: Option<udpst::Udpst>,
    /// Tables of the record and their number of rows, known to the page or not.
    tables: BTreeMap<String, u64>,
}

impl RunView {
    pub(crate) fn of(subject: &Subject) -> Result<Self, record::Error> {
        let (record, run) = (&subject.record, &subject.run);
        let (tables, last_ns) = extent(record)?;
        let end_s = crate::number::seconds(last_ns);
        let phases = Phases::of(run, end_s);
        let mut streams = record.rows::<Stream>()?;
        let (probes, marks) = probes::read(record, run, &phases, &mut streams)?;
        let tcp = tcp::read(record, &phases, &mut streams)?;
        Ok(Self {
            name: name(record, run),
            folder: folder(record),
            sentence: sentence(run),
            end_s,
            probes,
            marks,
            tcp,
            web: web::read(record, &phases)?,
            https: https::read(record, &phases)?,
            hops: hops::read(record, &phases, last_ns)?,
            // A replay has figures of its own for the bottleneck.
            lab: if replay::is_replay(run) {
                Vec::new()
            } else {
                lab::read(record, run)?
            },
            cpu: cpu::read(record)?,
            btc: btc::read(record, run)?,
            mbm: mbm::read(record, run)?,
            estimate: estimate::read(record, run)?,
            replay: replay::read(record, run, last_ns)?,
            rpm: rpm::read(record, run)?,
            udpst: udpst::read(record, run)?,
            tables,
            streams,
            phases,
            run: mbm::without_points(run),
        })
    }
}

impl RunView {
    pub(crate) fn streams(&self) -> &[Stream] {
        &self.streams
    }
}

/// Hands every row of a table to `see`, one batch in memory at a time.
pub(crate) fn each<T: Row>(record: &Record, mut see: impl FnMut(T)) -> Result<(), record::Error> {
    if !record.table_names().any(|name| name == T::TABLE) {
        return Ok(());
    }
    for batch in record.batches(T::TABLE)? {
        T::from_batch(&batch?)?.into_iter().for_each(&mut see);
    }
    Ok(())
}

record::table! {
    /// A row of any table, of which only the time is looked at.
    struct Timed in "any" {
        /// When; null where the table does not tell.
        t_ns: Option<u64> => "ns",
    }
}

/// Tables that go on while the two ends hand over their findings, after the measurement.
const GO_ON: [&str; 5] = ["active", "counters", "cpu", "offered", "queue"];

/// How many rows each table has, and the latest `t_ns` of what was measured.
pub(crate) fn extent(record: &Record) -> Result<(BTreeMap<String, u64>, u64), record::Error> {
    let mut tables = BTreeMap::new();
    let (mut measured_ns, mut any_ns) = (0, 0);
    for table in record.table_names() {
        let mut rows = 0;
        for batch in record.batches(table)? {
            let batch = batch?;
            rows += batch.num_rows() as u64;
            // A table of another make may have no such column, or another type in it.
            let times = Timed::from_batch(&batch).unwrap_or_default();
            let last = times.iter().filter_map(|row| row.t_ns).max().unwrap_or(0);
            any_ns = any_ns.max(last);
            if !GO_ON.contains(&table) {
                measured_ns = measured_ns.max(last);
            }
        }
        tables.insert(table.to_owned(), rows);
    }
    let end_ns = if measured_ns > 0 { measured_ns } else { any_ns };
    Ok((tables, end_ns))
}

fn folder(record: &Record) -> String {
    folder_name(record.dir())
}

/// The last part of the way to a folder.
pub(crate) fn folder_name(dir: &Path) -> String {
    let name = dir
        .canonicalize()
        .ok()
        .and_then(|path| Some(path.file_name()?.to_owned()));
    name.map_or_else(
        || dir.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

fn name(record: &Record, run: &Run) -> String {
    let plan = run.plan["name"].as_str().filter(|&plan| plan != run.test);
    let place = match &run.path.lab {
        Some(lab) => Some(format!("lab {}", lab.name)),
        None => run.path.server.addresses.first().map(ToString::to_string),
    };
    let place = place.unwrap_or_else(|| folder(record));
    plan.map_or_else(|| place.clone(), |plan| format!("{plan}, {place}"))
}
