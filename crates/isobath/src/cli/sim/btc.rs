//! `isobath sim`: measurements in virtual time.

mod described;
mod estimate;
mod replay;

use super::rules::Rules;
use crate::virtual_time::bounds;
use crate::virtual_time::path::Path;
use btc::{quality, scorecard, summary, warnings};
use described::Described;
use jiff::Timestamp;
use kit::host;
use kit::options::Output;
use kit::usage::Usage;
use record::Run;
use schema::Direction;
use schema::btc::plan::{Limit, Mode, Plan};
use serde_json::json;
use std::time::Duration;
use units::{Dscp, Span};

/// Transfers at once.
const MOST_FLOWS: u16 = 1_000;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// Run bulk transfers over a path given by its rate and RTT, or over that of a lab.
    Btc(Args),
    /// Estimate one property of such a path, whose true value is known.
    Estimate(estimate::Args),
    /// Replay connection vectors; a trace's whole hour takes minutes.
    Replay(replay::Args),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    described: Described,
    /// Duration of a transfer [default: 10s].
    #[arg(long, conflicts_with = "segments", value_parser = crate::cli::seconds)]
    duration: Option<Span>,
    /// Full segments per transfer, instead of a duration.
    #[arg(long, value_name = "N")]
    segments: Option<u32>,
    /// Concurrent transfers, each between its own pair of hosts.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST_FLOWS)))]
    flows: u16,
    /// Interval between transfer starts.
    #[arg(long, value_name = "TIME", default_value = "10ms")]
    apart: Span,
    #[command(flatten)]
    rules: Rules,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(verb: &Verb) -> anyhow::Result<u8> {
    match verb {
        Verb::Btc(args) => btc(args),
        Verb::Estimate(args) => estimate::run(args),
        Verb::Replay(args) => replay::run(args),
    }
}

fn btc(args: &Args) -> anyhow::Result<u8> {
    let plan = args.plan()?;
    let path = args.path(&plan).map_err(Usage::of)?;
    let mut described = serde_json::to_value(&plan)?;
    described["note"] = json!(args.output.note);
    described["apart"] = json!(args.apart);
    let mut run = Run::new("sim-btc", Timestamp::now(), described);
    run.path = path.info();
    run.hosts = vec![host::facts("client")];
    let mut opened = args.output.open(args.described.name(), &run)?;
    let simulated = crate::virtual_time::run(&plan, &path, args.apart.0, &mut opened.writer);
    let (outcome, work) = simulated.inspect_err(|_| opened.undo())?;
    run.summary = serde_json::to_value(summary::summarise(&plan, &outcome.findings))?;
    run.instrument = quality::instrument(&outcome, plan.direction.sender(), None);
    run.instrument
        .more
        .insert("packet_events".to_owned(), json!(work.events()));
    run.warnings = warnings::warnings(&plan, &outcome, &run.instrument);
    run.status = quality::status(&outcome, plan.parallel.into(), &run.warnings);
    let dir = opened.writer.dir().to_owned();
    opened.writer.finish(&run)?;
    args.output.tell(&run, &dir, || {
        let card = scorecard::scorecard(&run, &serde_json::from_value(run.summary.clone())?);
        Ok(card + &links(&path))
    })?;
    Ok(run.exit_status())
}

impl Args {
    fn plan(&self) -> anyhow::Result<Plan> {
        let duration = self.duration.map(Limit::Duration);
        let segments = self.segments.or_else(|| self.rules.segments());
        let limit = duration.or_else(|| segments.map(Limit::Segments));
        let plan = Plan {
            mode: Mode::Cooperative,
            hop: None,
            trace: false,
            direction: if self.described.reverse {
                Direction::Down
            } else {
                Direction::Up
            },
            limit: limit.unwrap_or(Limit::Duration(Span::from_millis(10_000))),
            parallel: self.flows,
            repeat: 1,
            compare: false,
            tools: Vec::new(),
            pace: None,
            options: self.rules.options()?,
            class: Dscp::CS0,
            patience: Span(Duration::from_secs(300)),
            seed: self.seed,
        };
        // Far more transfers fit into memory than a host should start at once.
        let checked = Plan {
            parallel: 1,
            ..plan.clone()
        }
        .check();
        checked.map_err(|what| Usage::of(anyhow::anyhow!(what)))?;
        Ok(plan)
    }

    fn path(&self, plan: &Plan) -> anyhow::Result<Path> {
        let path = self.described.path(self.seed, plan.options.ecn)?;
        if !path.is_limited() && plan.options.max_window.is_none() {
            anyhow::bail!(
                "no link of '{}' has a rate, so nothing would limit a transfer - use a --window, or 'isobath btc --lab'",
                self.described.name()
            );
        }
        bounds::check(plan, &path, self.apart.0)?;
        Ok(path)
    }
}

/// The links in words.
fn links(path: &Path) -> String {
    let line = |link: &crate::virtual_time::path::Link| {
        let (up, down) = (link.up.describe(), link.down.describe());
        format!("link          {}: {up} | back: {down}\n", link.name)
    };
    path.links.iter().map(line).collect()
}
