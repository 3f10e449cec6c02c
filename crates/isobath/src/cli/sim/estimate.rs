//! `isobath sim estimate`: an estimator over a path of values in memory.

use super::super::estimate::Asked;
use super::described::Described;
use crate::virtual_time::bounds;
use estimate::{scorecard, simulate, summary};
use jiff::Timestamp;
use kit::host;
use kit::options::Output;
use kit::usage::Usage;
use record::{Run, Status, Verdict};
use schema::estimate::plan::Method;
use serde_json::json;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    asked: Asked,
    #[command(flatten)]
    described: Described,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let plan = args.asked.plan(args.described.reverse)?;
    if plan.method == Method::Hops {
        let what =
            "there are no routers to ask in virtual time - use 'isobath estimate bottleneck --lab'";
        return Err(Usage::of(anyhow::anyhow!(what)));
    }
    if plan.method.rides() {
        return Err(Usage::of(anyhow::anyhow!(
            "there are no packets of applications in virtual time - use 'isobath estimate --by'"
        )));
    }
    let path = args.described.path(plan.seed, false).map_err(Usage::of)?;
    bounds::check_round_trip(&path).map_err(Usage::of)?;
    let mut described = serde_json::to_value(&plan)?;
    described["note"] = json!(args.output.note);
    let mut run = Run::new("sim-estimate", Timestamp::now(), described);
    run.path = path.info();
    run.hosts = vec![host::facts("client")];
    let mut opened = args.output.open(args.described.name(), &run)?;
    let outcome = simulate::run(&plan, path.probing()?, &mut opened.writer);
    let outcome = outcome.inspect_err(|_| opened.undo())?;
    run.summary = serde_json::to_value(summary::summarise(&plan, &outcome))?;
    run.status = Status::Complete;
    run.verdict = (!outcome.finding.conclusive).then_some(Verdict::Inconclusive);
    let dir = opened.writer.dir().to_owned();
    opened.writer.finish(&run)?;
    args.output.tell(&run, &dir, || {
        let summary = serde_json::from_value(run.summary.clone())?;
        Ok(scorecard::scorecard(&run, &summary) + &super::links(&path))
    })?;
    Ok(run.exit_status())
}
