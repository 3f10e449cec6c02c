//! `isobath fleet apply FILE`.

use super::{OPERATOR, Program, fleet_file, from_now};
use crate::Day;
use crate::agent::wall;
use crate::bus::{Access, Bus};
use crate::file::{FleetFile, MeasureSpec};
use crate::revisions::Document;
use crate::schedule::{LeftOut, Plan};
use anyhow::Context as _;
use kit::usage::{Usage, print};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What to put into effect.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Fleet file in TOML.
    file: PathBuf,
    #[command(flatten)]
    access: Access,
    /// Show what would change, and exit.
    #[arg(long)]
    dry_run: bool,
    /// Print the differences and the number of runs a day as one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, program: Program) -> anyhow::Result<u8> {
    let (text, file) = fleet_file(&args.file)?;
    check_commands(&file, &args.file.display().to_string(), program).map_err(Usage::of)?;
    let bus = Bus::open(&args.access, OPERATOR).await?;
    let kept = bus.revisions(&file.name).await?;
    let last = kept.last().map_or(0, |(revision, _)| *revision);
    let since = kept.iter().map(|(_, document)| document.since).max();
    let old = kept
        .last()
        .map(|(_, document)| (document.paused, FleetFile::parse(&document.file, "")));
    let differs = match &old {
        None => vec![format!("new fleet '{}'", file.name)],
        Some((paused, Ok(old))) => {
            let resumed = paused.then(|| "resumed".to_owned());
            differences(old, &file).into_iter().chain(resumed).collect()
        }
        Some((_, Err(_))) => {
            vec!["the old file, which this version does not understand, is replaced".to_owned()]
        }
    };
    if !differs.is_empty() && !args.dry_run {
        let document = Document {
            file: text,
            since: from_now(since),
            paused: false,
        };
        bus.revise(&file.name, &document, last).await?;
    }
    let present = bus.present().await?;
    let present: BTreeSet<_> = present.iter().map(|presence| &presence.name).collect();
    let absent = file.hosts.iter().map(|host| &host.name);
    let absent: Vec<_> = absent
        .filter(|name| !present.contains(name))
        .map(ToString::to_string)
        .collect();
    let day = DayPlan::of(file);
    if args.json {
        let told = json!({
            "fleet": day.fleet, "differs": differs, "applied": !args.dry_run && !differs.is_empty(),
            "runs_a_day": day.runs, "no_room_a_day": day.no_room, "no_budget_a_day": day.no_budget, "without_agent": absent,
        });
        print(&told.to_string())?;
        return Ok(0);
    }
    print(&page(&day, &differs, &absent, args.dry_run))?;
    Ok(0)
}

/// Every command line must be one that this version takes.
fn check_commands(file: &FleetFile, name: &str, program: Program) -> anyhow::Result<()> {
    for measure in &file.measures {
        let words = measure.run.split_whitespace().map(str::to_owned);
        let rest = ["host:4890", "--quiet", "--out", "folder"].map(str::to_owned);
        let words: Vec<String> = words.chain(rest).collect();
        let of = || format!("{name}: measure '{}'", measure.name);
        (program.takes)(&words).with_context(of)?;
        check_figures(measure, program).with_context(of)?;
    }
    Ok(())
}

/// Every threshold must be of a figure that the measurement has.
fn check_figures(measure: &MeasureSpec, program: Program) -> anyhow::Result<()> {
    // Records are called like the verbs that make them.
    let known = program.register.of_test(measure.verb())?.figures();
    for figure in measure
        .thresholds
        .iter()
        .filter_map(|threshold| threshold.figure.as_ref())
    {
        let names: Vec<_> = known.iter().map(|known| known.name).collect();
        anyhow::ensure!(
            names.contains(&figure.as_str()),
            "a threshold of '{figure}', which is no figure of {} - there are {}",
            measure.verb(),
            names.join(", ")
        );
    }
    Ok(())
}

/// A day of the plan, in numbers.
struct DayPlan {
    fleet: String,
    /// Where days differ, the one that it is of.
    day: Option<Day>,
    runs: usize,
    no_room: usize,
    no_budget: usize,
}

impl DayPlan {
    /// Tomorrow: today has begun.
    fn of(file: FleetFile) -> Self {
        let fleet = file.name.to_string();
        let tomorrow = wall().day().next();
        let has_calendar = file.measures.iter().any(|measure| measure.cron.is_some());
        let schedule = Plan::new(file).of(tomorrow, crate::Moment::default());
        let count = |wanted| {
            schedule
                .left_out
                .iter()
                .filter(|(_, why)| *why == wanted)
                .count()
        };
        Self {
            fleet,
            day: has_calendar.then_some(tomorrow),
            runs: schedule.runs.len(),
            no_room: count(LeftOut::NoRoom),
            no_budget: count(LeftOut::NoBudget),
        }
    }
}

fn page(day: &DayPlan, differs: &[String], absent: &[String], is_dry: bool) -> String {
    let mut lines = Vec::new();
    match (differs.is_empty(), is_dry) {
        (true, _) => lines.push(format!("fleet '{}': nothing differs", day.fleet)),
        (false, true) => lines.push(format!("fleet '{}' would change:", day.fleet)),
        (false, false) => lines.push(format!("fleet '{}' applied:", day.fleet)),
    }
    lines.extend(differs.iter().map(|line| format!("  {line}")));
    let when = match day.day {
        Some(day) => format!("tomorrow, {day} (UTC)"),
        None => "a day".to_owned(),
    };
    lines.push(format!("{} runs {when}", day.runs));
    if day.no_room > 0 {
        lines.push(format!(
            "{} more find no room - measure less often, raise 'patience' or lower 'takes'",
            day.no_room
        ));
    }
    if day.no_budget > 0 {
        lines.push(format!(
            "{} more are beyond a budget - raise 'daily' or measure less often",
            day.no_budget
        ));
    }
    if !absent.is_empty() {
        lines.push(format!(
            "no agent there now: {} - start 'isobath agent --name NAME' on each",
            absent.join(", ")
        ));
    }
    lines.join("\n")
}

/// What differs, a line for each thing.
fn differences(old: &FleetFile, new: &FleetFile) -> Vec<String> {
    let mut differs = Vec::new();
    if old.seed != new.seed {
        differs.push(format!("seed {} instead of {}", new.seed, old.seed));
    }
    differs.extend(list("host", &old.hosts, &new.hosts, |host| &host.name));
    differs.extend(list("link", &old.links, &new.links, |link| &link.name));
    differs.extend(list("measure", &old.measures, &new.measures, |measure| {
        &measure.name
    }));
    differs
}

fn list<T: PartialEq>(
    kind: &str,
    old: &[T],
    new: &[T],
    name: impl Fn(&T) -> &crate::Name,
) -> Vec<String> {
    let find = |list: &[T], wanted: &T| list.iter().position(|entry| name(entry) == name(wanted));
    let mut differs = Vec::new();
    for entry in new {
        match find(old, entry) {
            None => differs.push(format!("{kind} '{}' is new", name(entry))),
            Some(at) if old[at] != *entry => {
                differs.push(format!("{kind} '{}' differs", name(entry)));
            }
            Some(_) => {}
        }
    }
    let gone = old.iter().filter(|entry| find(new, entry).is_none());
    differs.extend(gone.map(|entry| format!("{kind} '{}' is gone", name(entry))));
    differs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_told() {
        let file = |hosts: &str, every: &str| {
            let hosts: Vec<_> = hosts
                .chars()
                .map(|host| format!("[[host]]\nname = '{host}'\n"))
                .collect();
            let hosts = hosts.concat();
            let text = format!(
                "name = 'f'\n{hosts}[[measure]]\nname = 'm'\nrun = 'btc'\npairs = {{ mesh = ['all'] }}\ntakes = '20s'\nevery = '{every}'"
            );
            FleetFile::parse(&text, "f").unwrap()
        };
        let old = file("abc", "1h");
        assert_eq!(
            differences(&old, &file("abc", "60min")),
            Vec::<String>::new()
        );
        let expected = ["host 'd' is new", "host 'b' is gone", "measure 'm' differs"];
        assert_eq!(differences(&old, &file("acd", "2h")), expected);
    }
}
