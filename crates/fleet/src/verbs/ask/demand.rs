//! An estimate that is measured when it is asked for.

use crate::account::overdue;
use crate::agent::wall;
use crate::bus::Bus;
use crate::estimates::Asked;
use crate::messages::Demand;
use crate::outcome::{Became, Outcome};
use crate::revisions::{Due, Revisions};
use crate::schedule::Planned;
use crate::{Moment, Name, RunId};
use anyhow::{anyhow, bail};
use kit::bar;
use std::collections::HashSet;
use std::time::Duration;

/// How often it is looked whether the run is over.
const LOOK: Duration = Duration::from_millis(250);

/// Has one of the `fleets` measure what is asked, and waits for what becomes of it.
///
/// # Errors
/// When no fleet may, the hosts will not, or the run is not complete.
pub(super) async fn measure(
    bus: &Bus,
    asked: &Asked,
    fleets: Vec<(Name, Revisions)>,
    now: Moment,
    is_quiet: bool,
) -> anyhow::Result<Outcome> {
    let (mut revisions, due) = choose(asked, fleets, now)?;
    if due.plan.has_budget(&due.run) {
        let others = taken(bus, &mut revisions, &due, now).await?;
        if let Some(why) = due.plan.without_budget(&due.run, &others) {
            bail!("{why}");
        }
    }
    let run = due.id();
    let demand = Demand { run: run.clone() };
    // Whoever lets in must know of it before the other knocks.
    for host in [&run.to, &run.from] {
        bus.demand(host, &demand).await?;
    }
    let outcome = follow(bus, &revisions, &due, is_quiet).await?;
    if outcome.status != Became::Complete {
        let reason = outcome.reason.unwrap_or_default();
        bail!("run {run} is {}: {reason}", outcome.status);
    }
    Ok(outcome)
}

/// The run that will do, of the first fleet that has one.
fn choose(
    asked: &Asked,
    fleets: Vec<(Name, Revisions)>,
    now: Moment,
) -> anyhow::Result<(Revisions, Due)> {
    let mut why = None;
    for (name, revisions) in fleets {
        let Some(plan) = revisions.plan(now) else {
            why.get_or_insert_with(|| format!("fleet '{name}' is paused"));
            continue;
        };
        let measures = plan.file().measures.iter();
        let measures = measures.filter(|measure| measure.estimates(asked.what.name()));
        let found = measures.map(|measure| {
            let [from, to] = asked.ends.clone();
            let [from, to] = if measure.is_reverse() {
                [to, from]
            } else {
                [from, to]
            };
            let id = RunId {
                fleet: name.clone(),
                measure: measure.name.clone(),
                from,
                to,
                instant: now,
            };
            revisions.on_demand(&id)
        });
        // What the first says of why not is the best that there is to say.
        let mut found: Vec<_> = found.collect();
        if let Some(index) = found.iter().position(Result::is_ok)
            && let Ok(due) = found.swap_remove(index)
        {
            return Ok((revisions, due));
        }
        why = why.or_else(|| found.into_iter().find_map(Result::err));
    }
    let [from, to] = &asked.ends;
    let what = asked.what.name();
    let why = why.unwrap_or_else(|| {
        format!("add a measurement with run = \"estimate {what}\" and on_demand = true to the fleet file")
    });
    Err(anyhow!(
        "'{what}' from '{from}' to '{to}' cannot be measured now: {why}"
    ))
}

/// What the day of `due` has besides: the schedule's runs, and those on demand that are over.
async fn taken(
    bus: &Bus,
    revisions: &mut Revisions,
    due: &Due,
    now: Moment,
) -> anyhow::Result<Vec<Planned>> {
    let day = now.day();
    let planned = revisions.between(day.begins(), day.ends());
    let scheduled: HashSet<RunId> = planned.iter().map(Due::id).collect();
    // Those of earlier revisions of the day, too, by the numbers of this one.
    let by_this = |other: &RunId| due.plan.at_its_instant(other).ok();
    let mut taken: Vec<Planned> = scheduled.iter().filter_map(by_this).collect();
    let file = due.plan.file();
    let measures = file.measures.iter().filter(|measure| measure.on_demand);
    for measure in measures {
        let told = bus.outcomes_of_measure(&file.name, &measure.name, day.begins());
        for told in told.await? {
            let run = &told.outcome.run;
            let is_other = !scheduled.contains(run) && run.instant >= day.begins();
            if is_other && let Ok(run) = due.plan.on_demand(run) {
                taken.push(run);
            }
        }
    }
    Ok(taken)
}

/// What becomes of a run.
async fn follow(
    bus: &Bus,
    revisions: &Revisions,
    due: &Due,
    is_quiet: bool,
) -> anyhow::Result<Outcome> {
    let run = due.id();
    let takes = due.plan.measure(&due.run).takes;
    let template = "measuring {wide_bar} {msg}";
    let bar = bar::bar(template, Some(bar::STEPS), is_quiet);
    bar.set_message(format!("{run}, takes up to {}", takes.words()));
    let result = loop {
        let now = wall();
        if let Some(told) = bus.outcome(&run).await? {
            if revisions.is_forged(&told) {
                break Err(anyhow!("the outcome of {run} is not signed by its host"));
            }
            break Ok(told.outcome);
        }
        if now > overdue(due) {
            break Err(anyhow!(
                "nobody has said what became of {run} - 'isobath fleet status' shows whether its hosts are there"
            ));
        }
        let passed = now.since(due.run.begins).as_secs_f64();
        bar::show(&bar, passed / takes.0.as_secs_f64());
        tokio::time::sleep(LOOK).await;
    };
    bar.finish_and_clear();
    result
}
