//! A folder that goes with its owner, however that one ends: when it is dropped, or, where its owner was killed, when the next one of
//! its kind is made. A lock tells whose owner lives, since the kernel lets go of it with the process.

use crate::clock;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// What an owner holds a lock on, in its folder.
const LOCK: &str = "isobath.lock";
/// Attempts to remove a folder into which a dying process still writes, and the rest between two.
const REMOVALS: usize = 20;
const REST: Duration = Duration::from_millis(5);

/// A folder for temporary files, in the system's place for them.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    /// Makes one whose name begins with `kind`, and removes those of that kind whose owners are no more.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(kind: &str) -> io::Result<Self> {
        let place = std::env::temp_dir();
        sweep(&place, kind);
        Self::new_in(&place, kind)
    }

    fn new_in(place: &Path, kind: &str) -> io::Result<Self> {
        let folder = TempDir::with_prefix_in(kind, place)?;
        // Under its name only once it is held: who sweeps just now would take it for a dead owner's.
        let unheld = folder.path().join("isobath.lock.new");
        let lock = File::create(&unheld)?;
        lock.lock()?;
        fs::rename(&unheld, folder.path().join(LOCK))?;
        Ok(Self {
            folder,
            _lock: lock,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(self.folder.path());
    }
}

/// Removes the folders of that kind in `place` whose owners are no more. Somebody else's stays.
fn sweep(place: &Path, kind: &str) {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(kind)) {
        let lock = File::open(entry.path().join(LOCK));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            remove(&entry.path());
        }
    }
}

fn remove(folder: &Path) {
    for _ in 0..REMOVALS {
        if fs::remove_dir_all(folder).is_ok() || !folder.exists() {
            return;
        }
        clock::sleep_until(clock::now() + REST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    const KIND: &str = "isobath-tried-";

    #[test]
    fn one_goes_when_it_is_dropped() {
        let scratch = Scratch::new(KIND).unwrap();
        let path = scratch.path().to_owned();
        fs::write(path.join("file"), "x").unwrap();
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn one_goes_when_its_owner_was_killed_and_not_before() {
        let place = tempfile::tempdir().unwrap();
        let alive = Scratch::new_in(place.path(), KIND).unwrap();
        let [dead, other] = ["isobath-tried-dead", "other-dead"].map(|name| {
            let folder = place.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join(LOCK), "").unwrap();
            folder
        });
        sweep(place.path(), KIND);
        assert!(alive.path().exists() && !dead.exists() && other.exists());
    }

    #[test]
    fn one_that_is_just_being_made_is_not_swept() {
        let place = tempfile::tempdir().unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    sweep(place.path(), KIND);
                }
            });
            let made: Vec<_> = (0..200)
                .map(|_| Scratch::new_in(place.path(), KIND))
                .collect();
            is_over.store(true, Ordering::Relaxed);
            for scratch in made {
                assert!(scratch.unwrap().path().join(LOCK).exists());
            }
        });
    }
}
