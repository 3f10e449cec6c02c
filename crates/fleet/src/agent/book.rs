//! The ledger on disk: a line of JSON for each entry, on the disk before the next thing is done.
//!
//! A process that is killed writes its last line not to the end; such a line is cut off at the next start. Then the file is written anew with
//! the fewest lines that say the same, beside the old one, which it replaces in one step.

use crate::Moment;
use crate::ledger::{Entry, Ledger};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the file in the agent's folder.
const FILE: &str = "ledger.jsonl";
/// Handed over and older than this, a run is forgotten.
const KEPT: Duration = Duration::from_secs(3 * 86_400);

/// From this length on the file is written anew now and then.
const LONG: u64 = 4 << 20;

/// The ledger, open for more lines.
#[derive(Debug)]
pub(super) struct Book {
    ledger: Ledger,
    file: File,
    path: PathBuf,
}

impl Book {
    /// Opens that of the folder `dir`; an empty one if there is none.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub(super) fn open(dir: &Path, now: Moment) -> io::Result<Self> {
        let path = dir.join(FILE);
        let mut ledger = read(&path)?;
        ledger.forget(old(now));
        let file = rewrite(&path, &ledger)?;
        Ok(Self { ledger, file, path })
    }

    /// Drops what is old, for an agent that lives long.
    ///
    /// # Errors
    /// When the file cannot be written anew; then the old one goes on.
    pub(super) fn tidy(&mut self, now: Moment) -> io::Result<()> {
        self.ledger.forget(old(now));
        if self.file.metadata()?.len() > LONG {
            self.file = rewrite(&self.path, &self.ledger)?;
        }
        Ok(())
    }

    /// What the lines say.
    pub(super) const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Adds a line. When this returns, it is on the disk.
    ///
    /// # Errors
    /// When the disk does not take it; then nothing has changed.
    pub(super) fn write(&mut self, entry: Entry) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        let written = append(&mut self.file, &entry).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // Part of a line would spoil the next one.
            self.file.set_len(length)?;
            return Err(error);
        }
        self.ledger.apply(entry);
        Ok(())
    }
}

/// Runs of before that are forgotten.
fn old(now: Moment) -> Moment {
    let kept = u64::try_from(KEPT.as_millis()).unwrap_or(0);
    Moment::from_millis(now.as_millis().saturating_sub(kept))
}

fn append(file: &mut File, entry: &Entry) -> io::Result<()> {
    let mut text = serde_json::to_vec(entry)?;
    text.push(b'\n');
    file.write_all(&text)
}

/// What the whole lines of a file say.
fn read(path: &Path) -> io::Result<Ledger> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ledger::default()),
        Err(error) => return Err(error),
    };
    let (mut reader, mut ledger, mut text) = (BufReader::new(file), Ledger::default(), Vec::new());
    loop {
        text.clear();
        reader.read_until(b'\n', &mut text)?;
        if text.is_empty() {
            return Ok(ledger);
        }
        match serde_json::from_slice(&text) {
            Ok(entry) if text.ends_with(b"\n") => ledger.apply(entry),
            // The last line may have been cut, and no other.
            _ if reader.fill_buf()?.is_empty() => return Ok(ledger),
            _ => {
                let what = "a line within it cannot be read - was it written by a newer version?";
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
        }
    }
}

fn rewrite(path: &Path, ledger: &Ledger) -> io::Result<File> {
    let new: PathBuf = path.with_extension("new");
    let mut file = File::create(&new)?;
    for entry in ledger.lines() {
        append(&mut file, &entry)?;
    }
    file.sync_all()?;
    fs::rename(&new, path)?;
    OpenOptions::new().append(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunId;
    use crate::ledger::Beginning;

    fn began(second: u32) -> Entry {
        let run: RunId = format!("f.m.a.b.20261125T0000{second:02}000Z")
            .parse()
            .unwrap();
        let at = run.instant;
        Entry::Began {
            run,
            beginning: Beginning {
                planned: at,
                at,
                on_demand: false,
            },
        }
    }

    #[test]
    fn a_line_that_was_cut_is_as_if_it_had_not_been() {
        let dir = tempfile::tempdir().unwrap();
        let now = Moment::default();
        let mut book = Book::open(dir.path(), now).unwrap();
        book.write(began(1)).unwrap();
        book.write(began(2)).unwrap();
        drop(book);
        let path = dir.path().join(FILE);
        let text = fs::read(&path).unwrap();
        fs::write(&path, &text[..text.len() - 5]).unwrap();
        let mut book = Book::open(dir.path(), now).unwrap();
        assert_eq!(book.ledger().begun().count(), 1);
        book.write(began(3)).unwrap();
        let book = Book::open(dir.path(), now).unwrap();
        let mut damaged = fs::read(&path).unwrap();
        damaged[3] = b'#';
        let begun: Vec<_> = book.ledger().begun().map(|(run, ..)| run.instant).collect();
        let expected: Vec<_> = [1, 3]
            .map(|second| Moment::from_millis(book_time(second)))
            .into();
        assert_eq!(begun, expected);
        fs::write(&path, damaged).unwrap();
        let refused = Book::open(dir.path(), now).unwrap_err().to_string();
        assert!(refused.contains("newer version"), "{refused}");
    }

    fn book_time(second: u64) -> u64 {
        let run: RunId = "f.m.a.b.20261125T000000000Z".parse().unwrap();
        run.instant.as_millis() + second * 1_000
    }
}
