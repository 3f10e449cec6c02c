//! Gathers what the threads of a run find, and puts it on disk.

use super::Live;
use super::lab_books::LabBooks;
use super::messages::{Done, Far, Near, StreamEnd};
use super::run::{ANSWER, Context, Ending};
use super::sampler::Sink;
use super::tables::Tables;
use record::RecordWriter;
use record::tables::{Cpu, Sample, Series};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;
use sys::clock;
use units::Instant;

/// How often the record is flushed and the lab's books are taken.
const FLUSH: Duration = Duration::from_secs(1);
/// How often the display changes.
const DISPLAY: Duration = Duration::from_millis(200);
/// Rows that a far end may send: more is no measurement.
const MOST_FAR_ROWS: usize = 2_000_000;
/// How long it may take to send them.
const FAR_ROWS: Duration = Duration::from_secs(120);

/// A finding of a stream or of the sampler.
pub(super) enum Finding {
    Cpu(Cpu),
    Ended(StreamEnd),
    Failed { stream: u16, reason: String },
    Opened { stream: u16, connected_ns: u64 },
    Sample(Sample),
    Series(Series),
}

impl Sink for SyncSender<Finding> {
    // A collector that is gone needs no findings.
    fn series(&self, row: Series) {
        let _ = self.send(Finding::Series(row));
    }

    fn cpu(&self, row: Cpu) {
        let _ = self.send(Finding::Cpu(row));
    }

    fn ended(&self, end: StreamEnd) {
        let _ = self.send(Finding::Ended(end));
    }
}

/// Gathers the findings of all threads.
pub(super) struct Collector<'a> {
    context: &'a Context<'a>,
    findings: Receiver<Finding>,
    pub(super) tables: Tables,
    pub(super) failures: Vec<String>,
    origin: Instant,
    flushed: Instant,
}

impl<'a> Collector<'a> {
    /// A collector for the run of `context` that starts at `origin`.
    pub(super) fn new(
        context: &'a Context<'a>,
        origin: Instant,
        findings: Receiver<Finding>,
    ) -> Self {
        let lab = context
            .lab
            .map(|lab| LabBooks::new(lab, origin, context.plan.loaded()));
        Self {
            context,
            findings,
            tables: Tables::new(context.streams, lab),
            failures: Vec::new(),
            origin,
            flushed: clock::now(),
        }
    }

    /// Collects until the plan's end, or until something ends it before.
    pub(super) fn collect(
        &mut self,
        control: &mut session::Control,
        record: &mut RecordWriter,
    ) -> Result<Ending, record::Error> {
        let end = self.origin + self.context.plan.total();
        let mut shown = Instant::ZERO;
        loop {
            match self.findings.recv_timeout(DISPLAY) {
                Ok(finding) => self.take(finding),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            let now = clock::now();
            if now >= end {
                return Ok(Ending::Complete);
            }
            if self.context.interrupt.load(Ordering::Relaxed) {
                return Ok(Ending::Interrupted);
            }
            if now.since(shown) >= DISPLAY {
                shown = now;
                self.show(now);
                if let Some(reason) = lost(control) {
                    return Ok(Ending::Lost(reason));
                }
            }
            if now.since(self.flushed) >= FLUSH {
                self.flush(record)?;
            }
        }
    }

    fn take(&mut self, finding: Finding) {
        match finding {
            Finding::Cpu(row) => self.tables.cpu.push(row),
            Finding::Ended(end) => self.tables.ended("client", &end),
            Finding::Failed { stream, reason } => {
                let name = self.context.streams.iter().find(|plan| plan.id == stream);
                let name = name.map_or("a stream", |plan| &plan.name);
                self.failures.push(format!("{name}: {reason}"));
            }
            Finding::Opened {
                stream,
                connected_ns,
            } => self.tables.opened(stream, connected_ns),
            Finding::Sample(sample) => self.tables.sample(sample),
            Finding::Series(row) => self.tables.series(row),
        }
    }

    /// Writes what has come since the last time.
    pub(super) fn flush(&mut self, record: &mut RecordWriter) -> Result<(), record::Error> {
        self.flushed = clock::now();
        if let Some(network) = self.context.lab {
            self.tables.take_lab(network);
        }
        self.tables.write(record)
    }

    /// Takes what the threads have said before they ended.
    pub(super) fn drain(&mut self) {
        while let Ok(finding) = self.findings.try_recv() {
            self.take(finding);
        }
    }

    fn show(&self, now: Instant) {
        let elapsed = now.since(self.origin);
        let plan = self.context.plan;
        let (load, end) = (plan.idle_before.0, plan.idle_before.0 + plan.duration.0);
        let phase = match elapsed {
            elapsed if elapsed < load => "idle",
            elapsed if elapsed < end && !plan.load.is_empty() => "load",
            _ => "idle again",
        };
        let (down_mbps, up_mbps, rtt_ms) = self.tables.latest();
        (self.context.display)(&Live {
            elapsed,
            phase,
            down_mbps,
            up_mbps,
            rtt_ms,
        });
    }

    /// Asks the far end for its side; `None` when it does not answer any more.
    pub(super) fn ask_far_end(&mut self, control: &mut session::Control) -> Option<Box<Done>> {
        let deadline = clock::now() + FAR_ROWS;
        let mut left = MOST_FAR_ROWS;
        let mut ask = || -> Result<Box<Done>, String> {
            control
                .send(&Near::Finish)
                .map_err(|error| error.to_string())?;
            loop {
                match control
                    .recv::<Far>(ANSWER)
                    .map_err(|error| error.to_string())?
                {
                    Far::Rows(rows) if rows.len() <= left && clock::now() < deadline => {
                        left -= rows.len();
                        for row in rows {
                            self.tables.far_row(row);
                        }
                    }
                    Far::Rows(_) => return Err("the server sends rows without end".to_owned()),
                    Far::Done(done) => return Ok(done),
                    Far::Ready | Far::Refused(_) => {}
                }
            }
        };
        let done = ask();
        done.map_err(|error| self.failures.push(error)).ok()
    }
}

/// Why the far end is lost; `None` while it is there. It says nothing during a run, so whatever comes ends it.
fn lost(control: &mut session::Control) -> Option<String> {
    match control.recv::<Far>(Duration::ZERO) {
        Err(session::Error::Timeout { .. }) => None,
        Ok(_) => Some("the server spoke out of turn".to_owned()),
        Err(error) => Some(error.to_string()),
    }
}
