//! `isobath sim rrul`: a plan of the RRUL family over a lab's path.

use super::prepared::{Prepared, new_run};
use super::{Control, Simulation};
use crate::cli::rrul::Asked;
use indicatif::ProgressBar;
use kit::bar;
use kit::options::Output;
use kit::usage::Usage;
use kit::virtual_links::Hop;
use kit::virtual_path::Path;
use path::{Assigned, Spec};
use record::Instrument;
use rrul::simulated::{self, Context, Page, Wire};
use rrul::streams::{Common, StreamPlan};
use rrul::summary::summarise;
use rrul::{Live, quality, warnings};
use schema::rrul::plan::Direction;
use schema::rrul::{Plan, Summary};
use serde_json::json;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use transport::CongestionControl;
use web::PageModel;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 simulated; 3 could not be simulated; 130 interrupted, record kept."
)]
pub(crate) struct Args {
    /// Simulate the path from a lab's client to its server: a name from 'isobath lab list', or a TOML file.
    #[arg(long, value_name = "NAME")]
    lab: String,
    #[command(flatten)]
    asked: Asked,
    /// Congestion control of all TCP streams.
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Control::Cubic)]
    cc: Control,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    output: Output,
}

impl Simulation for Args {
    fn name(&self) -> &str {
        &self.lab
    }

    fn output(&self) -> &Output {
        &self.output
    }

    fn prepare<'a>(&'a self, interrupt: &'a AtomicBool) -> anyhow::Result<Prepared<'a>> {
        let mut plan = self.asked.plan()?;
        let notes = simulated::leave_out(&mut plan);
        let path = Path::of_lab(&self.lab, self.seed, false).map_err(Usage::of)?;
        check(&plan, self, &path)?;
        let is_empty = plan.load.is_empty() && plan.probe.is_empty() && plan.call.is_empty();
        if is_empty && plan.web.is_none() {
            return Err(Usage::of(anyhow::anyhow!(
                "nothing of plan {} is simulated - use 'isobath rrul --lab'",
                plan.name
            )));
        }
        let cc = self.cc.algorithm();
        let model = plan.web.as_ref().map(|web| PageModel::find(&web.page));
        let model = model.transpose().map_err(Usage::of)?;
        let plan = {
            let streams = streams(&plan, cc);
            let context = self.context(&plan, &streams, model.as_ref(), interrupt);
            simulated::lengthen(&context, hops(&path)?)
        };
        let streams = streams(&plan, cc);
        let hops = hops(&path)?;
        let mut described = serde_json::to_value(&plan)?;
        described["cc"] = json!(cc.name());
        described["seed"] = json!(self.seed);
        Ok(Prepared {
            run: new_run("sim-rrul", described, &self.output, path.info()),
            notes: String::new(),
            simulate: Box::new(move |run, writer| {
                let template = "rrul {wide_bar}  {msg}";
                let bar = bar::bar(template, Some(bar::STEPS), self.output.quiet);
                let context = Context {
                    display: &|live| show(&bar, plan.total(), live),
                    ..self.context(&plan, &streams, model.as_ref(), interrupt)
                };
                let (outcome, links, work) = simulated::run(&context, hops, writer)?;
                bar.finish_and_clear();
                let summary = Summary {
                    lab: links,
                    ..summarise(&plan, &outcome.tables)
                };
                let instrument = quality::instrument(&plan, &outcome, &summary, Duration::ZERO);
                run.instrument = without_host(instrument);
                run.warnings = warnings::warnings(&plan, &outcome, &run.instrument, &summary);
                run.warnings.extend(notes);
                run.status = quality::status(&outcome.ending, &run.warnings);
                run.summary = serde_json::to_value(&summary)?;
                Ok((outcome.ending, Some(work)))
            }),
        })
    }
}

impl Args {
    fn context<'a>(
        &self,
        plan: &'a Plan,
        streams: &'a [StreamPlan],
        model: Option<&'a PageModel>,
        interrupt: &'a AtomicBool,
    ) -> Context<'a> {
        let page = plan.web.as_ref().zip(model).map(|(web, model)| Page {
            model,
            protocols: &web.protocols,
            pause: web.pause.0,
        });
        Context {
            plan,
            streams,
            page,
            congestion_control: self.cc.algorithm(),
            seed: self.seed,
            interrupt,
            display: &|_| (),
        }
    }
}

fn streams(plan: &Plan, cc: CongestionControl) -> Vec<StreamPlan> {
    let common = Common {
        families: &[4],
        cc: Some(cc.name()),
    };
    StreamPlan::all(plan, &common)
}

fn hops(path: &Path) -> anyhow::Result<Vec<Hop<Wire>>> {
    let hops = path.hops(&Assigned::default(), Spec::build_lazy);
    hops.map_err(Usage::of)
}

/// What of the plan is not simulated and cannot be left out, and what would have no end.
fn check(plan: &Plan, args: &Args, path: &Path) -> anyhow::Result<()> {
    let refused = |what: String| Err(Usage::of(anyhow::anyhow!(what)));
    if plan.servers > 1 {
        return refused(format!(
            "plan {} needs {} servers, and one is simulated - use 'isobath rrul --lab'",
            plan.name, plan.servers
        ));
    }
    if let Some(other) = plan.load.iter().find(|load| !load.transport.is_tcp()) {
        return refused(format!(
            "plan {} has load over {}, which is not simulated - use 'isobath rrul --lab'",
            plan.name,
            other.transport.name()
        ));
    }
    let name = args.cc.algorithm().name();
    let other = plan.load.iter().filter_map(|load| load.cc.as_deref());
    if let Some(cc) = other.into_iter().find(|cc| *cc != name) {
        return refused(format!(
            "plan {} has load by {cc}, and all load is simulated by {name} - use 'isobath rrul --lab'",
            plan.name
        ));
    }
    let goes = |one, other| {
        let load = plan.load.iter();
        load.map(|load| load.direction)
            .any(|way| way == one || way == other)
    };
    let ways = [
        goes(Direction::Up, Direction::Both),
        goes(Direction::Down, Direction::Both),
    ];
    if ways
        .into_iter()
        .zip(path.limited())
        .any(|(is_loaded, is_limited)| is_loaded && !is_limited)
    {
        return refused(format!(
            "no link of '{}' has a rate in a direction that the plan loads, so nothing would limit it - use 'isobath rrul --lab'",
            args.lab
        ));
    }
    path.check_takes_time()
        .and_then(|()| path.check_round_trip())
        .map_err(Usage::of)
}

/// There is no host of which to say how late or busy it was.
fn without_host(instrument: Instrument) -> Instrument {
    Instrument {
        lateness: Vec::new(),
        stalls: None,
        longest_stall_ms: None,
        kernel_stamps_pct: None,
        ..instrument
    }
}

fn show(bar: &ProgressBar, total: Duration, live: &Live) {
    let share = live.elapsed.as_secs_f64() / total.as_secs_f64().max(1e-9);
    bar::show(bar, share);
    bar.set_message(format!(
        "{}: down {:.1}, up {:.1} Mbit/s",
        live.phase, live.down_mbps, live.up_mbps
    ));
}
