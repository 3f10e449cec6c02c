//! The page of a pair: its figure over time, how that compares over spans of time, and its runs with their records.

use super::board::{Measured, Runs, Told, median_of};
use super::chart::{chart, sign, span};
use super::html::escape;
use super::matrix::{figure, whole};
use crate::figures::short;
use crate::{Moment, Name, RunId};
use std::fmt::Write as _;
use std::time::Duration;

/// Runs in the table, the latest.
const MOST_RUNS: usize = 200;
/// Fewer say nothing about the twentieth part of them.
const FEWEST_FOR_P95: usize = 20;
/// What is compared.
const SPANS: [Duration; 5] = [
    Duration::from_secs(600),
    Duration::from_secs(3_600),
    Duration::from_secs(6 * 3_600),
    Duration::from_secs(24 * 3_600),
    Duration::from_secs(7 * 24 * 3_600),
];

/// A pair, and its time.
pub(super) struct Pair<'a> {
    pub(super) fleet: &'a Name,
    pub(super) measure: &'a Name,
    pub(super) ends: &'a [Name; 2],
    pub(super) now: Moment,
    pub(super) since: Moment,
}

/// Its content; none if nothing is known of it.
pub(super) fn content(pair: &Pair<'_>, measured: &Measured) -> Option<String> {
    let runs = measured.pairs.get(pair.ends)?;
    let [_, unit] = measured.figure.clone().unwrap_or_default();
    let mut page = format!("<h1>{}</h1>\n", sentence(pair, runs, &unit));
    let all: Vec<_> = runs.iter().map(|(at, told)| (*at, told)).collect();
    // A history that has only begun fills the picture all the same.
    let from = all
        .first()
        .map_or(pair.since, |(at, _)| (*at).max(pair.since));
    let _ = writeln!(
        page,
        "<figure><figcaption>Each run: {}{}</figcaption>{}<details><summary>How to read this</summary><p>A dot is a run, at the instant that the fleet \
         file asks for it; black lines are medians of a twenty-fourth of the time. A cross below is a run without a figure. Point at one to learn more; \
         of very many runs the highest and the lowest of each piece are drawn.</p></details></figure>",
        pair.measure,
        figure(measured),
        chart(&all, [from, pair.now], &unit)
    );
    compared(&mut page, pair, runs, &unit);
    listed(&mut page, pair, runs);
    Some(page)
}

fn sentence(pair: &Pair<'_>, runs: &Runs, unit: &str) -> String {
    let [from, to] = pair.ends;
    let head = format!("{} from {from} to {to}", pair.measure);
    let Some(median) = median_of(runs.values()) else {
        return format!("{head} has no figure since {}", whole(pair.since));
    };
    let last = runs.values().rev().find_map(|told| told.value);
    let figures = runs.values().filter(|told| told.value.is_some()).count();
    let last = short(last.unwrap_or(median));
    let unit = escape(unit);
    match figures {
        1 => format!("{head} is {last} {unit}"),
        _ => format!(
            "{head} is {last} {unit}, the median of {figures} runs {} {unit}",
            short(median)
        ),
    }
}

fn compared(page: &mut String, pair: &Pair<'_>, runs: &Runs, unit: &str) {
    let known = pair.now.since(pair.since);
    let _ = write!(
        page,
        "<h2>Over time</h2>\n<div class=\"scroll\"><table><thead><tr><th scope=\"col\">the last</th><th scope=\"col\">runs</th><th scope=\"col\">complete</th>\
         <th scope=\"col\">lowest, {0}</th><th scope=\"col\">median, {0}</th><th scope=\"col\">95 %, {0}</th><th scope=\"col\">highest, {0}</th></tr></thead><tbody>",
        escape(unit)
    );
    let shorter = SPANS.into_iter().filter(|length| *length * 10 < known * 9);
    for length in shorter.chain([known]) {
        let start = Moment::from_millis(
            pair.now
                .as_millis()
                .saturating_sub(u64::try_from(length.as_millis()).unwrap_or(u64::MAX)),
        );
        let told: Vec<&Told> = runs.range(start..).map(|(_, told)| told).collect();
        let mut values: Vec<f64> = told.iter().filter_map(|told| told.value).collect();
        values.sort_by(f64::total_cmp);
        let cell = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), short);
        let p95 =
            (values.len() >= FEWEST_FOR_P95).then(|| values[(values.len() * 95).div_ceil(100) - 1]);
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            span(length),
            told.len(),
            told.iter()
                .filter(|told| told.status == crate::outcome::Became::Complete)
                .count(),
            cell(values.first().copied()),
            cell(median_of(told.iter().copied())),
            cell(p95),
            cell(values.last().copied())
        );
    }
    page.push_str("</tbody></table></div>\n");
}

fn listed(page: &mut String, pair: &Pair<'_>, runs: &Runs) {
    page.push_str(
        "<h2>Runs</h2>\n<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">asked for (Universal Time)</th><th scope=\"col\">status</th>\
         <th scope=\"col\">verdict</th><th scope=\"col\">figure</th><th scope=\"col\">record</th><th scope=\"col\">why</th></tr></thead><tbody>",
    );
    for (at, told) in runs.iter().rev().take(MOST_RUNS) {
        let look = told.look();
        let record = if told.has_record {
            format!("<a href=\"/run/{}\">report</a>", run(pair, *at))
        } else {
            "-".to_owned()
        };
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td><span class=\"word {}\">{}</span></td><td>{}</td><td>{record}</td><td>{}</td></tr>",
            whole(*at),
            told.status,
            look.class(),
            sign(look)
                .filter(|_| told.verdict.is_some() || told.is_beyond)
                .unwrap_or_default(),
            told.value.map_or_else(|| "-".to_owned(), short),
            escape(told.reason.as_deref().unwrap_or_default())
        );
    }
    page.push_str("</tbody></table></div>\n");
    if runs.len() > MOST_RUNS {
        let _ = writeln!(
            page,
            "<p class=\"about\">The latest {MOST_RUNS} of {}; 'isobath fleet runs' lists all.</p>",
            runs.len()
        );
    }
}

fn run(pair: &Pair<'_>, instant: Moment) -> RunId {
    let [from, to] = pair.ends.clone();
    RunId {
        fleet: pair.fleet.clone(),
        measure: pair.measure.clone(),
        from,
        to,
        instant,
    }
}
