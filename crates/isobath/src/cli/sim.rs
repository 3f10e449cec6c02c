//! `isobath sim`: measurements in virtual time.

use super::Usage;
use super::common::Output;
use super::rules::Rules;
use crate::btc::plan::{Direction, Limit, Mode, Plan};
use crate::btc::{quality, scorecard, summary, warnings};
use crate::host;
use crate::sim::path::{Aqm, Figures, Path, Size, percent};
use ::path::Probability;
use jiff::Timestamp;
use record::Run;
use serde_json::json;
use std::time::Duration;
use units::{Dscp, Rate, Span};

/// Transfers at once.
const MOST_FLOWS: u16 = 1_000;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// Bulk transfers over a path that is described by a few figures, or over that of a lab.
    Btc(Args),
}

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("path").required(true).args(["rate", "lab"])))]
pub(crate) struct Args {
    /// Rate of the bottleneck, IP headers included.
    #[arg(long, requires = "rtt")]
    rate: Option<Rate>,
    /// Round trip without any queue; acknowledgements come back without limit or loss.
    #[arg(long, value_name = "TIME", requires = "rate")]
    rtt: Option<Span>,
    /// Share of the data packets that are lost behind the bottleneck, as 1%.
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = percent)]
    loss: Probability,
    /// What the bottleneck's queue holds: 1bdp (of rate x round trip), 100packets or 64KiB.
    #[arg(long, value_name = "SIZE", default_value = "1bdp")]
    queue: Size,
    /// How the queue is managed; where 'ecn' is a rule of the transfer, it marks.
    #[arg(long, value_name = "KIND", value_enum, default_value_t = Aqm::Fifo)]
    aqm: Aqm,
    /// The path from the client to the server of a lab instead: a name from 'isobath lab list', or a TOML file.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["rtt", "loss", "queue", "aqm"])]
    lab: Option<String>,
    /// The data goes from the lab's server to its client.
    #[arg(long, requires = "lab")]
    reverse: bool,
    /// How long a transfer lasts.
    #[arg(long, conflicts_with = "segments", default_value = "10s")]
    duration: Span,
    /// How many full segments a transfer has, instead of a time.
    #[arg(long, value_name = "N")]
    segments: Option<u32>,
    /// Transfers at once, each between hosts of its own.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST_FLOWS)))]
    flows: u16,
    /// How far apart transfers start.
    #[arg(long, value_name = "TIME", default_value = "10ms")]
    apart: Span,
    #[command(flatten)]
    rules: Rules,
    /// Seed of all chance.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(verb: &Verb) -> anyhow::Result<u8> {
    let Verb::Btc(args) = verb;
    let plan = args.plan()?;
    let path = args.path(&plan).map_err(Usage::of)?;
    let mut described = serde_json::to_value(&plan)?;
    described["note"] = json!(args.output.note);
    described["apart"] = json!(args.apart);
    let mut run = Run::new("sim-btc", Timestamp::now(), described);
    run.path = path.info();
    run.hosts = vec![host::facts("client")];
    let towards = args.lab.as_deref().unwrap_or_default();
    let mut opened = args.output.open(towards, &run)?;
    let simulated = crate::sim::run(&plan, &path, args.apart.0, &mut opened.writer);
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
        let plan = Plan {
            mode: Mode::Cooperative,
            hop: None,
            trace: false,
            direction: if self.reverse {
                Direction::Down
            } else {
                Direction::Up
            },
            limit: self
                .segments
                .map_or(Limit::Duration(self.duration), Limit::Segments),
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
        let path = match (&self.lab, self.rate, self.rtt) {
            (None, Some(rate), Some(rtt)) => Figures {
                rate,
                rtt,
                loss: self.loss,
                queue: self.queue,
                aqm: self.aqm,
                ecn: plan.options.ecn,
            }
            .path(self.seed),
            (lab, ..) => Path::of_lab(lab.as_deref().unwrap_or_default(), self.seed, self.reverse)?,
        };
        if !path.is_limited() && plan.options.max_window.is_none() {
            anyhow::bail!(
                "no link of '{}' has a rate, so nothing would limit a transfer - use a --window, or 'isobath btc --lab'",
                self.lab.as_deref().unwrap_or_default()
            );
        }
        // What contradicts itself is found before the record is made.
        path.build()?;
        Ok(path)
    }
}

/// The links in words.
fn links(path: &Path) -> String {
    let line = |link: &crate::sim::path::Link| {
        let (up, down) = (link.up.describe(), link.down.describe());
        format!("link          {}: {up} | back: {down}\n", link.name)
    };
    path.links.iter().map(line).collect()
}
