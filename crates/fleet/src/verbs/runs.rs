//! `isobath fleet runs FLEET`.

use super::{OPERATOR, Program, account, revisions};
use crate::account::{Account, Fate, Line};
use crate::agent::wall;
use crate::bus::{Access, Bus};
use crate::figures::{Found, main_figure, median, short};
use crate::outcome::Became;
use crate::revisions::Revisions;
use crate::schedule::LeftOut;
use crate::{Moment, Name};
use kit::register::Register;
use kit::usage::print;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use units::Span;

/// Which runs.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the fleet.
    fleet: Name,
    #[command(flatten)]
    access: Access,
    /// List runs scheduled within this time up to now.
    #[arg(
        long,
        value_name = "TIME",
        default_value = "1h",
        conflicts_with = "since"
    )]
    last: Span,
    /// List runs scheduled at this moment or later.
    #[arg(long, value_name = "MOMENT")]
    since: Option<Moment>,
    /// List runs scheduled before this moment [default: now].
    #[arg(long, value_name = "MOMENT")]
    until: Option<Moment>,
    /// Print a matrix of pairs for each measurement: how many runs are complete, and the median of the main figure.
    #[arg(long, conflicts_with = "json")]
    matrix: bool,
    /// Print the runs as one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, program: Program) -> anyhow::Result<u8> {
    let bus = Bus::open(&args.access, OPERATOR).await?;
    let (mut revisions, _) = revisions(&bus, &args.fleet).await?;
    let now = wall();
    let until = args.until.unwrap_or(now);
    let last = u64::try_from(args.last.0.as_millis()).unwrap_or(u64::MAX);
    let since = Moment::from_millis(until.as_millis().saturating_sub(last));
    let since = args.since.unwrap_or(since);
    let account = account(&bus, &args.fleet, &mut revisions, [since, until], now).await?;
    let register = program.register;
    let beyond = |line: &Line| beyond(line, &revisions, register);
    if args.json {
        print(&json(&args.fleet, &account, [since, until], beyond).to_string())?;
    } else if args.matrix {
        print(&matrices(&account, register))?;
    } else {
        print(&table(&account, register, beyond))?;
    }
    Ok(0)
}

/// The thresholds of the fleet file that a run is beyond, in words.
fn beyond(line: &Line, revisions: &Revisions, register: &Register) -> Vec<String> {
    let Fate::Known(outcome) = &line.fate else {
        return Vec::new();
    };
    let held = outcome.held_against(revisions.thresholds(&line.run), register);
    held.into_iter().filter_map(|(_, beyond)| beyond).collect()
}

fn json(
    fleet: &Name,
    account: &Account,
    [since, until]: [Moment; 2],
    beyond: impl Fn(&Line) -> Vec<String>,
) -> Value {
    let runs = account.lines.iter().map(|line| {
        let (status, reason) = words(&line.fate);
        let outcome = match &line.fate {
            Fate::Known(outcome) => json!(outcome),
            _ => Value::Null,
        };
        json!({ "run": line.run, "begins": line.begins, "on_demand": line.is_on_demand, "status": status, "reason": reason, "thresholds_exceeded": beyond(line), "outcome": outcome })
    });
    let runs: Vec<_> = runs.collect();
    let unplanned: Vec<_> = account
        .unplanned
        .iter()
        .map(|outcome| &outcome.run)
        .collect();
    json!({
        "fleet": fleet, "since": since, "until": until, "counts": account.counts(),
        "runs": runs, "unplanned": unplanned, "twice": account.twice, "forged": account.forged,
    })
}

/// How a fate is called, and why it is so.
fn words(fate: &Fate) -> (String, Option<String>) {
    match fate {
        Fate::Open => ("open".to_owned(), None),
        Fate::Missing => {
            let reason = "its agent has handed nothing over".to_owned();
            ("missing".to_owned(), Some(reason))
        }
        Fate::LeftOut(LeftOut::NoRoom) => ("left out".to_owned(), Some("no room".to_owned())),
        Fate::LeftOut(LeftOut::NoBudget) => ("left out".to_owned(), Some("no budget".to_owned())),
        Fate::Known(outcome) => (outcome.status.to_string(), outcome.reason.clone()),
    }
}

fn figure(line: &Line, register: &Register) -> Option<Found> {
    match &line.fate {
        Fate::Known(outcome) if outcome.status == Became::Complete => {
            main_figure(register, outcome.test.as_ref()?, &outcome.summary)
        }
        _ => None,
    }
}

fn table(account: &Account, register: &Register, beyond: impl Fn(&Line) -> Vec<String>) -> String {
    // The names are what 'fleet record' takes.
    let names = account.lines.iter().map(|line| line.run.to_string());
    let names: Vec<_> = names.collect();
    let width = names.iter().map(String::len).max().unwrap_or(0).max(3) + 2;
    let mut page = format!(
        "{:22}{:width$}{:12}{}\n",
        "begins (UTC)", "run", "status", "figure, or why not"
    );
    for (line, name) in account.lines.iter().zip(names) {
        let (status, reason) = words(&line.fate);
        let figure = figure(line, register);
        let figure =
            figure.map(|found| format!("{} {} {}", found.name, short(found.value), found.unit));
        let begins = Moment::from_millis(line.begins.as_millis() / 1_000 * 1_000);
        let beyond = beyond(line).join(", ");
        let beyond = Some(beyond).filter(|beyond| !beyond.is_empty());
        let rest = beyond.or(figure).or(reason).unwrap_or_default();
        let begins = begins.to_string();
        let _ = writeln!(page, "{begins:22}{name:width$}{status:12}{rest}");
    }
    page + &account.counts().words() + &forged(account)
}

/// A line about what is not signed as it should be, if there is anything.
fn forged(account: &Account) -> String {
    let words = account.words_of_forged();
    words.map_or_else(String::new, |words| format!("\n{words}"))
}

/// What is found of a pair.
#[derive(Default)]
struct Cell {
    planned: u64,
    complete: u64,
    values: Vec<f64>,
}

/// A matrix for each measurement.
pub(super) fn matrices(account: &Account, register: &Register) -> String {
    let mut all: BTreeMap<&Name, BTreeMap<[&Name; 2], Cell>> = BTreeMap::new();
    let mut titles: BTreeMap<&Name, Found> = BTreeMap::new();
    for line in &account.lines {
        let run = &line.run;
        let cells = all.entry(&run.measure).or_default();
        let cell = cells.entry([&run.from, &run.to]).or_default();
        cell.planned += 1;
        if let Some(found) = figure(line, register) {
            cell.values.push(found.value);
            titles.entry(&run.measure).or_insert(found);
        }
        let is_complete =
            matches!(&line.fate, Fate::Known(outcome) if outcome.status == Became::Complete);
        cell.complete += u64::from(is_complete);
    }
    let pages = all.into_iter().map(|(measure, cells)| {
        let title = titles.get(measure).map_or_else(String::new, |found| {
            format!(", median {} in {}", found.name, found.unit)
        });
        format!("{measure}: complete/planned{title}\n{}", matrix(cells))
    });
    let pages: Vec<_> = pages.collect();
    format!(
        "{}\n{}{}",
        pages.join("\n"),
        account.counts().words(),
        forged(account)
    )
}

fn matrix(mut cells: BTreeMap<[&Name; 2], Cell>) -> String {
    let froms: BTreeSet<_> = cells.keys().map(|pair| pair[0]).collect();
    let tos: BTreeSet<_> = cells.keys().map(|pair| pair[1]).collect();
    let width = tos
        .iter()
        .map(|name| name.as_str().len())
        .max()
        .unwrap_or(0)
        .max(12)
        + 2;
    let mut page = format!("{:14}", "from \\ to");
    for to in &tos {
        let _ = write!(page, "{to:>width$}");
    }
    for from in froms {
        let _ = write!(page, "\n{from:14}");
        for to in &tos {
            let cell = cells.remove(&[from, *to]);
            let text = cell.map_or_else(
                || "-".to_owned(),
                |cell| {
                    let value = median(cell.values).map(short);
                    format!(
                        "{} {}/{}",
                        value.unwrap_or_default(),
                        cell.complete,
                        cell.planned
                    )
                },
            );
            let _ = write!(page, "{text:>width$}");
        }
    }
    page + "\n"
}
