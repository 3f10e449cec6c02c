//! A comparison on a terminal: at most 100 columns, plain text.
//!
//! One block for each other group that has runs: the reference, this group, and the difference in words. A single group
//! has one block of its own.

use super::comparison::{Comparison, Estimate, Kind, Row, Shift};
use super::groups::plain;
use record::Status;
use std::fmt::Write as _;

/// Columns of a page.
const WIDTH: usize = 100;
/// Columns of a figure's name and unit.
const NAME: usize = 24;
/// Columns of a mean with its interval.
const VALUE: usize = 21;
/// Most runs that are listed as left out; `--json` has all.
const MOST_LEFT_OUT: usize = 20;

/// The page.
pub fn page(comparison: &Comparison) -> String {
    let mut page = String::new();
    let kinds = &comparison.groups;
    for (number, kind) in kinds.iter().enumerate() {
        line(&mut page, &group(number, kind));
    }
    if comparison.has_runs() {
        line(&mut page, "");
        line(&mut page, caption(kinds));
        let has_runs = |number: &usize| !kinds[*number].runs.is_empty();
        let others = comparison.reference + 1..kinds.len();
        let mut others = others.filter(has_runs).peekable();
        if others.peek().is_none() {
            block(&mut page, comparison, None);
        }
        for number in others {
            block(&mut page, comparison, Some(number));
        }
    }
    left_out(&mut page, comparison);
    page
}

fn caption(kinds: &[Kind]) -> &'static str {
    if kinds.iter().any(|kind| kind.runs.len() > 1) {
        "Mean over runs [its 95 % confidence interval]."
    } else {
        "One run each: no interval can be given, and chance cannot be told from a difference."
    }
}

fn group(number: usize, kind: &Kind) -> String {
    let runs = format!("{} of {} runs", kind.runs.len(), kind.of);
    let name = cut(&kind.name, WIDTH - 20 - runs.len());
    format!("{:3} {name}  ({runs})", letter(number))
}

/// The figures of the reference, and of group `other` beside it.
fn block(page: &mut String, comparison: &Comparison, other: Option<usize>) {
    let base = letter(comparison.reference);
    let mut head = format!("{:NAME$}{base:VALUE$}", "");
    if let Some(other) = other {
        let other = letter(other);
        let _ = write!(head, "{other:VALUE$}{other} against {base}");
    }
    line(page, "");
    line(page, head.trim_end());
    for row in &comparison.figures {
        let first = value(row.groups.get(comparison.reference));
        let mut text = format!("{:NAME$}{first:VALUE$}", title(row));
        if let Some(other) = other {
            let difference = row.differences.get(other).and_then(Option::as_ref);
            let words = difference.map_or_else(String::new, |found| fitting(found, &row.unit));
            let value = value(row.groups.get(other));
            let _ = write!(text, "{value:VALUE$}{words}");
        }
        line(page, text.trim_end());
    }
}

fn title(row: &Row) -> String {
    let title = if row.unit.is_empty() {
        row.name.clone()
    } else {
        format!("{}, {}", row.name, row.unit)
    };
    cut(&title, NAME - 1)
}

fn value(mean: Option<&Option<Estimate>>) -> String {
    let Some(Some(mean)) = mean else {
        return "-".to_owned();
    };
    let digits = digits(widest([Some(mean.mean), mean.low, mean.high]));
    let number = number(mean.mean, digits);
    ends(mean.low, mean.high, digits)
        .map_or_else(|| number.clone(), |ends| format!("{number} {ends}"))
}

/// The difference in words, without its unit where there is no room: the figure's name has it too.
fn fitting(found: &Shift, unit: &str) -> String {
    let whole = words(found, unit);
    if NAME + 2 * VALUE + whole.len() <= WIDTH {
        return whole;
    }
    words(found, "")
}

/// The difference as a sentence would have it.
fn words(found: &Shift, unit: &str) -> String {
    let digits = digits(found.difference);
    let size = number(found.difference.abs(), digits);
    let size = [size.as_str(), unit].join(" ");
    let size = size.trim_end();
    let way = if found.difference < 0.0 {
        "lower"
    } else {
        "higher"
    };
    let (low, high) = (found.low, found.high);
    match found.seen {
        Some(false) => {
            let digits = self::digits(widest([low, high, None]));
            let ends = ends(low, high, digits).unwrap_or_default();
            format!("no difference seen {ends}")
        }
        // Of a size, the smaller end comes first.
        Some(true) if found.difference < 0.0 => {
            let ends = ends(high.map(|end| -end), low.map(|end| -end), digits);
            format!("{way} by {size} {}", ends.unwrap_or_default())
        }
        Some(true) => format!(
            "{way} by {size} {}",
            ends(low, high, digits).unwrap_or_default()
        ),
        None if found.difference == 0.0 => "equal (no interval)".to_owned(),
        None => format!("{way} by {size} (no interval)"),
    }
}

fn left_out(page: &mut String, comparison: &Comparison) {
    let out = &comparison.left_out;
    if out.is_empty() {
        return;
    }
    line(page, "");
    line(
        page,
        "Not in the means ('isobath compare --all' takes those that have figures):",
    );
    for run in out.iter().take(MOST_LEFT_OUT) {
        let name = run.run.file_name().unwrap_or(run.run.as_os_str());
        let status = run.status.map_or_else(|| "no record".to_owned(), word);
        let text = format!(
            "{:3} {}: {status} - {}",
            letter(run.group),
            plain(&name.to_string_lossy()),
            plain(&run.reason)
        );
        line(page, cut(&text, WIDTH).trim_end_matches([' ', '-']));
    }
    if let Some(more) = out
        .len()
        .checked_sub(MOST_LEFT_OUT)
        .filter(|more| *more > 0)
    {
        line(page, &format!("    and {more} more"));
    }
}

/// A status as `run.json` writes it.
fn word(status: Status) -> String {
    format!("{status:?}").to_lowercase()
}

/// Groups are lettered as the columns of a spreadsheet: A to Z, then AA.
fn letter(number: usize) -> String {
    let last = char::from(b'A' + u8::try_from(number % 26).unwrap_or_default());
    let before = (number / 26).checked_sub(1).map(letter);
    format!("{}{last}", before.unwrap_or_default())
}

fn ends(low: Option<f64>, high: Option<f64>, digits: usize) -> Option<String> {
    let (low, high) = low.zip(high)?;
    Some(format!(
        "[{}, {}]",
        number(low, digits),
        number(high, digits)
    ))
}

/// The number that takes most room before the point.
fn widest(numbers: [Option<f64>; 3]) -> f64 {
    let sizes = numbers.into_iter().flatten().map(f64::abs);
    sizes.fold(0.0, f64::max)
}

/// Digits after the point, so that three or four in all are shown.
fn digits(value: f64) -> usize {
    match value.abs() {
        size if size == 0.0 || size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    }
}

fn number(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    // A small negative number rounds to nothing, not to minus nothing.
    if text.trim_matches(['-', '0', '.']).is_empty() {
        return text.trim_start_matches('-').to_owned();
    }
    text
}

fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    let kept: String = text.chars().take(columns.saturating_sub(3)).collect();
    format!("{kept}...")
}

fn line(page: &mut String, text: &str) {
    page.push_str(text);
    page.push('\n');
}
