//! `isobath fleet ask WHAT FROM TO`.

use super::{OPERATOR, of_kept};
use crate::agent::wall;
use crate::bus::{Access, Bus};
use crate::estimates::{Asked, Estimates, MAX_AGE};
use crate::{Moment, Name};
use kit::usage::print;
use schema::estimate::plan::What;
use std::collections::BTreeMap;
use units::Span;

/// What to ask for, and how good it must be.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Property of the path.
    what: What,
    /// Host where the path begins.
    from: Name,
    /// Host where it ends.
    to: Name,
    #[command(flatten)]
    access: Access,
    /// Ask this fleet only [default: all].
    #[arg(long)]
    fleet: Option<Name>,
    /// Maximum age of the estimate.
    #[arg(long, value_name = "TIME", default_value_t = Span(MAX_AGE))]
    max_age: Span,
    /// Maximum half-width of the interval, in percent of the value.
    #[arg(long, value_name = "PERCENT")]
    within: Option<f64>,
    /// Print the answer as one JSON object.
    #[arg(long)]
    json: bool,
}

/// Exit status of an answer that is not conclusive.
const INCONCLUSIVE: u8 = 5;

pub(super) async fn run(args: &Args) -> anyhow::Result<u8> {
    let bus = Bus::open(&args.access, OPERATOR).await?;
    let now = wall();
    let max_age = args.max_age.0;
    let oldest = u64::try_from(max_age.as_millis()).unwrap_or(u64::MAX);
    let oldest = Moment::from_millis(now.as_millis().saturating_sub(oldest));
    let mut fleets = BTreeMap::new();
    for (name, kept) in bus.fleets().await? {
        fleets.insert(name, of_kept(kept)?);
    }
    let mut known = Estimates::default();
    for told in bus.outcomes(args.fleet.as_ref(), oldest).await? {
        let revisions = fleets.get(&told.outcome.run.fleet);
        if revisions.is_some_and(|revisions| !revisions.is_forged(&told)) {
            known.take(&told.outcome);
        }
    }
    let asked = Asked {
        what: args.what,
        ends: [args.from.clone(), args.to.clone()],
        fleet: args.fleet.clone(),
        max_age,
        within_pct: args.within,
    };
    let answer = known.answer(&asked, now)?;
    if args.json {
        print(&serde_json::to_string(&answer)?)?;
    } else {
        print(&answer.words())?;
    }
    Ok(if answer.conclusive { 0 } else { INCONCLUSIVE })
}
