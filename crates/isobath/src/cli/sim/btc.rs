//! `isobath sim btc`: bulk transfers over a path of values in memory.

use super::Simulation;
use super::described::Described;
use super::prepared::{Prepared, links, new_run};
use crate::cli::rules::Rules;
use btc::{quality, summary, warnings};
use kit::options::Output;
use kit::usage::Usage;
use kit::virtual_path::Path;
use schema::Direction;
use schema::btc::plan::{Limit, Mode, Plan};
use serde_json::json;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use units::{Dscp, Span};

/// Transfers at once.
const MOST_FLOWS: u16 = 1_000;

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

impl Simulation for Args {
    fn name(&self) -> &str {
        self.described.name()
    }

    fn output(&self) -> &Output {
        &self.output
    }

    fn prepare<'a>(&'a self, interrupt: &'a AtomicBool) -> anyhow::Result<Prepared<'a>> {
        let plan = self.plan()?;
        let path = self.path(&plan).map_err(Usage::of)?;
        let mut described = serde_json::to_value(&plan)?;
        described["apart"] = json!(self.apart);
        Ok(Prepared {
            run: new_run("sim-btc", described, &self.output, path.info()),
            notes: links(&path),
            simulate: Box::new(move |run, writer| {
                let apart = self.apart.0;
                let (outcome, work) = btc::simulated::run(&plan, &path, apart, interrupt, writer)?;
                run.summary = serde_json::to_value(summary::summarise(&plan, &outcome.findings))?;
                run.instrument = quality::instrument(&outcome, plan.direction.sender(), None);
                run.warnings = warnings::warnings(&plan, &outcome, &run.instrument);
                run.status = quality::status(&outcome, plan.parallel.into(), &run.warnings);
                Ok((outcome.ending, Some(work)))
            }),
        })
    }
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
        btc::simulated::check(plan, &path, self.apart.0)?;
        Ok(path)
    }
}
