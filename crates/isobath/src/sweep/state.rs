//! `sweep.json`: what a sweep is, so that it can go on wherever it was stopped. How far it is stands in its journal.

use super::file::SweepFile;
use crate::batch::inputs::{self, Input};
use jiff::Timestamp;
use kit::pool::error::Error;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The schema that this version writes and reads.
const SCHEMA: &str = "isobath.sweep/1";
/// Name of the file in the sweep's folder.
const FILE: &str = "sweep.json";

/// The content of `sweep.json`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct State {
    /// Always [`SCHEMA`].
    schema: String,
    /// By which version its runs are made: another might make others.
    version: String,
    /// The sweep's name.
    pub(crate) name: String,
    /// When it began.
    pub(crate) started: Timestamp,
    /// The sweep's TOML file, absolute. Relative names in it are looked up in its folder.
    file: PathBuf,
    /// The text of that file.
    toml: String,
    /// The labs that are files.
    inputs: Vec<Input>,
}

impl State {
    /// That of a sweep that has not begun: of `toml`, the text of `file`.
    ///
    /// # Errors
    /// [`Error::Read`] when a lab that is a file cannot be read.
    pub(crate) fn new(file: PathBuf, toml: String, sweep: &SweepFile) -> Result<Self, Error> {
        Ok(Self {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            name: inputs::name(sweep.name.as_ref(), &file),
            started: Timestamp::now(),
            inputs: inputs::of(&file, sweep.labs.iter())?,
            file,
            toml,
        })
    }

    /// Whether the folder `dir` is a sweep's.
    pub(crate) fn is_in(dir: &Path) -> bool {
        dir.join(FILE).exists()
    }

    /// The state in the folder `dir`, and the sweep as it was written.
    ///
    /// # Errors
    /// [`Error::Read`], or [`Error::Damaged`] when the file is not one that this version could have written.
    pub(crate) fn load(dir: &Path) -> Result<(Self, SweepFile), Error> {
        let path = dir.join(FILE);
        let text = inputs::read(&path)?;
        let parsed = Self::parse(&text);
        parsed.map_err(|what| Error::Damaged { path, what })
    }

    fn parse(text: &str) -> Result<(Self, SweepFile), String> {
        let state: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if state.schema != SCHEMA {
            let schema: String = state.schema.chars().take(64).collect();
            return Err(format!("its schema is {schema:?}, not {SCHEMA:?}"));
        }
        let sweep = SweepFile::parse(&state.toml, "toml").map_err(|error| error.to_string())?;
        Ok((state, sweep))
    }

    /// Checks that this program may go on: files are as they were, and it is of the same version.
    ///
    /// # Errors
    /// In one line.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        inputs::check(&self.file, &self.toml, &self.inputs)?;
        let (own, begun) = (env!("CARGO_PKG_VERSION"), &self.version);
        anyhow::ensure!(
            own == begun,
            "the sweep was begun by isobath {begun}, this is {own} - go on with that version, or begin a new sweep"
        );
        Ok(())
    }

    /// Writes `sweep.json` into `dir`.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub(crate) fn save(&self, dir: &Path) -> Result<(), Error> {
        inputs::replace(&dir.join(FILE), self)
    }

    /// The folder in which relative names are looked up.
    pub(crate) fn home(&self) -> &Path {
        inputs::home(&self.file)
    }
}
