//! `isobath fleet links FLEET`: what path traces tell of the links that hosts share, as entries for the fleet file.

use super::{CLOCKS_APART, OPERATOR, revisions};
use crate::agent::wall;
use crate::bus::{Access, Bus};
use crate::figures::short;
use crate::file::FleetFile;
use crate::links::{Found, Shared, Traced, shared, traces};
use crate::revisions::Revisions;
use crate::{Moment, Name};
use anyhow::Context as _;
use kit::usage::print;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use units::Span;

/// Whose links, and by which runs.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the fleet.
    fleet: Name,
    #[command(flatten)]
    access: Access,
    /// Use runs that ended within this time.
    #[arg(long, value_name = "TIME", default_value = "24h")]
    last: Span,
    /// Print the links as one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args) -> anyhow::Result<u8> {
    let bus = Bus::open(&args.access, OPERATOR).await?;
    let (revisions, _) = revisions(&bus, &args.fleet).await?;
    let file = revisions.latest().context("the fleet has no file")?;
    let file = FleetFile::parse(&file.file, "the fleet file")?;
    let traced = traced(&bus, args, &revisions, &file).await?;
    let report = Report::of(&traced, &file);
    print(&if args.json {
        report.json().to_string()
    } else {
        report.entries()
    })?;
    Ok(0)
}

/// The traces between hosts of `file`.
async fn traced(
    bus: &Bus,
    args: &Args,
    revisions: &Revisions,
    file: &FleetFile,
) -> anyhow::Result<Vec<Traced>> {
    let now = wall();
    let last = u64::try_from(args.last.0.as_millis()).unwrap_or(u64::MAX);
    let before = |by: u64| Moment::from_millis(now.as_millis().saturating_sub(by));
    // What ended since then by the agents' clocks came later by the server's, which differs less than this.
    let outcomes = bus
        .outcomes(Some(&args.fleet), before(last.saturating_add(CLOCKS_APART)))
        .await?;
    let is_host = |name: &Name| file.hosts.iter().any(|host| host.name == *name);
    let outcomes = outcomes.into_iter().filter(|told| {
        let run = &told.outcome.run;
        let is_known = revisions.may_plan(run) && !revisions.is_forged(told);
        let is_recent = told.outcome.ended >= before(last) && told.outcome.planned <= now;
        is_known && is_recent && is_host(&run.from) && is_host(&run.to)
    });
    Ok(outcomes.flat_map(|told| traces(&told.outcome)).collect())
}

/// What is printed.
struct Report<'a> {
    file: &'a FleetFile,
    /// Paths that were traced, and how often all together.
    paths: usize,
    traces: usize,
    found: Found,
    /// The links' names, in their order.
    names: Vec<String>,
}

impl<'a> Report<'a> {
    fn of(traced: &[Traced], file: &'a FleetFile) -> Self {
        let paths: BTreeSet<_> = traced.iter().map(|trace| &trace.ends).collect();
        let found = shared(traced);
        Self {
            file,
            paths: paths.len(),
            traces: traced.len(),
            names: names(&found.links, file),
            found,
        }
    }

    /// The link that makes link `place` needless, if one does: of those that are not needless themselves.
    fn better(&self, place: usize) -> Option<usize> {
        let links = &self.found.links;
        let mut others = 0..links.len();
        let is_better = |other: &usize, than: usize| links[*other].replaces(&links[than]);
        let is_best = |other: &usize| !(0..links.len()).any(|best| is_better(&best, *other));
        others.find(|other| is_better(other, place) && is_best(other))
    }

    fn entries(&self) -> String {
        let hosts = self.file.hosts.len();
        let mut page = format!(
            "# Links shared by hosts of '{}', from {} traces that cover {} of {} paths.\n",
            self.file.name,
            self.traces,
            self.paths,
            hosts * hosts.saturating_sub(1)
        );
        if self.traces == 0 {
            page.push_str("# No run of this time traced its path: 'estimate bottleneck' does, and 'rrul' by a plan with [trace], as plan rrul has. Or look further back with --last.\n");
        } else if self.found.links.is_empty() {
            page.push_str("# None found: no link has two or more hosts on each side.\n");
        }
        for (place, link) in self.found.links.iter().enumerate() {
            page.push('\n');
            for line in self.entry(place, link) {
                page.push_str(&line);
                page.push('\n');
            }
        }
        if !self.found.left_out.is_empty() {
            let _ = writeln!(
                page,
                "\n# Left out, since hosts are on both sides of them, as when routes have changed: {}.",
                list(&self.found.left_out, "")
            );
        }
        page
    }

    /// The lines of one link.
    fn entry(&self, place: usize, link: &Shared) -> Vec<String> {
        let mut lines = vec![
            format!("# {}", seen(link)),
            format!("# Routers: {}.", list(&link.routers, "")),
        ];
        if let Some(told) = link.told(self.file) {
            lines.push(format!("# The file has it: '{}'.", told.name));
        } else if let Some(better) = self.better(place) {
            let name = &self.names[better];
            lines.push(format!(
                "# All its pairs also cross '{name}'; that entry suffices."
            ));
        } else {
            let mark = if link.is_queue() && link.is_whole() {
                ""
            } else {
                lines.push("# Uncomment the entry to make loads take turns on it.".to_owned());
                "# "
            };
            let name = &self.names[place];
            let entry = [
                "[[link]]".to_owned(),
                format!("name = \"{name}\""),
                self.sides(link),
            ];
            lines.extend(entry.map(|line| format!("{mark}{line}")));
        }
        lines
    }

    fn sides(&self, link: &Shared) -> String {
        let [here, there] = [0, 1].map(|side| format!("[{}]", list(&link.sides[side], "\"")));
        let is_all = link.sides.iter().map(BTreeSet::len).sum::<usize>() == self.file.hosts.len();
        if is_all {
            format!("behind = {here}")
        } else {
            format!("between = [{here}, {there}]")
        }
    }

    fn json(&self) -> Value {
        let links = self.found.links.iter().enumerate().map(|(place, link)| {
            json!({
                "name": self.names[place], "sides": link.sides, "routers": link.routers, "pairs": link.pairs.len(),
                "traces": link.traces.len(), "rises": link.rises.len(), "rise_ms": link.rise_ms(), "queue": link.is_queue(),
                "in_file": link.told(self.file).map(|told| &told.name), "within": self.better(place).map(|better| &self.names[better]),
            })
        });
        let links: Vec<_> = links.collect();
        json!({
            "fleet": self.file.name, "paths": self.paths, "traces": self.traces, "links": links, "left_out": self.found.left_out,
        })
    }
}

/// What the traces say of a link.
fn seen(link: &Shared) -> String {
    let [here, there] = &link.sides;
    let crossed = format!(
        "crossed in {} traces of {} of {} host pairs",
        link.traces.len(),
        link.pairs.len(),
        here.len() * there.len()
    );
    let (rises, ms) = (link.rises.len(), link.rise_ms().map(short));
    match ms {
        Some(ms) if link.is_queue() => format!(
            "Load makes its queue grow: {crossed}; in {rises} of them delay under load begins to rise here, by {ms} ms (median)."
        ),
        Some(ms) => format!(
            "A queue was seen too seldom to be sure: {crossed}; in {rises} of them delay under load begins to rise here, by {ms} ms (median)."
        ),
        None => format!("No queue was seen to grow: {crossed}."),
    }
}

/// Names made of their first routers' addresses, and a number where that is a link's already. What is too long keeps its end.
fn names(links: &[Shared], file: &FleetFile) -> Vec<String> {
    const ROOM: usize = 23;
    let mut taken: BTreeSet<String> = file
        .links
        .iter()
        .map(|link| link.name.to_string())
        .collect();
    let name = |link: &Shared| {
        let router = link.routers.first().map(ToString::to_string);
        let router = router.unwrap_or_default().replace(['.', ':'], "-");
        let end = router.get(router.len().saturating_sub(ROOM)..);
        let base = format!("link-{}", end.unwrap_or_default());
        let others = (2_u32..).map(|number| format!("{base}-{number}"));
        let mut names = [base.clone()].into_iter().chain(others);
        let name = names.find(|name| taken.insert(name.clone()));
        name.unwrap_or(base)
    };
    links.iter().map(name).collect()
}

fn list<T: ToString>(items: &BTreeSet<T>, quote: &str) -> String {
    let items = items.iter();
    let items: Vec<_> = items
        .map(|item| format!("{quote}{}{quote}", item.to_string()))
        .collect();
    items.join(", ")
}

#[cfg(test)]
mod tests;
