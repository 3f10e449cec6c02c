//! `isobath sim trial`: an application beside a measurement, over a simulated path, with and without riding.

use super::Simulation;
use super::prepared::{Prepared, new_run};
use crate::cli::manager::trial::{Asked, show};
use kit::bar;
use kit::options::Output;
use kit::usage::Usage;
use lab::profiles;
use serde_json::json;
use std::sync::atomic::AtomicBool;
use studies::dumbbell::Place;
use studies::dumbbell::simulated::info;
use studies::trial::plan::Cross;
use studies::trial::run::Context;
use studies::trial::{SIMULATED, quality, simulated, summary};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 simulated; 3 could not be simulated, or broke off; 130 interrupted, record kept."
)]
pub(crate) struct Args {
    #[command(flatten)]
    asked: Asked,
    #[command(flatten)]
    output: Output,
}

impl Simulation for Args {
    fn name(&self) -> &str {
        &self.asked.lab
    }

    fn output(&self) -> &Output {
        &self.output
    }

    fn prepare<'a>(&'a self, interrupt: &'a AtomicBool) -> anyhow::Result<Prepared<'a>> {
        let plan = self.asked.plan()?;
        let mut topology = profiles::find(self.name()).map_err(Usage::of)?;
        let is_web = plan.cross == Cross::Web;
        let place = Place::find(&mut topology, plan.others(), is_web);
        let place = place.map_err(|what| Usage::of(anyhow::anyhow!(what)))?;
        let mut described = serde_json::to_value(&plan)?;
        described["bottleneck"] = json!({ "rate": place.rate });
        let path = info(&topology, self.name());
        Ok(Prepared {
            run: new_run(SIMULATED, described, &self.output, path),
            notes: String::new(),
            simulate: Box::new(move |run, writer| {
                let template = "trial {wide_bar}  {msg}";
                let bar = bar::bar(template, Some(bar::STEPS), self.output.quiet);
                let context = Context {
                    plan: &plan,
                    lab: None,
                    interrupt,
                    display: &|live| show(&bar, live),
                };
                let (outcome, work) = simulated::run(&context, &topology, &place, writer)?;
                bar.finish_and_clear();
                let (capacity, truth) = (Some(outcome.capacity), outcome.truth.clone());
                let found = summary::summarise(&plan, &outcome.tables, capacity, truth);
                run.instrument = quality::simulated(&outcome);
                run.warnings = quality::warnings(&outcome, &run.instrument);
                run.status = quality::status(&outcome, &run.warnings);
                run.summary = serde_json::to_value(&found)?;
                Ok((outcome.ending, Some(work)))
            }),
        })
    }
}
