//! What came of the runs so far: a line of JSON for each, in the order in which they ended.
//!
//! A line is written whole or, by a process that is killed, not to its end; such a line is cut off when the sweep goes on, and its
//! run is made again.

use record::{Run, Status, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::RangeInclusive;
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
    /// Opens that of the folder `dir`, and says which lines it has; made when there is none.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub(crate) fn open(dir: &Path) -> io::Result<(Self, Index)> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false);
        let mut file = file.open(dir.join(FILE))?;
        let index = Index::of(dir)?;
        file.set_len(index.whole)?;
        file.seek(SeekFrom::Start(index.whole))?;
        Ok((Self(file), index))
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

/// Where the lines of a folder are, by run: the summaries of all runs take more memory than there may be.
#[derive(Debug)]
pub(crate) struct Index {
    file: File,
    places: BTreeMap<u64, Place>,
    /// Where the whole lines end.
    whole: u64,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    at: u64,
    length: usize,
    status: Status,
}

impl Index {
    /// The whole lines of the folder `dir`.
    ///
    /// # Errors
    /// When there is no such file.
    pub(crate) fn of(dir: &Path) -> io::Result<Self> {
        let file = File::open(dir.join(FILE))?;
        let mut reader = BufReader::new(&file);
        let (mut places, mut whole, mut text) = (BTreeMap::new(), 0, Vec::new());
        loop {
            text.clear();
            let length = reader.read_until(b'\n', &mut text)?;
            // All of it is read: a run whose line is damaged is made again.
            let line = serde_json::from_slice::<Line>(&text);
            let Some(Line { run, status, .. }) = line.ok().filter(|_| text.ends_with(b"\n")) else {
                break;
            };
            let at = whole;
            let place = Place { at, length, status };
            places.insert(run, place);
            whole += length as u64;
        }
        Ok(Self {
            file,
            places,
            whole,
        })
    }

    /// What became of run `number`; `None` when it has no line.
    pub(crate) fn status(&self, number: u64) -> Option<Status> {
        Some(self.places.get(&number)?.status)
    }

    /// Leaves out the runs that are not among `numbers`.
    pub(crate) fn keep(&mut self, numbers: RangeInclusive<u64>) {
        self.places.retain(|number, _| numbers.contains(number));
    }

    /// How many lines there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// How many runs ended so.
    pub(crate) fn count(&self, status: Status) -> usize {
        let places = self.places.values();
        places.filter(|place| place.status == status).count()
    }

    /// The lines by the numbers of their runs, read one by one.
    pub(crate) fn lines(&self) -> impl Iterator<Item = io::Result<Line>> {
        self.places.values().map(|place| self.read(place))
    }

    /// The lines of the runs that ended so.
    pub(crate) fn lines_of(&self, status: Status) -> impl Iterator<Item = io::Result<Line>> {
        let places = self.places.values();
        let places = places.filter(move |place| place.status == status);
        places.map(|place| self.read(place))
    }

    fn read(&self, place: &Place) -> io::Result<Line> {
        let mut text = vec![0; place.length];
        let mut file = &self.file;
        file.seek(SeekFrom::Start(place.at))?;
        file.read_exact(&mut text)?;
        Ok(serde_json::from_slice(&text)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_is_written_again() {
        let dir = tempfile::tempdir().unwrap();
        let (mut journal, index) = Journal::open(dir.path()).unwrap();
        assert_eq!(index.len(), 0);
        for run in [2, 1] {
            journal.append(&Line::failed(run, "x".to_owned())).unwrap();
        }
        let path = dir.path().join(FILE);
        let text = std::fs::read(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 3]).unwrap();
        let (mut journal, index) = Journal::open(dir.path()).unwrap();
        let runs = |index: &Index| -> Vec<u64> {
            let lines = index.lines().map(|line| line.unwrap().run);
            lines.collect()
        };
        assert_eq!(runs(&index), [2]);
        for run in [3, 1] {
            journal.append(&Line::failed(run, "y".to_owned())).unwrap();
        }
        let index = Index::of(dir.path()).unwrap();
        assert_eq!(runs(&index), [1, 2, 3]);
        // One that is whole and cannot be read, and what follows.
        let mut text = std::fs::read_to_string(&path).unwrap();
        text += "{\"run\": 4, \"status\": \"complete\", \"verdict\": 7}\n";
        std::fs::write(&path, &text).unwrap();
        let index = Index::of(dir.path()).unwrap();
        assert_eq!(runs(&index), [1, 2, 3]);
        assert_eq!(index.count(Status::Failed), 3);
        assert_eq!(
            (index.status(3), index.status(4)),
            (Some(Status::Failed), None)
        );
    }
}
