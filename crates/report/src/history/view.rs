//! The value of a history's page.

use super::levels::{Track, tracks};
use super::tally::{FACTOR, OUTCOMES, Tallies};
use crate::Error;
use crate::view::mbm::Asked;
use record::{History, HistoryLine, Run};
use serde::Serialize;
use std::io::BufRead;
use std::path::Path;

/// Reasons for having no verdict that a page lists.
const MOST_REASONS: usize = 12;

/// What the page is given; its schema tells it from a record's.
#[derive(Serialize)]
pub(super) struct HistoryView {
    schema: &'static str,
    /// Version of the program that made the page.
    isobath: &'static str,
    history: Body,
}

#[derive(Serialize)]
struct Body {
    /// The monitor's folder.
    name: String,
    /// The answer.
    sentence: String,
    /// What was asked; null when no record can be read.
    asked: Option<Asked>,
    runs: u64,
    /// Runs that say PASS, FAIL, INCONCLUSIVE, ERROR, and nothing.
    says: [u64; OUTCOMES],
    /// The last run.
    last: HistoryLine,
    /// Lines that are none of a history.
    skipped: u64,
    /// Whether the last line is cut short.
    torn: bool,
    /// Runs of an entry of the finest level; of each further level `factor` times as many.
    each: u64,
    factor: usize,
    /// When each entry of the finest level begins, in ms since 1970; differences from the one before.
    t_ms: Vec<i64>,
    /// The record of its first run.
    record: Vec<String>,
    tracks: Vec<Track>,
    /// Why runs have no verdict, the most frequent first.
    failures: Vec<Reason>,
}

#[derive(Serialize)]
struct Reason {
    why: String,
    runs: u64,
    /// When the last of them began.
    last: String,
}

impl HistoryView {
    pub(super) fn of<R: BufRead>(
        folder: &Path,
        tallies: &Tallies,
        newest: Option<&Run>,
        history: &History<R>,
    ) -> Result<Self, Error> {
        let last = tallies.last.clone().ok_or_else(|| Error::NoHistory {
            path: folder.to_owned(),
        })?;
        let mut entries = tallies.entries.clone();
        // A clock that was set back must not make a line that goes back.
        entries.sort_by_key(|entry| entry.started);
        let mut all = [0; OUTCOMES];
        for entry in &entries {
            all.iter_mut()
                .zip(entry.all.says)
                .for_each(|(sum, runs)| *sum += runs);
        }
        let asked = newest.map(Asked::of);
        let mut before_ms = 0;
        let mut since_before = |at_ms: i64| at_ms - std::mem::replace(&mut before_ms, at_ms);
        Ok(Self {
            schema: "isobath.report.history/1",
            isobath: env!("CARGO_PKG_VERSION"),
            history: Body {
                name: crate::view::folder_name(folder),
                sentence: sentence(&all, asked.as_ref()),
                asked,
                runs: all.iter().sum(),
                says: all,
                last,
                skipped: history.skipped(),
                torn: history.is_torn(),
                each: tallies.each,
                factor: FACTOR,
                t_ms: entries
                    .iter()
                    .map(|entry| since_before(entry.started.as_millisecond()))
                    .collect(),
                record: entries.iter().map(|entry| entry.record.clone()).collect(),
                tracks: tracks(&entries, &tallies.tests),
                failures: reasons(tallies),
            },
        })
    }
}

/// How often the answer was yes.
fn sentence(says: &[u64; OUTCOMES], asked: Option<&Asked>) -> String {
    let what = asked.and_then(Asked::words);
    let what = what.unwrap_or_else(|| "its target".to_owned());
    let [pass, fail, open, error, none] = *says;
    let runs: u64 = says.iter().sum();
    let said = if pass == runs {
        return format!("This path carried {what} in {}.", all_of(runs));
    } else if pass == 0 {
        format!(
            "This path did not once carry {what} in {}",
            number(runs, "run")
        )
    } else {
        format!(
            "This path carried {what} in {} of {}",
            grouped(pass),
            number(runs, "run")
        )
    };
    let parts = [
        (fail, "fail", "fails"),
        (open, "could not tell", "could not tell"),
        (error, "went wrong", "went wrong"),
        (none, "have no verdict", "has no verdict"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(runs, ..)| *runs > 0)
        .map(|(runs, several, one)| {
            format!(
                "{} {}",
                grouped(*runs),
                if *runs == 1 { one } else { several }
            )
        })
        .collect();
    format!("{said}: {}.", parts.join(", "))
}

fn all_of(runs: u64) -> String {
    match runs {
        1 => "the only run".to_owned(),
        _ => format!("all {} runs", grouped(runs)),
    }
}

fn number(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// A number with commas between its thousands, as the page writes them.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let is_first = |place: usize| place > 0 && (digits.len() - place).is_multiple_of(3);
    let places = digits.chars().enumerate();
    places
        .flat_map(|(place, digit)| is_first(place).then_some(',').into_iter().chain([digit]))
        .collect()
}

fn reasons(tallies: &Tallies) -> Vec<Reason> {
    let failures = tallies.failures.iter();
    let mut reasons: Vec<Reason> = failures
        .map(|(why, failure)| Reason {
            why: why.clone(),
            runs: failure.runs,
            last: failure.last.to_string(),
        })
        .collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.runs));
    reasons.truncate(MOST_REASONS);
    reasons
}
