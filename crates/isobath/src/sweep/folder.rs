//! The folder of a sweep, held by one process at a time.

use super::cells::Cell;
use super::file::SweepFile;
use super::journal::{Index, Journal};
use super::state::State;
use super::{dataset, runner::Runner};
use crate::batch::inputs;
use crate::cli::sim::Measurement;
use anyhow::Context as _;
use kit::pool::error::Error;
use kit::pool::lock::{self, Lock};
use kit::usage::Usage;
use record::Status;
use std::path::{Path, PathBuf, absolute};

/// A sweep that was written down: what it is, and where it goes.
pub(crate) struct Folder {
    /// Absolute.
    pub(crate) dir: PathBuf,
    pub(crate) sweep: SweepFile,
    state: State,
    _lock: Lock,
}

/// The sweep in the text of `file`, which is absolute, with every combination checked.
///
/// # Errors
/// What is wrong with it, in one line.
pub(crate) fn checked(file: PathBuf, text: String) -> anyhow::Result<(State, SweepFile)> {
    let sweep = SweepFile::parse(&text, &file.display().to_string())?;
    let state = State::new(file, text, &sweep)?;
    at_home(&state, || check(&sweep))??;
    Ok((state, sweep))
}

/// Whether every combination could be run; labs that are files are looked up here.
fn check(sweep: &SweepFile) -> anyhow::Result<()> {
    for lab in &sweep.labs {
        ::lab::profiles::find(lab)?;
    }
    let firsts = (1..=sweep.runs().unwrap_or_default()).step_by(sweep.repetitions as usize);
    for cell in firsts.filter_map(|number| Cell::of(sweep, number)) {
        Measurement::parse(&cell.arguments()).with_context(|| cell.title())?;
    }
    Ok(())
}

/// Does `work` in the sweep's own folder: relative names in its file are those of that.
fn at_home<T>(state: &State, work: impl FnOnce() -> T) -> anyhow::Result<T> {
    let (here, home) = (std::env::current_dir()?, state.home());
    if here == home {
        return Ok(work());
    }
    std::env::set_current_dir(home).with_context(|| home.display().to_string())?;
    let done = work();
    std::env::set_current_dir(&here)?;
    Ok(done)
}

impl Folder {
    /// Makes the folder of a new sweep: `out`, or one named after the time and the sweep.
    ///
    /// # Errors
    /// When it holds something else, or cannot be written.
    pub(crate) fn begin(
        out: Option<&Path>,
        (state, sweep): (State, SweepFile),
    ) -> anyhow::Result<Self> {
        let dir = if let Some(out) = out {
            absolute(out)?
        } else {
            let name = record::folder_name(state.started, "sweep", &state.name);
            absolute(record::new_folder(Path::new("isobath-runs"), &name)?)?
        };
        let lock = lock::create(&dir).map_err(|error| match error {
            Error::NotEmpty { .. } | Error::Busy { .. } => Usage::of(error),
            error => error.into(),
        })?;
        state.save(&dir)?;
        Ok(Self {
            dir,
            sweep,
            state,
            _lock: lock,
        })
    }

    /// Takes up the sweep in `dir` where it was left.
    ///
    /// # Errors
    /// When there is none, another process has it, or its files have changed since.
    pub(crate) fn resume(dir: &Path) -> anyhow::Result<Self> {
        let lock = lock::lock(dir).map_err(Usage::of)?;
        let (state, sweep) = State::load(dir).map_err(Usage::of)?;
        state.check().map_err(Usage::of)?;
        at_home(&state, || check(&sweep))?.map_err(Usage::of)?;
        Ok(Self {
            dir: absolute(dir)?,
            sweep,
            state,
            _lock: lock,
        })
    }

    /// Runs of the sweep.
    pub(crate) fn runs(&self) -> u64 {
        self.sweep.runs().unwrap_or_default()
    }

    /// The journal, open for more lines, and the runs that have none yet. Those that failed are among them: whatever kept
    /// them from being made may be gone.
    ///
    /// # Errors
    /// When the journal cannot be read or written.
    pub(crate) fn due(&self) -> anyhow::Result<(Journal, Vec<u64>)> {
        let opened = Journal::open(&self.dir);
        let (journal, index) = opened.with_context(|| self.dir.display().to_string())?;
        let is_made = |number: &u64| {
            let status = index.status(*number);
            status.is_some_and(|status| status != Status::Failed)
        };
        let due = (1..=self.runs()).filter(|number| !is_made(number));
        Ok((journal, due.collect()))
    }

    /// Has `runner` make the runs of these numbers.
    ///
    /// # Errors
    /// When the disk does not take what they found.
    pub(crate) fn carry_out(
        &self,
        runner: &Runner<'_>,
        due: &[u64],
        journal: Journal,
    ) -> anyhow::Result<()> {
        at_home(&self.state, || runner.run(due, journal))?
    }

    /// Where the lines of all runs so far are.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub(crate) fn index(&self) -> anyhow::Result<Index> {
        Ok(Index::of(&self.dir)?)
    }

    /// Writes the table of all runs.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub(crate) fn finish(&self) -> anyhow::Result<Index> {
        let mut index = self.index()?;
        index.keep(1..=self.runs());
        dataset::write(&self.dir, &self.sweep, &index)?;
        Ok(index)
    }
}

/// The sweep that the file at `path` describes, checked.
///
/// # Errors
/// What is wrong with it, in one line.
pub(crate) fn of_file(path: &Path) -> anyhow::Result<(State, SweepFile)> {
    let path = absolute(path).with_context(|| path.display().to_string())?;
    let text = inputs::read(&path)?;
    checked(path, text)
}
