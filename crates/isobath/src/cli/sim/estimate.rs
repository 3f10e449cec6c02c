//! `isobath sim estimate`: an estimator over a path of values in memory.

use super::Simulation;
use super::described::Described;
use super::prepared::{Prepared, links, new_run};
use crate::cli::estimate::Asked;
use estimate::{simulate, summary};
use kit::ending::Ending;
use kit::options::Output;
use kit::usage::Usage;
use record::{Status, Verdict};
use schema::estimate::plan::Method;
use std::sync::atomic::AtomicBool;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    asked: Asked,
    #[command(flatten)]
    described: Described,
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
        let plan = self.asked.plan(self.described.reverse)?;
        if plan.method == Method::Hops {
            let what = "there are no routers to ask in virtual time - use 'isobath estimate bottleneck --lab'";
            return Err(Usage::of(anyhow::anyhow!(what)));
        }
        if plan.method.rides() {
            return Err(Usage::of(anyhow::anyhow!(
                "no application sends anything here for probes to ride on - use 'isobath sim trial', whose application does"
            )));
        }
        let path = self.described.path(plan.seed, false).map_err(Usage::of)?;
        path.check_round_trip().map_err(Usage::of)?;
        let probing = path.probing()?;
        Ok(Prepared {
            run: new_run(
                "sim-estimate",
                serde_json::to_value(&plan)?,
                &self.output,
                path.info(),
            ),
            notes: links(&path),
            simulate: Box::new(move |run, writer| {
                let outcome = simulate::run(&plan, probing, interrupt, writer)?;
                run.summary = serde_json::to_value(summary::summarise(&plan, &outcome))?;
                run.status = match outcome.ending {
                    Ending::Complete => Status::Complete,
                    _ => Status::Incomplete,
                };
                run.verdict = (!outcome.finding.conclusive).then_some(Verdict::Inconclusive);
                Ok((outcome.ending, None))
            }),
        })
    }
}
