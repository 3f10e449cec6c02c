//! Carries out a batch: one cell after the other, what became of each written down before the next begins.

use super::file::BatchFile;
use super::matrix::Cell;
use super::state::{Entry, Progress, State};
use kit::pool::child::{Ended, OWNER};
use kit::pool::error::Error;
use kit::pool::{child, run_in, set_aside};
use record::{Run, Status};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::clock;

/// How often an interrupt is looked for between two runs.
const LOOK: Duration = Duration::from_millis(50);
/// What a run takes beside its plan: start, agreement, closing the record.
pub(crate) const OVERHEAD: Duration = Duration::from_secs(2);

/// What happens, for whoever watches.
pub(crate) enum Event<'a> {
    /// A cell begins: the how manieth in the order it is, and which attempt.
    Begins { position: usize, entry: &'a Entry },
    /// It goes on; so much is expected to be left of the batch.
    Goes { entry: &'a Entry, left: Duration },
    /// An attempt has ended; there may be another.
    Ended { position: usize, entry: &'a Entry },
}

/// What is needed to carry out a batch.
pub(crate) struct Runner<'a> {
    /// The batch's folder, absolute.
    pub(crate) dir: &'a Path,
    /// What is to be done.
    pub(crate) batch: &'a BatchFile,
    /// Access keys by host.
    pub(crate) keys: &'a BTreeMap<String, String>,
    /// How long each cell's plan takes, by index.
    pub(crate) plans: &'a [Duration],
    /// This process, as `sys::process::owner_mark` says.
    pub(crate) mark: &'a str,
    /// Raised when the user interrupts.
    pub(crate) interrupt: &'a AtomicBool,
    /// Told what happens.
    pub(crate) watch: &'a dyn Fn(&Event<'_>),
}

impl Runner<'_> {
    /// Runs every cell of `state` that is not complete, until all have been tried or the user interrupts.
    ///
    /// # Errors
    ///
    /// When the batch's folder cannot be written or no process can be started; what a run finds wrong is in the state.
    pub(crate) fn run(&self, state: &mut State) -> Result<(), Error> {
        self.adopt(state)?;
        let mut is_first = true;
        for (position, index) in (1..).zip(state.indices()) {
            if state.cells[index].state == Progress::Complete {
                continue;
            }
            for _ in 0..=self.batch.retries {
                if !is_first {
                    self.pause();
                }
                is_first = false;
                if self.is_interrupted() {
                    return Ok(());
                }
                self.attempt(state, position, index)?;
                if state.cells[index].state == Progress::Complete {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The records have the last word: a batch that was killed may have left a run that came to its end after it, and
    /// somebody may have removed a record in order to have it measured again.
    fn adopt(&self, state: &mut State) -> Result<(), Error> {
        for entry in &mut state.cells {
            let run = run_in(&self.folder(&entry.cell));
            if run.as_ref().is_some_and(is_complete) {
                entry.state = Progress::Complete;
                entry.reason = None;
            } else if entry.state == Progress::Complete {
                entry.state = Progress::Waiting;
            }
        }
        state.save(self.dir)
    }

    fn attempt(&self, state: &mut State, position: usize, index: usize) -> Result<(), Error> {
        let folder = self.folder(&state.cells[index].cell);
        set_aside(self.dir, &folder)?;
        let home = state.home().to_owned();
        let entry = &mut state.cells[index];
        entry.state = Progress::Running;
        entry.attempts = entry.attempts.saturating_add(1);
        (entry.exit_status, entry.reason, entry.seconds) = (None, None, None);
        let command = self.command(&entry.cell, &folder, &home);
        state.save(self.dir)?;
        let entry = &state.cells[index];
        (self.watch)(&Event::Begins { position, entry });
        let after = self.after(state, position);
        let tick = |elapsed| {
            let left = after + (self.plans[index] + OVERHEAD).saturating_sub(elapsed);
            (self.watch)(&Event::Goes { entry, left });
        };
        let ended = child::run(command, self.interrupt, &tick).map_err(Error::Start)?;
        let entry = &mut state.cells[index];
        judge(entry, &ended, run_in(&folder));
        state.save(self.dir)?;
        let entry = &state.cells[index];
        (self.watch)(&Event::Ended { position, entry });
        Ok(())
    }

    /// How long the cells after the one at `position` are expected to take.
    fn after(&self, state: &State, position: usize) -> Duration {
        let later = state.indices().into_iter().skip(position);
        let undone = later.filter(|&index| state.cells[index].state != Progress::Complete);
        undone.map(|index| self.cost(index)).sum()
    }

    /// How long cell `index` is expected to take, with the pause before it.
    fn cost(&self, index: usize) -> Duration {
        self.batch.pause.0 + self.plans[index] + OVERHEAD
    }

    fn command(&self, cell: &Cell, folder: &Path, home: &Path) -> Command {
        let arguments = cell.arguments(self.batch, folder);
        let hosts = self.batch.hosts.iter();
        let variables = hosts.filter_map(|host| host.key_env.as_deref());
        let mut command = child::command(&arguments, variables);
        command.env(OWNER, self.mark);
        command.current_dir(home);
        if let Some(key) = cell.host.as_ref().and_then(|host| self.keys.get(host)) {
            command.env("ISOBATH_KEY", key);
        }
        command
    }

    fn folder(&self, cell: &Cell) -> PathBuf {
        self.dir.join(&cell.folder)
    }

    fn pause(&self) {
        let end = clock::now() + self.batch.pause.0;
        while clock::now() < end && !self.is_interrupted() {
            clock::sleep_until(end.min(clock::now() + LOOK));
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

fn is_complete(run: &Run) -> bool {
    run.status == Status::Complete
}

/// Enters what became of an attempt: the record has the first word, then what the run said.
fn judge(entry: &mut Entry, ended: &Ended, run: Option<Run>) {
    entry.exit_status = ended.exit_status;
    entry.seconds = Some(ended.took.as_secs_f64());
    let status = run.as_ref().map_or(Status::Failed, |run| run.status);
    entry.state = match status {
        Status::Complete => Progress::Complete,
        Status::Incomplete => Progress::Incomplete,
        Status::Invalid => Progress::Invalid,
        Status::Failed => Progress::Failed,
    };
    let warning = run.and_then(|run| run.warnings.into_iter().next());
    let reason = ended
        .said
        .clone()
        .or_else(|| warning.map(|warning| warning.message));
    let unsaid = || format!("the run ended with status {:?}", ended.exit_status);
    entry.reason = (entry.state != Progress::Complete).then(|| reason.unwrap_or_else(unsaid));
}
