//! `isobath sim mbm`: the tests of RFC 8337 over a simulated path.

use super::Simulation;
use super::described::Through;
use super::prepared::{Prepared, links, new_run};
use crate::cli::mbm::{Asked, bar, conclude, show};
use kit::options::Output;
use kit::usage::Usage;
use mbm::suite::THESIS;
use mbm_run::simulated::{self, Context};
use path::{Assigned, Spec};
use schema::mbm::plan::Carrier;
use std::sync::atomic::AtomicBool;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 PASS; 1 FAIL; 5 INCONCLUSIVE or ERROR; 130 interrupted, record kept."
)]
pub(crate) struct Args {
    #[command(flatten)]
    asked: Asked,
    #[command(flatten)]
    through: Through,
    #[command(flatten)]
    output: Output,
}

impl Simulation for Args {
    fn name(&self) -> &str {
        self.through.name()
    }

    fn output(&self) -> &Output {
        &self.output
    }

    fn prepare<'a>(&'a self, interrupt: &'a AtomicBool) -> anyhow::Result<Prepared<'a>> {
        let plan = self.asked.plan(THESIS, self.through.reverse)?;
        if plan.carrier == Carrier::Tcp {
            let what = "the kernel's TCP and its pacing are not simulated - use 'isobath mbm --lab', or --carrier udp";
            return Err(Usage::of(anyhow::anyhow!(what)));
        }
        let path = self.through.path(plan.seed, plan.ecn).map_err(Usage::of)?;
        path.check_round_trip().map_err(Usage::of)?;
        let hops = path
            .hops(&Assigned::default(), Spec::build_lazy)
            .map_err(Usage::of)?;
        let described = serde_json::to_value(&plan)?;
        Ok(Prepared {
            run: new_run("sim-mbm", described, &self.output, path.info()),
            notes: links(&path),
            simulate: Box::new(move |run, writer| {
                let bar = bar(self.output.quiet);
                let context = Context {
                    plan: &plan,
                    interrupt,
                    display: &|live| show(&bar, live),
                };
                let (outcome, work) = simulated::run(&context, hops, writer)?;
                bar.finish_and_clear();
                conclude(run, &plan, &outcome, None)?;
                Ok((outcome.ending, Some(work)))
            }),
        })
    }
}
