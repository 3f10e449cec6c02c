//! `isobath fleet`: what an operator says to a fleet, and asks of it.

mod apply;
mod ask;
mod demo;
mod export;
mod key;
mod links;
mod pause;
mod record;
mod retention;
mod runs;
mod status;
mod users;
mod web;

use crate::account::Account;
use crate::bus::{Bus, OPERATOR, wait};
use crate::file::FleetFile;
use crate::revisions::{Document, Revisions, Whose};
use crate::{Moment, Name};
use anyhow::{Context as _, anyhow};
use kit::register::Register;
use kit::usage::Usage;
use std::path::Path;
use std::time::Duration;

/// What to do with a fleet.
#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    /// Apply a fleet file; applying it again changes only what differs.
    Apply(apply::Args),
    /// Show agents, fleets and the state of their runs.
    Status(status::Args),
    /// List runs, planned and started, with the outcome of each.
    Runs(runs::Args),
    /// Pause or resume a fleet; runs in progress finish, no new ones start.
    Pause(pause::Args),
    /// Export all results as a Parquet dataset, partitioned by day, measurement and site.
    Export(export::Args),
    /// Show or set how long outcomes and records are kept.
    Retention(retention::Args),
    /// Ask for the latest estimate of a path property, within limits on age and accuracy.
    Ask(ask::Args),
    /// Find links that hosts share, from path traces, and print them as entries for the fleet file.
    Links(links::Args),
    /// Fetch the record of one run.
    Record(record::Args),
    /// Create a key pair for an agent or an operator, and print the public key.
    Key(key::Args),
    /// Print the user list for a NATS server, giving each agent only the permissions it needs.
    Users(users::Args),
    /// Serve the fleet's web page: matrices of pairs, each pair's history, reports of records.
    Web(web::Args),
    /// Demonstrate a fleet: NATS and agents in an emulated network, for a minute.
    Demo(demo::Args),
}

/// What the program knows that this crate does not.
#[derive(Clone, Copy)]
pub struct Program {
    /// Its measurements.
    pub register: &'static Register,
    /// Whether its command line takes these words.
    pub takes: fn(&[String]) -> anyhow::Result<()>,
}

/// Carries out `verb`.
///
/// # Errors
/// When NATS is not there, or what is asked for cannot be done.
pub fn run(verb: &Verb, program: Program) -> anyhow::Result<u8> {
    match verb {
        Verb::Apply(args) => wait(apply::run(args, program)),
        Verb::Status(args) => wait(status::run(args)),
        Verb::Runs(args) => wait(runs::run(args, program)),
        Verb::Pause(args) => wait(pause::run(args)),
        Verb::Export(args) => wait(export::run(args)),
        Verb::Retention(args) => wait(retention::run(args)),
        Verb::Ask(args) => wait(ask::run(args)),
        Verb::Links(args) => wait(links::run(args)),
        Verb::Record(args) => wait(record::run(args)),
        Verb::Key(args) => key::run(args),
        Verb::Users(args) => users::run(args),
        Verb::Web(args) => web::run(args, program),
        Verb::Demo(args) => demo::run(args, program),
    }
}

/// The fleet file at `path`: its text, and what it says.
fn fleet_file(path: &Path) -> anyhow::Result<(String, FleetFile)> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path);
    let text = text
        .with_context(|| format!("{name} cannot be read"))
        .map_err(Usage::of)?;
    let file = FleetFile::parse(&text, &name).map_err(Usage::of)?;
    Ok((text, file))
}

/// The revisions of `fleet`, which must have some, and the last entry's revision.
async fn revisions(bus: &Bus, fleet: &Name) -> anyhow::Result<(Revisions, u64)> {
    let kept = bus.revisions(fleet).await?;
    if kept.is_empty() {
        let known = bus.fleets().await?;
        let known: Vec<_> = known.iter().map(|(name, _)| name.as_str()).collect();
        let known = known.join(", ");
        let known = if known.is_empty() { "none yet" } else { &known };
        return Err(Usage::of(anyhow!(
            "there is no fleet '{fleet}' - there are: {known}; 'isobath fleet apply FILE' makes one"
        )));
    }
    let last = kept.last().map_or(0, |(revision, _)| *revision);
    Ok((of_kept(kept)?, last))
}

/// Agents have heard of a revision by the time it begins to hold.
const NOTICE: Duration = Duration::from_secs(2);

/// When a revision that is made now begins to hold: after the one before, whatever clock that was made by.
fn from_now(last: Option<Moment>) -> Moment {
    crate::agent::wall().max(last.unwrap_or_default()) + NOTICE
}

fn of_kept(kept: Vec<(u64, Document)>) -> anyhow::Result<Revisions> {
    let mut revisions = Revisions::new(Whose::All);
    for (_, document) in kept {
        let pushed = revisions.push(document);
        pushed.context("the fleet was applied by another version - use that one")?;
    }
    Ok(revisions)
}

/// Milliseconds that the clocks of agents and of the server may be apart.
const CLOCKS_APART: u64 = 3_600_000;

/// The moment since which all outcomes are kept, by whatever clock they were planned.
async fn kept_since(bus: &Bus, now: Moment) -> anyhow::Result<Moment> {
    let since = bus.retention().await?.since(now);
    let is_for_good = since == Moment::default();
    let apart = if is_for_good { 0 } else { CLOCKS_APART };
    Ok(Moment::from_millis(since.as_millis().saturating_add(apart)))
}

/// The account of `fleet` from `from` to `to`.
async fn account(
    bus: &Bus,
    fleet: &Name,
    revisions: &mut Revisions,
    [from, to]: [Moment; 2],
    now: Moment,
) -> anyhow::Result<Account> {
    // What is older may be gone, which is not missing.
    let from = from.max(kept_since(bus, now).await?);
    // What was planned since then has ended later, by clocks that differ less than this.
    let ended = from.as_millis().saturating_sub(CLOCKS_APART);
    let mut outcomes = bus
        .outcomes(Some(fleet), Moment::from_millis(ended))
        .await?;
    outcomes.retain(|told| (from..to).contains(&told.outcome.planned));
    let planned = revisions.between(from, to);
    let left_out = revisions.left_out(from, to);
    let (forged, told): (Vec<_>, Vec<_>) = outcomes
        .into_iter()
        .partition(|told| revisions.is_forged(told));
    let told = told.into_iter().map(|told| told.outcome).collect();
    Ok(Account {
        forged: forged.into_iter().map(|told| told.outcome.run).collect(),
        ..Account::of(&planned, &left_out, told, now)
    })
}
