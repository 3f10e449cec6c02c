//! `isobath fleet ask WHAT FROM TO`.

mod demand;

use super::{CLOCKS_APART, OPERATOR, of_kept, revisions};
use crate::agent::wall;
use crate::bus::{Access, Bus};
use crate::estimates::{Asked, Estimates, MAX_AGE};
use crate::revisions::Revisions;
use crate::{Moment, Name};
use anyhow::Context as _;
use kit::query::percent;
use kit::usage::{plain, print};
use schema::estimate::plan::What;
use std::io::Write as _;
use std::time::Duration;
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
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    within: Option<f64>,
    /// Measure now if no known estimate is recent and accurate enough.
    #[arg(
        long,
        help = "Measure now if no known estimate is recent and accurate enough; requires a measurement with on_demand = true in the fleet file"
    )]
    measure: bool,
    /// Print the answer as one JSON object.
    #[arg(long)]
    json: bool,
    /// Hide the progress bar.
    #[arg(long, short)]
    quiet: bool,
}

/// Exit status of an answer that is not conclusive.
const INCONCLUSIVE: u8 = 5;

/// What is too old for an answer is looked at, too: to be told of.
const LOOK_BACK: Duration = Duration::from_secs(86_400);

pub(super) async fn run(args: &Args) -> anyhow::Result<u8> {
    let bus = Bus::open(&args.access, OPERATOR).await?;
    let now = wall();
    let max_age = args.max_age.0;
    let fleets = fleets(&bus, args.fleet.as_ref()).await?;
    let known = known(&bus, args, &fleets, now).await?;
    let asked = Asked {
        what: args.what,
        ends: [args.from.clone(), args.to.clone()],
        fleet: args.fleet.clone(),
        max_age,
        within_pct: args.within,
    };
    let answer = match known.answer(&asked, now) {
        Err(_) if args.measure => {
            let outcome = demand::measure(&bus, &asked, fleets, args.quiet).await?;
            let now = wall();
            // Nothing older will do instead, and however long it took to hand over, it is new.
            let mut known = Estimates::default();
            known.take(&outcome, now);
            let asked = Asked {
                max_age: Duration::MAX,
                ..asked
            };
            let too_wide = "it was measured just now - accept a less accurate estimate, or use another estimator";
            known.answer(&asked, now).context(too_wide)?
        }
        answer => answer?,
    };
    if args.json {
        print(&serde_json::to_string(&answer)?)?;
    } else {
        print(&answer.words())?;
    }
    Ok(if answer.conclusive { 0 } else { INCONCLUSIVE })
}

/// What is known of the pair, either way: a far end can send, too.
async fn known(
    bus: &Bus,
    args: &Args,
    fleets: &[(Name, Revisions)],
    now: Moment,
) -> anyhow::Result<Estimates> {
    let back = u64::try_from(args.max_age.0.max(LOOK_BACK).as_millis()).unwrap_or(u64::MAX);
    // What ended since then by the agents' clocks came later by the server's, which differs less than this.
    let back = back.saturating_add(CLOCKS_APART);
    let since = Moment::from_millis(now.as_millis().saturating_sub(back));
    let mut known = Estimates::default();
    for (name, revisions) in fleets {
        for pair in [[&args.from, &args.to], [&args.to, &args.from]] {
            for told in bus.outcomes_of_pair(Some(name), pair, since).await? {
                if revisions.may_plan(&told.outcome.run) && !revisions.is_forged(&told) {
                    known.take(&told.outcome, now);
                }
            }
        }
    }
    Ok(known)
}

/// The one fleet that is asked, or all. Of these, another version's is not this one's to judge: it is left out, and said to be.
async fn fleets(bus: &Bus, only: Option<&Name>) -> anyhow::Result<Vec<(Name, Revisions)>> {
    if let Some(only) = only {
        let (revisions, _) = revisions(bus, only).await?;
        return Ok(vec![(only.clone(), revisions)]);
    }
    let mut fleets = Vec::new();
    for (name, kept) in bus.fleets().await? {
        match of_kept(kept) {
            Ok(revisions) => fleets.push((name, revisions)),
            Err(error) => {
                let error = format!("fleet '{name}' is left out: {error:#}");
                let _ = writeln!(std::io::stderr(), "{}", plain(&error));
            }
        }
    }
    Ok(fleets)
}
