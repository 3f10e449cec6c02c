//! Runs of this program in processes of their own, a folder for each: what a batch and an experiment are made of.

pub mod child;
pub mod error;
pub mod lock;

use error::Error;
use record::{Record, Run};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Where records go that are not their cell's any more.
const SET_ASIDE: &str = "set-aside";

/// Moves what lies in `folder`, where a new record is to be, into a folder of `dir`: nothing measured is thrown away.
///
/// # Errors
///
/// [`Error::Write`].
pub fn set_aside(dir: &Path, folder: &Path) -> Result<(), Error> {
    if !folder.exists() {
        return Ok(());
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let parent = dir.join(SET_ASIDE);
    let free = (1..=u32::MAX)
        .map(|number| parent.join(format!("{name}.{number}")))
        .find(|path| !path.exists());
    let target = free.unwrap_or_else(|| parent.join(&*name));
    fs::create_dir_all(&parent)
        .and_then(|()| fs::rename(folder, &target))
        .map_err(|source| Error::Write {
            path: target,
            source,
        })
}

/// What `run.json` in `folder` says, if it can be read.
pub fn run_in(folder: &Path) -> Option<Run> {
    Some(Record::open(folder).ok()?.run().clone())
}

/// A time as a person says it, to two parts.
pub fn words(span: Duration) -> String {
    let seconds = span.as_secs() + u64::from(span.subsec_millis() >= 500);
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, min, 0) => format!("{min} min"),
        (0, min, s) => format!("{min} min {s} s"),
        (h, min, _) => format!("{h} h {min} min"),
    }
}
