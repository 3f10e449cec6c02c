//! The folder of an experiment: what is carried out there, and that only one process does.

use super::bench::{Scale, write};
use super::error::Error;
use jiff::Timestamp;
use kit::pool::lock;
use kit::pool::lock::Lock;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// The file's name.
const FILE: &str = "plan.json";
/// The schema that this version writes.
const SCHEMA: &str = "isobath.experiment-plan/1";

/// What is carried out in a folder.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Plan {
    /// Always [`SCHEMA`].
    schema: String,
    /// The experiment's name.
    pub name: String,
    /// When it was begun.
    pub started: Timestamp,
    /// Where chance comes from.
    pub seed: u64,
    /// How much of it is done.
    pub scale: Scale,
    /// The experiment itself.
    pub toml: String,
}

impl Plan {
    /// A plan that begins now.
    pub fn new(name: String, toml: String, scale: Scale, seed: u64) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            name,
            started: Timestamp::now(),
            seed,
            scale,
            toml,
        }
    }

    /// Begins in `dir`, or goes on there when the same was begun before: then the plan has that start. The folder is this
    /// process's as long as the lock is kept.
    ///
    /// # Errors
    ///
    /// [`Error::Other`], [`Error::NotEmpty`], [`Error::Damaged`]; what the lock or the disk refuses.
    pub fn begin(self, dir: &Path) -> anyhow::Result<(Self, Lock)> {
        fs::create_dir_all(dir).map_err(|source| Error::Write {
            path: dir.to_owned(),
            source,
        })?;
        let lock = lock::lock(dir)?;
        let path = dir.join(FILE);
        if let Ok(text) = fs::read_to_string(&path) {
            let found: Self = serde_json::from_str(&text).map_err(|error| Error::Damaged {
                path: path.clone(),
                what: error.to_string(),
            })?;
            return Ok((self.same_as(found, dir)?, lock));
        }
        if fs::read_dir(dir)?.next().is_some() {
            let path = dir.to_owned();
            return Err(Error::NotEmpty { path }.into());
        }
        write(&path, &serde_json::to_string_pretty(&self)?)?;
        Ok((self, lock))
    }

    fn same_as(self, found: Self, dir: &Path) -> Result<Self, Error> {
        let started = found.started;
        if (Self { started, ..self }) == found {
            return Ok(found);
        }
        Err(Error::Other {
            path: dir.to_owned(),
            found: format!(
                "{} with --scale {} --seed {}",
                found.name,
                found.scale.get(),
                found.seed
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(seed: u64) -> Plan {
        Plan::new("btc/grid".into(), "a = 1".into(), Scale::FULL, seed)
    }

    #[test]
    fn a_folder_goes_on_with_what_was_begun_in_it_and_with_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let (begun, lock) = plan(1).begin(dir.path()).unwrap();
        assert!(plan(1).begin(dir.path()).is_err(), "two at a time");
        drop(lock);
        assert_eq!(plan(1).begin(dir.path()).unwrap().0, begun);
        let error = plan(2).begin(dir.path()).map(drop).unwrap_err().to_string();
        assert!(
            error.contains("btc/grid with --scale 1 --seed 1"),
            "{error}"
        );
    }

    #[test]
    fn a_folder_with_other_things_in_it_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("thesis.tex"), "").unwrap();
        let error = plan(1).begin(dir.path()).map(drop).unwrap_err().to_string();
        assert!(error.contains("not an empty folder"), "{error}");
    }
}
