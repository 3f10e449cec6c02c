//! Where an experiment is carried out: its folder, its scale, and who watches.

use super::display::Display;
use super::error::Error;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

/// The folder of records below the experiment's.
const RUNS: &str = "runs";

/// How much of an experiment is carried out: a share of its measurements, never another kind of measurement.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Scale(f64);

impl Scale {
    /// All of it.
    pub const FULL: Self = Self(1.0);

    /// So much of `all`, but at least `least` (and never more than there are at a scale of 1).
    pub fn of(self, all: usize, least: usize) -> usize {
        let least = least.min(all);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and ten times a number of measurements"
        )]
        let share = (self.0 * all as f64).round() as usize;
        share.max(least)
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.parse::<f64>().ok();
        let number = number.filter(|number| *number > 0.0 && *number <= 10.0);
        number
            .map(Self)
            .ok_or_else(|| "write a share above 0 and up to 10, such as 0.1".to_owned())
    }
}

/// What a study has at hand.
pub struct Bench<'a> {
    /// The experiment's folder, absolute.
    pub dir: &'a Path,
    /// How much of it is done.
    pub scale: Scale,
    /// Where chance comes from.
    pub seed: u64,
    /// Whether measurements count for which this machine was too busy.
    pub with_invalid: bool,
    /// Most measurements at a time.
    pub jobs: usize,
    /// This process, as `sys::process::owner_mark` says.
    pub mark: &'a str,
    /// Raised when the user interrupts.
    pub interrupt: &'a AtomicBool,
    /// Shows how it goes.
    pub display: &'a Display,
}

impl Bench<'_> {
    /// The folder for the record of measurement `name`.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.dir.join(RUNS).join(name)
    }

    /// Whether the user has interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Writes `text` to the file `name` below the folder of records, whole or not at all; returns its path.
    ///
    /// # Errors
    ///
    /// [`Error::Write`].
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, Error> {
        let path = self.folder(name);
        write(&path, text)?;
        Ok(path)
    }

    /// The text of the file `name` below the folder of records, if there is one.
    pub fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.folder(name)).ok()
    }
}

/// Replaces the file at `path` in one step, and makes its folder if need be.
///
/// # Errors
///
/// [`Error::Write`].
pub fn write(path: &Path, text: &str) -> Result<(), Error> {
    let draft = path.with_extension("tmp");
    let written = || {
        fs::create_dir_all(path.parent().unwrap_or(path))?;
        fs::write(&draft, text)?;
        fs::rename(&draft, path)
    };
    written().map_err(|source| Error::Write {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_a_share_with_a_floor() {
        let tenth: Scale = "0.1".parse().unwrap();
        assert_eq!([tenth.of(66, 6), tenth.of(3, 1), tenth.of(2, 6)], [7, 1, 2]);
        assert_eq!(Scale::FULL.of(66, 6), 66);
        for text in ["0", "-1", "nan", "11", "x"] {
            assert!(text.parse::<Scale>().is_err(), "{text}");
        }
    }
}
