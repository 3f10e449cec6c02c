//! Carries out the runs of a sweep, on all processors.

use super::cells::Cell;
use super::file::SweepFile;
use super::journal::{Journal, Line};
use crate::cli::sim::Measurement;
use anyhow::Context as _;
use record::{Kept, RecordWriter};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// What is needed to carry out a sweep.
pub(crate) struct Runner<'a> {
    /// The sweep's folder.
    pub(crate) dir: &'a Path,
    /// What is to be done.
    pub(crate) sweep: &'a SweepFile,
    /// Threads.
    pub(crate) jobs: usize,
    /// Raised when the user interrupts.
    pub(crate) interrupt: &'a AtomicBool,
    /// Told of every run that has ended.
    pub(crate) watch: &'a (dyn Fn(&Line) + Sync),
}

impl Runner<'_> {
    /// Makes the runs of these numbers, until all are made or the user interrupts. What one finds wrong stands in its line.
    ///
    /// # Errors
    /// When the disk does not take what they found.
    pub(crate) fn run(&self, due: &[u64], journal: Journal) -> anyhow::Result<()> {
        let next = AtomicUsize::new(0);
        let shared = Mutex::new((journal, Ok(())));
        let has_failed = AtomicBool::new(false);
        let work = || {
            while !self.is_interrupted() && !has_failed.load(Ordering::Relaxed) {
                let Some(&number) = due.get(next.fetch_add(1, Ordering::Relaxed)) else {
                    break;
                };
                let made = self.line(number);
                if self.is_interrupted() {
                    // It may have been cut short.
                    break;
                }
                let Ok(mut shared) = shared.lock() else { break };
                let (journal, failure) = &mut *shared;
                if let Err(error) = self.note(number, made, journal) {
                    has_failed.store(true, Ordering::Relaxed);
                    *failure = Err(error);
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..self.jobs.clamp(1, due.len().max(1)) {
                scope.spawn(work);
            }
        });
        shared.into_inner().map_or(Ok(()), |(_, failure)| failure)
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// What comes of run `number`; what kept it from being made is in its line.
    pub(crate) fn line(&self, number: u64) -> (Line, Kept) {
        self.make(number).unwrap_or_else(|error| {
            let failed = Line::failed(number, format!("{error:#}").replace('\n', " "));
            (failed, Kept::default())
        })
    }

    fn make(&self, number: u64) -> anyhow::Result<(Line, Kept)> {
        let cell = Cell::of(self.sweep, number).context("there is no such run")?;
        let measurement = Measurement::parse(&cell.arguments())?;
        let prepared = measurement.prepare(self.interrupt)?;
        let mut writer = RecordWriter::in_memory(&prepared.run, &self.sweep.tables);
        let (run, _) = prepared.carry_out(&mut writer)?;
        Ok((Line::of(number, run), writer.into_kept()))
    }

    /// Writes down what came of run `number`: its tables first, so that a line says that all is there.
    fn note(
        &self,
        number: u64,
        (line, kept): (Line, Kept),
        journal: &mut Journal,
    ) -> anyhow::Result<()> {
        kept.write(self.dir, number)?;
        journal.append(&line).with_context(|| {
            let file = self.dir.join(super::journal::FILE);
            format!(
                "cannot write {} - free space there, then go on with --resume",
                file.display()
            )
        })?;
        (self.watch)(&line);
        Ok(())
    }
}
