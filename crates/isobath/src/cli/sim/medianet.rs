//! `isobath sim medianet`: an application that adapts to a simulated path.

use super::Simulation;
use super::prepared::{Prepared, new_run};
use crate::cli::manager::medianet::{Asked, show};
use kit::bar;
use kit::options::Output;
use kit::usage::Usage;
use lab::profiles;
use std::sync::atomic::AtomicBool;
use studies::dumbbell::Place;
use studies::dumbbell::simulated::info;
use studies::medianet::plan::Bottleneck;
use studies::medianet::run::Context;
use studies::medianet::{SIMULATED, quality, simulated, summary};

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
        let place = Place::find(&mut topology, Some(plan.cross()), false);
        let place = place.map_err(|what| Usage::of(anyhow::anyhow!(what)))?;
        let bottleneck = Bottleneck::from(&place);
        let mut described = serde_json::to_value(&plan)?;
        described["bottleneck"] = serde_json::to_value(&bottleneck)?;
        let path = info(&topology, self.name());
        Ok(Prepared {
            run: new_run(SIMULATED, described, &self.output, path),
            notes: String::new(),
            simulate: Box::new(move |run, writer| {
                let template = "{bar:30} {elapsed}/{prefix} {msg}";
                let bar = bar::bar(template, Some(bar::STEPS), self.output.quiet);
                let context = Context {
                    plan: &plan,
                    lab: None,
                    interrupt,
                    display: &|live| show(&bar, live),
                };
                let (outcome, work) = simulated::run(&context, &topology, &place, writer)?;
                bar.finish_and_clear();
                let (seconds, truth) = (outcome.seconds, outcome.truth.clone());
                let found = summary::summarise(&plan, &outcome.rows, seconds, &bottleneck, truth);
                run.warnings = quality::warnings(&outcome, &found, &run.instrument);
                run.status = quality::status(&outcome.ending, &run.warnings);
                run.summary = serde_json::to_value(&found)?;
                Ok((outcome.ending, Some(work)))
            }),
        })
    }
}
