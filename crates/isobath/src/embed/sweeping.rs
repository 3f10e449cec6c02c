//! Sweeps: all of one in this process, or its runs one by one, wherever they are made.

use super::Failure;
use crate::cli::sim::sweep::jobs;
use crate::sweep::dataset;
use crate::sweep::file::SweepFile;
use crate::sweep::folder::{self, Folder};
use crate::sweep::journal::{Journal, Line};
use crate::sweep::runner::Runner;
use anyhow::Context as _;
use kit::usage::Usage;
use record::Status;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf, absolute};
use std::sync::atomic::{AtomicBool, Ordering};

/// A sweep and its folder, which is this process's as long as the value lives.
pub struct Sweep {
    folder: Folder,
    journal: Option<Journal>,
    due: Vec<u64>,
}

/// What came of one run: made here or anywhere else, it can be sent and is the same.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Made {
    /// The run's number.
    pub run: u64,
    /// Its line in `runs.jsonl`.
    pub line: String,
    /// The tables that the sweep keeps, each as a Parquet file.
    pub tables: Vec<(String, Vec<u8>)>,
}

/// How a sweep ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ended {
    /// Runs that were made.
    pub runs: u64,
    /// Those of them that measured what they should.
    pub complete: u64,
    /// Those that could not be made.
    pub failed: u64,
}

impl Sweep {
    /// Begins the sweep that `text` describes, in the folder `out` or a new one. `file` is what the text is called, and relative
    /// names in it are looked up beside that.
    ///
    /// # Errors
    /// What is wrong with the text or the folder.
    pub fn begin(text: &str, file: &Path, out: Option<&Path>) -> Result<Self, Failure> {
        let begun = || {
            let checked = folder::checked(absolute(file)?, text.to_owned());
            Self::of(Folder::begin(out, checked.map_err(Usage::of)?)?)
        };
        Ok(begun()?)
    }

    /// Takes up the sweep in `dir` where it was left.
    ///
    /// # Errors
    /// When there is none, another process has it, or its files have changed since.
    pub fn resume(dir: &Path) -> Result<Self, Failure> {
        Ok(Folder::resume(dir).and_then(Self::of)?)
    }

    fn of(folder: Folder) -> anyhow::Result<Self> {
        let (journal, due) = folder.due()?;
        Ok(Self {
            folder,
            journal: Some(journal),
            due,
        })
    }

    /// Its folder, absolute.
    pub fn dir(&self) -> &Path {
        &self.folder.dir
    }

    /// The table of all runs, once it is finished.
    pub fn table(&self) -> PathBuf {
        self.folder.dir.join(dataset::FILE)
    }

    /// Runs in all.
    pub fn runs(&self) -> u64 {
        self.folder.runs()
    }

    /// Numbers of the runs that are still to be made.
    pub fn due(&self) -> &[u64] {
        &self.due
    }

    /// Makes all runs that are due, in `threads` threads or one for each processor; `watch` is called after each, from any of them.
    ///
    /// # Errors
    /// When the disk does not take what they found.
    pub fn carry_out(
        &mut self,
        threads: Option<NonZeroUsize>,
        interrupt: &AtomicBool,
        watch: &(dyn Fn() + Sync),
    ) -> Result<(), Failure> {
        let journal = self.journal.take();
        let runner = Runner {
            dir: &self.folder.dir,
            sweep: &self.folder.sweep,
            jobs: jobs(threads),
            interrupt,
            watch: &|_| watch(),
        };
        let carried_out = journal
            .context("the sweep was carried out already")
            .and_then(|journal| self.folder.carry_out(&runner, &self.due, journal));
        Ok(carried_out?)
    }

    /// Takes what was made elsewhere: its tables first, so that a line says that all is there.
    ///
    /// # Errors
    /// When it is none of those that are due, or the disk does not take it.
    pub fn take(&mut self, made: &Made) -> Result<(), Failure> {
        Ok(self.write(made)?)
    }

    fn write(&mut self, made: &Made) -> anyhow::Result<()> {
        let line: Line = serde_json::from_str(&made.line).context("not a line of a sweep")?;
        let at = self.due.iter().position(|number| *number == line.run);
        let at = at.with_context(|| format!("run {} is not due", line.run))?;
        for (name, octets) in &made.tables {
            anyhow::ensure!(
                self.folder.sweep.tables.contains(name),
                "the sweep keeps no table '{name}'"
            );
            let folder = self.folder.dir.join(name);
            fs::create_dir_all(&folder)?;
            let unfinished = folder.join(format!("{}.parquet.tmp", line.run));
            fs::write(&unfinished, octets)?;
            fs::rename(&unfinished, folder.join(format!("{}.parquet", line.run)))?;
        }
        let journal = self.journal.as_mut();
        let journal = journal.context("the sweep was carried out already")?;
        let appended = journal.append(&line);
        appended.with_context(|| self.folder.dir.display().to_string())?;
        self.due.remove(at);
        Ok(())
    }

    /// Writes the table of all runs.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn finish(&self) -> Result<Ended, Failure> {
        let index = self.folder.finish()?;
        Ok(Ended {
            runs: index.len() as u64,
            complete: index.count(Status::Complete) as u64,
            failed: index.count(Status::Failed) as u64,
        })
    }
}

/// A sweep without a folder, whose runs are made one by one.
pub struct Maker(SweepFile);

impl Maker {
    /// That of the sweep that `text` describes.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn new(text: &str) -> Result<Self, Failure> {
        let sweep = SweepFile::parse(text, "sweep").map_err(Usage::of);
        Ok(Self(sweep?))
    }

    /// Makes run `number`; nothing when it was interrupted. What keeps it from being made stands in its line.
    ///
    /// # Errors
    /// When the tables to keep cannot be written into a temporary folder.
    pub fn make(&self, number: u64, interrupt: &AtomicBool) -> Result<Option<Made>, Failure> {
        Ok(self.made(number, interrupt)?)
    }

    fn made(&self, number: u64, interrupt: &AtomicBool) -> anyhow::Result<Option<Made>> {
        let runner = Runner {
            dir: Path::new(""),
            sweep: &self.0,
            jobs: 1,
            interrupt,
            watch: &|_| (),
        };
        let (line, kept) = runner.line(number);
        if interrupt.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let mut tables = Vec::new();
        if !self.0.tables.is_empty() {
            let folder = tempfile::tempdir()?;
            kept.write(folder.path(), number)?;
            for name in &self.0.tables {
                let file = folder.path().join(name).join(format!("{number}.parquet"));
                if file.exists() {
                    tables.push((name.clone(), fs::read(file)?));
                }
            }
        }
        Ok(Some(Made {
            run: number,
            line: serde_json::to_string(&line)?,
            tables,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWEEP: &str = "repetitions = 2\nmeasurements = ['btc --rate 10Mbit --duration 1s']\ntables = ['transfers']\n\
                         parameters = { rtt = ['10ms', '20ms'] }";

    #[test]
    fn runs_that_were_made_elsewhere_make_the_same_sweep() {
        let place = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| place.path().join(name));
        let file = place.path().join("s.toml");
        let interrupt = AtomicBool::new(false);
        let mut sweep = Sweep::begin(SWEEP, &file, Some(&one)).unwrap();
        sweep.carry_out(None, &interrupt, &|| ()).unwrap();
        let ended = sweep.finish().unwrap();
        assert_eq!((ended.runs, ended.complete, ended.failed), (4, 4, 0));

        let maker = Maker::new(SWEEP).unwrap();
        let mut sweep = Sweep::begin(SWEEP, &file, Some(&other)).unwrap();
        assert_eq!(sweep.due(), [1, 2, 3, 4]);
        for number in [3, 1] {
            let made = maker.make(number, &interrupt).unwrap().unwrap();
            sweep.take(&made).unwrap();
            let again = sweep.take(&made).unwrap_err();
            assert!(again.message.contains("is not due"), "{again}");
        }
        drop(sweep);
        let mut sweep = Sweep::resume(&other).unwrap();
        for number in [4, 2] {
            let made = maker.make(number, &interrupt).unwrap().unwrap();
            sweep.take(&made).unwrap();
        }
        assert_eq!(sweep.due(), [0; 0]);
        assert_eq!(sweep.finish().unwrap(), ended);
        for name in ["runs.parquet", "transfers/2.parquet", "transfers/3.parquet"] {
            let [one, other] = [&one, &other].map(|folder| fs::read(folder.join(name)).unwrap());
            assert_eq!(one, other, "{name}");
        }
    }
}
