//! `batch.json`: what a batch is and how far it has come, so that it can go on wherever it was stopped.
//!
//! The file is replaced in one step before and after every cell, so at every moment it is whole and at most one cell
//! behind. It repeats the batch's TOML, and the plans and labs that are files: a batch half of whose cells were measured
//! with another plan would compare what cannot be compared, so changed files are refused.

use super::file::BatchFile;
use super::inputs::{self, Input};
use super::matrix::{Cell, expand};
use super::order::{is_permutation, order};
use jiff::Timestamp;
use kit::pool::error::Error;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The schema that this version writes and reads.
const SCHEMA: &str = "isobath.batch/1";
/// Name of the file in the batch's folder.
pub(crate) const FILE: &str = "batch.json";

/// A batch and how far it has come: the content of `batch.json`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct State {
    /// Always [`SCHEMA`].
    schema: String,
    /// The batch's name.
    pub(crate) name: String,
    /// When it began.
    pub(crate) started: Timestamp,
    /// The batch's TOML file, absolute. Relative names in it are looked up in its folder.
    pub(crate) file: PathBuf,
    /// The text of that file.
    toml: String,
    /// The plans and labs that are files.
    inputs: Vec<Input>,
    /// By which the order was shuffled; null when it was not.
    pub(crate) seed: Option<u64>,
    /// Numbers of the cells in the order in which they are run.
    order: Vec<usize>,
    /// The cells, in the order of the file's lists.
    pub(crate) cells: Vec<Entry>,
}

/// A cell and what became of it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Entry {
    /// What to do.
    #[serde(flatten)]
    pub(crate) cell: Cell,
    /// How far it is.
    pub(crate) state: Progress,
    /// How often it was begun.
    pub(crate) attempts: u32,
    /// Exit status of the last attempt; null before its end and after death by a signal.
    pub(crate) exit_status: Option<i32>,
    /// Why it is not complete, in one line.
    pub(crate) reason: Option<String>,
    /// How long the last attempt took.
    pub(crate) seconds: Option<f64>,
}

/// How far a cell is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Progress {
    /// Not begun.
    Waiting,
    /// Begun; it stays so when the batch is killed.
    Running,
    /// Measured.
    Complete,
    /// Measured, but the instrument was the bottleneck.
    Invalid,
    /// Cut short: the record holds what was measured until then.
    Incomplete,
    /// Nothing was measured.
    Failed,
}

impl Progress {
    /// As `batch.json` writes it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Invalid => "invalid",
            Self::Incomplete => "incomplete",
            Self::Failed => "failed",
        }
    }
}

impl State {
    /// The state of a batch that has not begun: that of `toml`, the text of `file`, in an order shuffled by `seed`.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] when a plan or lab that is a file cannot be read.
    pub(crate) fn new(
        file: PathBuf,
        toml: String,
        batch: &BatchFile,
        seed: Option<u64>,
    ) -> Result<Self, Error> {
        let cells = expand(batch);
        let order = order(&cells, seed).into_iter().map(|index| index + 1);
        let names = batch.plans.iter().chain(&batch.labs);
        Ok(Self {
            schema: SCHEMA.to_owned(),
            name: inputs::name(batch.name.as_ref(), &file),
            started: Timestamp::now(),
            inputs: inputs::of(&file, names)?,
            order: order.collect(),
            cells: cells.into_iter().map(Entry::new).collect(),
            file,
            toml,
            seed,
        })
    }

    /// The state in the folder `dir`, and the batch as it was written.
    ///
    /// # Errors
    ///
    /// [`Error::NoBatch`], [`Error::Read`], or [`Error::Damaged`] when the file is not one that this version could have
    /// written.
    pub(crate) fn load(dir: &Path) -> Result<(Self, BatchFile), Error> {
        let path = dir.join(FILE);
        let text = fs::read_to_string(&path).map_err(|source| match source.kind() {
            ErrorKind::NotFound => Error::NoBatch {
                path: dir.to_owned(),
            },
            _ => Error::Read {
                path: path.clone(),
                source,
            },
        })?;
        Self::parse(&text).map_err(|what| Error::Damaged { path, what })
    }

    fn parse(text: &str) -> Result<(Self, BatchFile), String> {
        let state: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if state.schema != SCHEMA {
            let schema: String = state.schema.chars().take(64).collect();
            return Err(format!("its schema is {schema:?}, not {SCHEMA:?}"));
        }
        let batch = BatchFile::parse(&state.toml, "toml").map_err(|error| error.to_string())?;
        let cells = expand(&batch);
        // Names of folders are among this: none leads out of the batch's.
        if !cells.iter().eq(state.cells.iter().map(|entry| &entry.cell)) {
            return Err("its cells are not those of its TOML".to_owned());
        }
        if !is_permutation(&state.indices(), cells.len()) {
            return Err("its order does not name every cell once".to_owned());
        }
        Ok((state, batch))
    }

    /// Indices into `cells` in the order in which to run them.
    pub(crate) fn indices(&self) -> Vec<usize> {
        self.order
            .iter()
            .map(|number| number.wrapping_sub(1))
            .collect()
    }

    /// Checks that the files that the batch is made of are as they were. The batch's own file may be gone: its text is here.
    ///
    /// # Errors
    ///
    /// [`Error::Changed`] or [`Error::Read`].
    pub(crate) fn check_inputs(&self) -> Result<(), Error> {
        inputs::check(&self.file, &self.toml, &self.inputs)
    }

    /// Replaces `batch.json` in `dir` in one step.
    ///
    /// # Errors
    ///
    /// [`Error::Write`].
    pub(crate) fn save(&self, dir: &Path) -> Result<(), Error> {
        let path = dir.join(FILE);
        inputs::replace(&path, self)
    }

    /// The folder in which relative names are looked up.
    pub(crate) fn home(&self) -> &Path {
        inputs::home(&self.file)
    }

    /// The groups: cells that are repetitions of one another.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &[Entry]> {
        self.cells
            .chunk_by(|one, other| one.cell.is_like(&other.cell))
    }

    /// How many cells are in state `progress`.
    pub(crate) fn count(&self, progress: Progress) -> usize {
        let alike = self.cells.iter().filter(|entry| entry.state == progress);
        alike.count()
    }
}

impl Entry {
    const fn new(cell: Cell) -> Self {
        Self {
            cell,
            state: Progress::Waiting,
            attempts: 0,
            exit_status: None,
            reason: None,
            seconds: None,
        }
    }
}

#[cfg(test)]
mod tests;
