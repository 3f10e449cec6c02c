//! The page of a monitor's history: what the same question was answered with, again and again.
//!
//! A monitor leaves a line a run (`record::History`), perhaps for years. A page must open at once and may not hide the one run that
//! failed, so runs become **entries** of 1, 4, 16, ... runs each ([`tally`]), as few as make a page small, and entries
//! become **levels**, each with a quarter of the entries of the one before ([`levels`]). The page draws the level of which the entries
//! can be told apart in the stretch of time that is looked at. An entry has the number of runs of each verdict, all packets and
//! losses of its runs, and the loss of the worst of them: nothing is smoothed away.
//!
//! What was asked is not in the history; it is read from the newest record that can be.

mod levels;
mod tally;
mod view;

#[cfg(test)]
mod tests;

use crate::{Error, page::embed};
use record::{HISTORY, History, Record};
use std::path::{Component, Path};
use tally::Tallies;

/// How many records are tried, the newest first, for one that says what was asked.
const MOST_TRIED: usize = 32;

/// The page that shows the history in `folder`: one HTML file that asks no network for anything.
///
/// # Errors
/// [`Error::Record`] when the history cannot be read, [`Error::NoHistory`] when it has no run, or [`Error::Json`].
pub fn page(folder: &Path) -> Result<String, Error> {
    embed(&data(folder)?)
}

/// The value that the page shows, as JSON.
///
/// # Errors
/// As [`page`].
pub fn data(folder: &Path) -> Result<String, Error> {
    let in_folder = |source| Error::Record {
        path: folder.to_owned(),
        source,
    };
    let mut history = History::open(folder).map_err(in_folder)?;
    let mut tallies = Tallies::default();
    let read = |source| {
        let path = folder.join(HISTORY);
        in_folder(record::Error::Read { path, source })
    };
    while let Some(line) = history.next_line().map_err(read)? {
        tallies.add(line);
    }
    let mut newest = tallies.newest_records().take(MOST_TRIED);
    let asked = newest.find_map(|name| opened(folder, name));
    let view = view::HistoryView::of(folder, &tallies, asked.as_ref(), &history)?;
    serde_json::to_string(&view).map_err(Error::Json)
}

/// The record of this name beside the history, if it says what was asked. A name with a way to another place is none.
fn opened(folder: &Path, name: &str) -> Option<record::Run> {
    let mut parts = Path::new(name).components();
    let is_name = matches!(
        (parts.next(), parts.next()),
        (Some(Component::Normal(_)), None)
    );
    let record = is_name.then(|| Record::open(&folder.join(name)).ok());
    let run = record.flatten()?.run().clone();
    (run.test == "mbm" && run.summary["p0"].is_f64()).then_some(run)
}
