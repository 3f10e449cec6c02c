//! The history of a monitor: one line of JSON for each run that it made, in the folder that holds their records.
//!
//! A monitor runs for months and may be stopped at any moment, so each line is appended whole and flushed, and a reader
//! bears what a stop leaves behind: a **torn** last line. What is no line of a history anywhere else is skipped and counted;
//! nothing that a file holds makes a reader's memory grow beyond one line.

use crate::input;
use crate::{Error, Verdict};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The name of the file.
pub const HISTORY: &str = "history.jsonl";

/// The longest line that is read, in octets; one of twelve tests has less than 2,000.
const LONGEST: usize = 1 << 16;

/// A run in a history.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct HistoryLine {
    /// When it began.
    pub started: Timestamp,
    /// The folder of its record, beside the history.
    pub record: String,
    /// What it says; null without a verdict.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// Why there is no verdict.
    #[serde(default)]
    pub failure: Option<String>,
    /// What each of its tests says.
    #[serde(default)]
    pub tests: Vec<HistoryTest>,
}

/// A test in a history.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct HistoryTest {
    /// Its name.
    pub test: String,
    /// What it says.
    pub outcome: Verdict,
    /// Packets whose fate is known.
    pub packets: u64,
    /// Packets of these that were lost or marked.
    pub marks: u64,
}

impl HistoryLine {
    /// Adds the line to the history in `folder`.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn append(&self, folder: &Path) -> Result<(), Error> {
        let path = folder.join(HISTORY);
        let write = || {
            let mut file = OpenOptions::new()
                .create(true)
                .read(true)
                .append(true)
                .open(&path)?;
            // Behind a torn line this one would be lost with it.
            let mut line = if is_torn(&mut file)? {
                vec![b'\n']
            } else {
                Vec::new()
            };
            serde_json::to_writer(&mut line, self)?;
            line.push(b'\n');
            file.write_all(&line)
        };
        write().map_err(Error::write(&path))
    }
}

/// Whether the last line of a file has no end.
fn is_torn(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != [b'\n'])
}

/// The lines of a history, in the order of writing.
#[derive(Debug)]
pub struct History<R> {
    source: R,
    line: Vec<u8>,
    skipped: u64,
    is_torn: bool,
}

impl History<BufReader<File>> {
    /// The history in `folder`.
    ///
    /// # Errors
    /// [`Error::Read`].
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(HISTORY);
        let file = input::open_file(&path)?;
        Ok(Self::new(BufReader::new(file)))
    }
}

impl<R: BufRead> History<R> {
    /// What `source` holds.
    pub const fn new(source: R) -> Self {
        Self {
            source,
            line: Vec::new(),
            skipped: 0,
            is_torn: false,
        }
    }

    /// The next line that is one; `None` at the end.
    ///
    /// # Errors
    /// When `source` cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<HistoryLine>> {
        while let Some(is_ended) = self.read_line()? {
            if self.line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match serde_json::from_slice(&self.line) {
                Ok(line) => return Ok(Some(line)),
                Err(_) if is_ended => self.skipped += 1,
                Err(_) => self.is_torn = true,
            }
        }
        Ok(None)
    }

    /// Lines so far that are none of a history.
    pub const fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Whether the last line is cut short: its writer was stopped, or is just at it.
    pub const fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Reads a line, of a very long one the beginning; whether it has an end. `None` at the end of the source.
    fn read_line(&mut self) -> io::Result<Option<bool>> {
        self.line.clear();
        let mut is_empty = true;
        loop {
            let piece = match self.source.fill_buf() {
                Ok(piece) => piece,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if piece.is_empty() {
                return Ok((!is_empty).then_some(false));
            }
            is_empty = false;
            let end = piece.iter().position(|octet| *octet == b'\n');
            let text = end.map_or(piece, |end| piece.split_at(end).0);
            let room = LONGEST.saturating_sub(self.line.len()).min(text.len());
            self.line.extend_from_slice(text.split_at(room).0);
            let used = end.map_or(piece.len(), |end| end + 1);
            self.source.consume(used);
            if end.is_some() {
                return Ok(Some(true));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(record: &str) -> HistoryLine {
        HistoryLine {
            started: "2026-11-21T07:29:11Z".parse().unwrap(),
            record: record.to_owned(),
            verdict: Some(Verdict::Pass),
            failure: None,
            tests: vec![HistoryTest {
                test: "background".to_owned(),
                outcome: Verdict::Pass,
                packets: 14_406,
                marks: 1,
            }],
        }
    }

    fn read(octets: &[u8]) -> (Vec<String>, u64, bool) {
        // A small buffer, so that lines are in pieces.
        let mut history = History::new(BufReader::with_capacity(7, octets));
        let mut records = Vec::new();
        while let Some(line) = history.next_line().unwrap() {
            records.push(line.record);
        }
        (records, history.skipped(), history.is_torn())
    }

    fn text(record: &str) -> String {
        serde_json::to_string(&line(record)).unwrap()
    }

    #[test]
    fn lines_are_read_as_they_were_appended() {
        let folder = tempfile::tempdir().unwrap();
        for record in ["00000", "00001"] {
            line(record).append(folder.path()).unwrap();
        }
        let mut history = History::open(folder.path()).unwrap();
        assert_eq!(history.next_line().unwrap(), Some(line("00000")));
        assert_eq!(history.next_line().unwrap(), Some(line("00001")));
        assert_eq!(history.next_line().unwrap(), None);
        assert_eq!((history.skipped(), history.is_torn()), (0, false));
    }

    #[test]
    fn a_torn_last_line_is_told_and_others_are_counted() {
        let whole = format!("{}\nno JSON\n\n{{\"a\": 1}}\n{}\n", text("0"), text("1"));
        let records = vec!["0".to_owned(), "1".to_owned()];
        assert_eq!(read(whole.as_bytes()), (records.clone(), 2, false));
        let torn = format!("{whole}{}", text("2").split_at(60).0);
        assert_eq!(read(torn.as_bytes()), (records, 2, true));
        let unended = text("3");
        assert_eq!(read(unended.as_bytes()), (vec!["3".to_owned()], 0, false));
    }

    #[test]
    fn a_line_behind_a_torn_one_is_not_lost() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(HISTORY), text("0").split_at(40).0).unwrap();
        line("1").append(folder.path()).unwrap();
        line("2").append(folder.path()).unwrap();
        let octets = std::fs::read(folder.path().join(HISTORY)).unwrap();
        assert_eq!(
            read(&octets),
            (vec!["1".to_owned(), "2".to_owned()], 1, false)
        );
    }

    #[test]
    fn a_line_without_end_takes_no_memory() {
        let mut octets = vec![b'x'; 4 * LONGEST];
        octets.push(b'\n');
        octets.extend(text("0").bytes());
        let mut history = History::new(octets.as_slice());
        assert_eq!(history.next_line().unwrap(), Some(line("0")));
        assert_eq!(history.skipped(), 1);
        assert!(history.line.capacity() <= 2 * LONGEST);
    }

    proptest! {
        #[test]
        fn any_octets_are_read_or_skipped(octets in prop::collection::vec(any::<u8>(), 0..400)) {
            let (records, ..) = read(&octets);
            prop_assert!(records.len() < 3);
        }
    }
}
