//! Writing a record while the run goes.

use crate::error::Error;
use crate::journal::Journal;
use crate::kept::Kept;
use crate::reader::settle_journals;
use crate::run::{Run, Status, Warning};
use crate::table::Row;
use serde_json::Value;
use std::any::TypeId;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The writer of one record, for one thread.
///
/// Order: [`create`](Self::create) before the run, so that a folder that cannot be written is found out then;
/// [`append`](Self::append) as rows come, many at a time; [`flush`](Self::flush) at least once a second;
/// [`keep`](Self::keep) when a part of the summary becomes known; [`finish`](Self::finish) at the end.
/// A writer that is dropped instead leaves a record that [`recover`](crate::recover) can finish.
pub struct RecordWriter {
    dir: PathBuf,
    /// As it was begun, with the latest summary.
    run: Run,
    place: Place,
}

/// Where rows go.
enum Place {
    /// Into journals in the folder, whose lock is held as long as the writer lives; the system lets go of it however the process
    /// ends.
    Folder(
        BTreeMap<&'static str, (TypeId, Journal)>,
        #[expect(dead_code, reason = "held, not used")] File,
    ),
    Memory(Kept),
}

impl RecordWriter {
    /// Begins a record in `dir`, which must be empty or not exist, and writes its first `run.json`.
    ///
    /// # Errors
    /// [`Error::NotEmpty`], [`Error::Busy`] or [`Error::Write`].
    pub fn create(dir: &Path, run: &Run) -> Result<Self, Error> {
        fs::create_dir_all(dir).map_err(Error::write(dir))?;
        let lock = lock(dir)?;
        let mut entries = fs::read_dir(dir).map_err(Error::read(dir))?;
        if entries.next().is_some() {
            return Err(Error::NotEmpty {
                path: dir.to_owned(),
            });
        }
        let writer = Self {
            dir: dir.to_owned(),
            run: run.clone(),
            place: Place::Folder(BTreeMap::new(), lock),
        };
        writer.save(run)?;
        Ok(writer)
    }

    /// A record without a folder, of which the rows of `tables` are kept in memory and nothing else: see
    /// [`RecordWriter::into_kept`].
    pub fn in_memory(run: &Run, tables: &[String]) -> Self {
        Self {
            dir: PathBuf::new(),
            run: run.clone(),
            place: Place::Memory(Kept::new(tables)),
        }
    }

    /// The same of which the rows of all tables are kept.
    pub fn whole_in_memory(run: &Run) -> Self {
        Self {
            dir: PathBuf::new(),
            run: run.clone(),
            place: Place::Memory(Kept::whole()),
        }
    }

    /// What was kept of a record without a folder.
    pub fn into_kept(self) -> Kept {
        match self.place {
            Place::Folder(..) => Kept::default(),
            Place::Memory(kept) => kept,
        }
    }

    /// Whether rows of this type go anywhere.
    pub fn wants<T: Row>(&self) -> bool {
        match &self.place {
            Place::Folder(..) => true,
            Place::Memory(kept) => kept.wants(T::TABLE),
        }
    }

    /// The record's folder; empty where it has none.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether a row has been appended.
    pub fn has_rows(&self) -> bool {
        match &self.place {
            Place::Folder(journals, _) => !journals.is_empty(),
            Place::Memory(kept) => kept.has_rows(),
        }
    }

    /// Adds rows to their table. Each call makes batches of its own, so call it with many rows, not with each.
    ///
    /// # Errors
    /// [`Error::Write`] when the disk does not take them; they are kept, and the next flush tries again.
    ///
    /// # Panics
    /// When two row types share a table's name.
    pub fn append<T: Row>(&mut self, rows: &[T]) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let journals = match &mut self.place {
            Place::Folder(journals, _) => journals,
            Place::Memory(kept) => return kept.append(rows),
        };
        let path = journal_path(&self.dir, T::TABLE);
        let (of, journal) = match journals.entry(T::TABLE) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let journal = Journal::create(&path, Arc::new(T::schema()))?;
                entry.insert((TypeId::of::<T>(), journal))
            }
        };
        let is_it = *of == TypeId::of::<T>();
        assert!(is_it, "two row types share a table's name");
        journal.append(rows)
    }

    /// Hands everything appended so far to the operating system: a killed process loses only what comes after.
    ///
    /// # Errors
    /// The first [`Error::Write`] of any table; every table is tried.
    pub fn flush(&mut self) -> Result<(), Error> {
        match &mut self.place {
            Place::Folder(journals, _) => {
                first_error(journals.values_mut().map(|(_, journal)| journal.flush()))
            }
            Place::Memory(_) => Ok(()),
        }
    }

    /// Keeps what is known so far as the run's summary, so that it is there however the run ends.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn keep(&mut self, summary: Value) -> Result<(), Error> {
        self.run.summary = summary;
        self.save(&self.run)
    }

    /// Replaces `run.json` in one step: a reader sees the old one or the new one, whole.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn save(&self, run: &Run) -> Result<(), Error> {
        if matches!(self.place, Place::Memory(_)) {
            return Ok(());
        }
        let path = self.dir.join("run.json");
        let unfinished = self.dir.join("run.json.tmp");
        replace(&path, &unfinished, run).map_err(Error::write(&path))
    }

    /// Turns every journal into Parquet and writes the final `run.json`, which is incomplete when rows were lost.
    ///
    /// # Errors
    /// The first error of any table or of `run.json`. All is attempted whatever fails, and a table that could not be
    /// turned into Parquet is still read from its journal.
    pub fn finish(mut self, run: &Run) -> Result<(), Error> {
        if matches!(self.place, Place::Memory(_)) {
            return Ok(());
        }
        let flushed = self.flush();
        if let Place::Folder(journals, _) = &mut self.place {
            journals.clear();
        }
        let settled = settle_journals(&self.dir);
        let saved = match &flushed {
            Ok(()) => self.save(run),
            Err(error) => self.save(&without_its_end(run.clone(), error)),
        };
        first_error([flushed, settled, saved])
    }
}

/// A run whose last rows could not be written.
fn without_its_end(mut run: Run, error: &Error) -> Run {
    if run.status == Status::Complete {
        run.status = Status::Incomplete;
    }
    run.warnings.push(Warning {
        code: "rows_lost".to_owned(),
        message: format!("the last rows of some tables were lost: {error}"),
        advice: "make room on the disk, then run it again".to_owned(),
    });
    run
}

/// Where the journal of `table` lies.
fn journal_path(dir: &Path, table: &str) -> PathBuf {
    dir.join(format!("{table}.arrows"))
}

/// Locks the folder against other writers, on file systems that can.
pub(crate) fn lock(dir: &Path) -> Result<File, Error> {
    let lock = sys::files::open_folder(dir).map_err(Error::read(dir))?;
    match lock.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Error::Busy {
            path: dir.to_owned(),
        }),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(lock),
    }
}

/// Carries out every step, then reports the first that failed.
pub(crate) fn first_error(steps: impl IntoIterator<Item = Result<(), Error>>) -> Result<(), Error> {
    steps.into_iter().fold(Ok(()), Result::and)
}

fn replace(path: &Path, unfinished: &Path, run: &Run) -> std::io::Result<()> {
    let mut json = serde_json::to_vec_pretty(run)?;
    json.push(b'\n');
    let mut file = File::create(unfinished)?;
    file.write_all(&json)?;
    file.sync_all()?;
    fs::rename(unfinished, path)
}
