//! The folder of a batch belongs to one process at a time: two would run two cells at once.

use crate::pool::error::Error;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

/// The right to work on a batch; it ends with the process that has it.
pub struct Lock(#[expect(dead_code, reason = "held, not used")] File);

/// Makes the folder of a new batch, which must be empty or not exist, and locks it.
///
/// # Errors
///
/// [`Error::NotEmpty`], [`Error::Busy`] or [`Error::Write`].
pub fn create(dir: &Path) -> Result<Lock, Error> {
    let write = |source| Error::Write {
        path: dir.to_owned(),
        source,
    };
    fs::create_dir_all(dir).map_err(write)?;
    let lock = lock(dir)?;
    if fs::read_dir(dir).map_err(write)?.next().is_some() {
        return Err(Error::NotEmpty {
            path: dir.to_owned(),
        });
    }
    Ok(lock)
}

/// Locks the folder `dir` against others who would work on the batch, on file systems that can.
///
/// # Errors
///
/// [`Error::Busy`], or [`Error::Missing`] when there is no such folder.
pub fn lock(dir: &Path) -> Result<Lock, Error> {
    let file = sys::files::open_folder(dir).map_err(|source| match source.kind() {
        ErrorKind::NotFound => Error::Missing {
            path: dir.to_owned(),
        },
        _ => Error::Read {
            path: dir.to_owned(),
            source,
        },
    })?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Error::Busy {
            path: dir.to_owned(),
        }),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Lock(file)),
    }
}
