//! What came of the runs so far: a line of JSON for each, in the order in which they ended.
//!
//! A line is written whole or, by a process that is killed, not to its end; such a line is cut off when the sweep goes on, and its
//! run is made again.

use record::{Run, Status, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// Name of the file in the sweep's folder.
pub(crate) const FILE: &str = "runs.jsonl";

/// What came of a run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Line {
    /// The run's number.
    pub(crate) run: u64,
    /// Whether it measured.
    pub(crate) status: Status,
    /// Whether it passed, of those that judge.
    pub(crate) verdict: Option<Verdict>,
    /// What its record would say that it is.
    pub(crate) test: String,
    /// Why it is not complete, in one line.
    pub(crate) reason: Option<String>,
    /// Its figures.
    pub(crate) summary: Value,
}

impl Line {
    /// That of `run`, which has come to its end.
    pub(crate) fn of(number: u64, run: Run) -> Self {
        let warning = run.warnings.into_iter().next();
        let is_complete = run.status == Status::Complete;
        Self {
            run: number,
            status: run.status,
            verdict: run.verdict,
            test: run.test,
            reason: warning
                .filter(|_| !is_complete)
                .map(|warning| warning.message),
            summary: run.summary,
        }
    }

    /// That of one that came to none.
    pub(crate) fn failed(number: u64, reason: String) -> Self {
        Self {
            run: number,
            status: Status::Failed,
            verdict: None,
            test: String::new(),
            reason: Some(reason),
            summary: Value::Null,
        }
    }
}

/// The file, open for more lines.
#[derive(Debug)]
pub(crate) struct Journal(File);

impl Journal {
    /// Opens that of the folder `dir`, and hands out its lines so far, by number; made when there is none.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub(crate) fn open(dir: &Path) -> io::Result<(Self, BTreeMap<u64, Line>)> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false);
        let mut file = file.open(dir.join(FILE))?;
        let (lines, whole) = read(&file)?;
        file.set_len(whole)?;
        file.seek(SeekFrom::Start(whole))?;
        Ok((Self(file), lines))
    }

    /// Adds a line. It outlives this process at once.
    ///
    /// # Errors
    /// When the disk does not take it; a part of it may be there then.
    pub(crate) fn append(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.0.write_all(&text)
    }
}

/// The lines of the folder `dir`, by number.
///
/// # Errors
/// When there is no such file.
pub(crate) fn lines(dir: &Path) -> io::Result<BTreeMap<u64, Line>> {
    Ok(read(&File::open(dir.join(FILE))?)?.0)
}

/// The whole lines of a file, and where they end.
fn read(file: &File) -> io::Result<(BTreeMap<u64, Line>, u64)> {
    let mut reader = BufReader::new(file);
    let (mut lines, mut whole, mut text) = (BTreeMap::new(), 0, Vec::new());
    loop {
        text.clear();
        let length = reader.read_until(b'\n', &mut text)?;
        let line = serde_json::from_slice::<Line>(&text);
        match line {
            Ok(line) if text.ends_with(b"\n") => lines.insert(line.run, line),
            _ => return Ok((lines, whole)),
        };
        whole += length as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_is_written_again() {
        let dir = tempfile::tempdir().unwrap();
        let (mut journal, lines) = Journal::open(dir.path()).unwrap();
        assert!(lines.is_empty());
        for run in [2, 1] {
            journal.append(&Line::failed(run, "x".to_owned())).unwrap();
        }
        let path = dir.path().join(FILE);
        let text = std::fs::read(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 3]).unwrap();
        let (mut journal, lines) = Journal::open(dir.path()).unwrap();
        assert_eq!(lines.keys().collect::<Vec<_>>(), [&2]);
        journal.append(&Line::failed(3, "y".to_owned())).unwrap();
        let lines = super::lines(dir.path()).unwrap();
        assert_eq!(lines.keys().collect::<Vec<_>>(), [&2, &3]);
    }
}
