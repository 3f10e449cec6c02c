//! The page of a fleet: for each measurement a matrix of pairs with what was found last, how it went on, and how much is missing.

use super::board::{Board, Measured, Runs, median_of};
use super::chart::{sign, span, spark, words};
use super::html::escape;
use crate::account::Counts;
use crate::figures::short;
use crate::{Moment, Name};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

/// What is told of a fleet beside its runs.
pub(super) struct About<'a> {
    pub(super) fleet: &'a Name,
    pub(super) paused: bool,
    pub(super) hosts: usize,
    /// Hosts without an agent that is there.
    pub(super) absent: &'a [Name],
    /// Runs that were to begin in this time up to now.
    pub(super) recent: (Duration, Counts),
    pub(super) now: Moment,
    /// From when on all is known.
    pub(super) since: Moment,
}

/// Its content.
pub(super) fn content(about: &About<'_>, board: &Board) -> String {
    let mut page = format!("<h1>{}</h1>\n", sentence(about, board));
    facts(&mut page, about, board);
    for (measure, measured) in &board.measures {
        matrix(&mut page, about, measure, measured);
    }
    if board.measures.is_empty() {
        page.push_str("<p>Nothing has been handed over yet.</p>\n");
    }
    page.push_str(
        "<details><summary>How to read this</summary><p>A cell is a pair: the host at the left measures towards the one above. It has the figure of its \
         last complete run, the line of the last 24 (from 0 up; a gap is a run without a figure), and complete runs of all that were handed over, with their median. \
         The edge is blue where the last run was measured, green where it passed, and of another colour, with a word, where somebody should look: \
         FAIL is a verdict, threshold a figure beyond one of the fleet file, undecided a run without a figure that counts, nothing a run that failed or was missed. A cell leads to the history of its pair.</p></details>\n",
    );
    page
}

fn sentence(about: &About<'_>, board: &Board) -> String {
    let pairs = board
        .measures
        .values()
        .flat_map(|measured| measured.pairs.values());
    let last = pairs.filter_map(|runs| runs.values().next_back());
    let looks: Vec<_> = last.map(super::board::Told::look).collect();
    let bad = looks.iter().filter(|look| look.is_bad()).count();
    let fleet = about.fleet;
    let missing = about.recent.1.missing;
    match (looks.len(), bad) {
        (all, bad) if missing > 0 => {
            let runs = if missing == 1 {
                "1 run".to_owned()
            } else {
                format!("{missing} runs")
            };
            let are = if missing == 1 { "is" } else { "are" };
            format!("{runs} of '{fleet}' {are} missing; {bad} of {all} paths should be looked at")
        }
        (0, _) => format!(
            "'{fleet}' has measured nothing since {}",
            whole(about.since)
        ),
        (1, 0) => format!("The one path of '{fleet}' is measured, and does not fail"),
        (all, 0) => format!("All {all} paths of '{fleet}' are measured, and none fails"),
        (all, 1) => format!("1 of {all} paths of '{fleet}' should be looked at"),
        (all, bad) => format!("{bad} of {all} paths of '{fleet}' should be looked at"),
    }
}

fn facts(page: &mut String, about: &About<'_>, board: &Board) {
    let (length, counts) = &about.recent;
    let state = if about.paused { "Paused. " } else { "" };
    let _ = writeln!(
        page,
        "<p class=\"about\">{state}Runs of the last {}: {}. Outcomes since {}; now {} (Universal Time).</p>",
        span(*length),
        counts.words(),
        whole(about.since),
        whole(about.now)
    );
    if !about.absent.is_empty() {
        let names: Vec<_> = about.absent.iter().map(Name::as_str).collect();
        let _ = writeln!(
            page,
            "<p class=\"warning\">{} of {} hosts have no agent that is there: {}.</p>",
            names.len(),
            about.hosts,
            names.join(", ")
        );
    }
    if let Some(first) = board.forged.first() {
        let _ = writeln!(
            page,
            "<p class=\"warning\">{} outcomes do not have the signature of their host and do not count, {first} first.</p>",
            board.forged.len()
        );
    }
}

/// Without parts of a second.
pub(super) const fn whole(at: Moment) -> Moment {
    Moment::from_millis(at.as_millis() / 1_000 * 1_000)
}

fn matrix(page: &mut String, about: &About<'_>, measure: &Name, measured: &Measured) {
    let _ = write!(
        page,
        "<section><h2>{measure}{}</h2>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"matrix\"><thead><tr><th scope=\"col\">from \\ to</th>",
        figure(measured)
    );
    let froms: BTreeSet<_> = measured.pairs.keys().map(|pair| &pair[0]).collect();
    let tos: BTreeSet<_> = measured.pairs.keys().map(|pair| &pair[1]).collect();
    for to in &tos {
        let _ = write!(page, "<th scope=\"col\">{to}</th>");
    }
    page.push_str("</tr></thead>\n<tbody>");
    for from in froms {
        let _ = write!(page, "<tr><th scope=\"row\">{from}</th>");
        for to in &tos {
            match measured.pairs.get(&[from.clone(), (*to).clone()]) {
                Some(runs) => cell(page, &address(about.fleet, measure, from, to), runs),
                None => page.push_str("<td class=\"none\">-</td>"),
            }
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div></section>\n");
}

/// The main figure and its unit, behind the name of the measurement.
pub(super) fn figure(measured: &Measured) -> String {
    match &measured.figure {
        // Of a measurement with one question the figure has no name.
        Some([name, unit]) if name == "value" => format!(", {}", escape(unit)),
        Some([name, unit]) => format!(": {}, {}", escape(name), escape(unit)),
        None => String::new(),
    }
}

/// Where the history of a pair is.
pub(super) fn address(fleet: &Name, measure: &Name, from: &Name, to: &Name) -> String {
    format!("/fleet/{fleet}/{measure}/{from}/{to}")
}

fn cell(page: &mut String, address: &str, runs: &Runs) {
    let Some((at, last)) = runs.last_key_value() else {
        return;
    };
    let look = last.look();
    let value = runs.values().rev().find_map(|told| told.value);
    let value = value.map_or_else(|| "-".to_owned(), short);
    let complete = runs
        .values()
        .filter(|told| told.status == crate::outcome::Became::Complete);
    let median =
        median_of(runs.values()).map_or_else(String::new, |median| format!(", {}", short(median)));
    let sign = sign(look).map_or_else(String::new, |sign| {
        format!(" <span class=\"word {}\">{sign}</span>", look.class())
    });
    let _ = write!(
        page,
        "<td class=\"{}\"><a href=\"{address}\" title=\"{} at {at}\"><b>{value}</b>{}<small>{}/{}{median}{sign}</small></a></td>",
        look.class(),
        escape(&words(last)),
        spark(runs.values()),
        complete.count(),
        runs.len()
    );
}
