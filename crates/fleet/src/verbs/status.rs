//! `isobath fleet status`.

use super::{OPERATOR, account, of_kept};
use crate::account::Counts;
use crate::agent::wall;
use crate::bus::{Access, Bus};
use crate::messages::Presence;
use crate::{Moment, Name};
use kit::usage::print;
use serde::Serialize;
use serde_json::json;
use std::fmt::Write as _;

/// What to show.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the fleet [default: all].
    fleet: Option<Name>,
    #[command(flatten)]
    access: Access,
    /// Print agents and fleets as one JSON object.
    #[arg(long)]
    json: bool,
}

/// How a fleet fares.
#[derive(Debug, Serialize)]
struct FleetStatus {
    fleet: Name,
    since: Moment,
    paused: bool,
    hosts: usize,
    measurements: usize,
    /// Hosts without an agent that is there.
    absent: Vec<Name>,
    /// Runs of today that were to begin by now.
    today: Counts,
    /// Those of them of which somebody has told who is not their host.
    forged: usize,
    #[serde(skip)]
    forged_in_words: Option<String>,
    /// When the next run begins.
    next: Option<Moment>,
}

pub(super) async fn run(args: &Args) -> anyhow::Result<u8> {
    let bus = Bus::open(&args.access, OPERATOR).await?;
    let agents = bus.present().await?;
    let now = wall();
    let mut fleets = Vec::new();
    for (name, kept) in bus.fleets().await? {
        if args.fleet.as_ref().is_some_and(|wanted| *wanted != name) {
            continue;
        }
        let mut revisions = of_kept(kept)?;
        let account = account(&bus, &name, &mut revisions, [now.day().begins(), now], now).await?;
        let next = revisions.next(now, |_| true).map(|due| due.run.begins);
        let Some(document) = revisions.latest() else {
            continue;
        };
        let file = crate::file::FleetFile::parse(&document.file, "the fleet file")?;
        let is_there = |host: &Name| agents.iter().any(|agent| agent.name == *host);
        let hosts = file.hosts.iter().map(|host| &host.name);
        fleets.push(FleetStatus {
            since: document.since,
            paused: document.paused,
            hosts: file.hosts.len(),
            measurements: file.measures.len(),
            absent: hosts.filter(|host| !is_there(host)).cloned().collect(),
            today: account.counts(),
            forged: account.forged.len(),
            forged_in_words: account.words_of_forged(),
            next,
            fleet: name,
        });
    }
    if args.json {
        print(&json!({ "agents": agents, "fleets": fleets }).to_string())?;
    } else {
        print(&page(&agents, &fleets, now))?;
    }
    Ok(0)
}

fn page(agents: &[Presence], fleets: &[FleetStatus], now: Moment) -> String {
    let mut page = format!(
        "{:18}{:12}{:10}{:26}{:>8}{:>9}{:>12}\n",
        "agent", "site", "version", "far end", "running", "waiting", "heard"
    );
    for agent in agents {
        let site = agent.site.as_ref().map_or("-", Name::as_str);
        let heard = format!("{:.0} s ago", now.since(agent.said).as_secs_f64());
        let _ = writeln!(
            page,
            "{:18}{site:12}{:10}{:26}{:>8}{:>9}{heard:>12}",
            agent.name,
            agent.isobath,
            agent.address.to_string(),
            agent.running.len(),
            agent.waiting
        );
    }
    if agents.is_empty() {
        page.push_str("no agent is there - start 'isobath agent --name NAME' on each host\n");
    }
    for fleet in fleets {
        let state = if fleet.paused { "paused" } else { "running" };
        let _ = write!(
            page,
            "\nfleet '{}': {state} as of {}, {} hosts, {} measurements\n  today  {}\n",
            fleet.fleet,
            fleet.since,
            fleet.hosts,
            fleet.measurements,
            fleet.today.words()
        );
        if let Some(words) = &fleet.forged_in_words {
            let _ = writeln!(page, "  forged {words}");
        }
        if let Some(next) = fleet.next {
            let _ = writeln!(page, "  next   in {:.0} s", next.since(now).as_secs_f64());
        }
        if !fleet.absent.is_empty() {
            let absent: Vec<_> = fleet.absent.iter().map(Name::as_str).collect();
            let _ = writeln!(page, "  absent {}", absent.join(", "));
        }
    }
    if fleets.is_empty() {
        page.push_str("\nno fleet - 'isobath fleet apply FILE' makes one\n");
    }
    page
}
