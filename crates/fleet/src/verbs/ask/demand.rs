//! An estimate that is measured when it is asked for.

use super::CLOCKS_APART;
use crate::account::overdue;
use crate::agent::wall;
use crate::bus::Bus;
use crate::estimates::Asked;
use crate::messages::Demand;
use crate::outcome::{Became, Outcome};
use crate::revisions::{Due, Revisions};
use crate::schedule::{Plan, Planned, Renumber};
use crate::{Moment, Name, RunId};
use anyhow::{anyhow, bail};
use kit::bar;
use std::sync::Arc;
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
    is_quiet: bool,
) -> anyhow::Result<Outcome> {
    let (mut revisions, found) = choose(asked, fleets, wall())?;
    if found.plan.has_budget(&found.run) {
        let others = taken(bus, &mut revisions, &found).await?;
        if let Some(why) = found.plan.without_budget(&found.run, &others) {
            bail!("{why}");
        }
    }
    // Now, whatever that took.
    let run = RunId {
        instant: wall(),
        ..found.id()
    };
    let due = revisions.on_demand(&run).map_err(|why| anyhow!(why))?;
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

/// A run that will do, of the first fleet that has one.
fn choose(
    asked: &Asked,
    fleets: Vec<(Name, Revisions)>,
    now: Moment,
) -> anyhow::Result<(Revisions, Due)> {
    let what = asked.what.name();
    let mut why = None;
    for (name, revisions) in fleets {
        let plan = revisions.plan(now).into_iter();
        let measures = plan.flat_map(|plan| &plan.file().measures);
        let measures = measures.filter(|measure| measure.estimates(what));
        let mut found = measures.map(|measure| {
            let [from, to] = measure.ends(asked.ends.clone());
            let id = RunId {
                fleet: name.clone(),
                measure: measure.name.clone(),
                from,
                to,
                instant: now,
            };
            revisions.on_demand(&id)
        });
        let mut refused = None;
        let due =
            found.find_map(|found| found.map_err(|why| refused.get_or_insert(why).clone()).ok());
        drop(found);
        // The first reason is the best that there is to tell.
        why = why.or(refused);
        if let Some(due) = due {
            return Ok((revisions, due));
        }
    }
    let [from, to] = &asked.ends;
    let why = why.unwrap_or_else(|| {
        format!("add a measurement with run = \"estimate {what}\" and on_demand = true to the file of a fleet that is not paused")
    });
    Err(anyhow!(
        "'{what}' from '{from}' to '{to}' cannot be measured now: {why}"
    ))
}

/// What the day of `due` has besides: the schedule's runs, and those on demand that have begun and are over.
async fn taken(bus: &Bus, revisions: &mut Revisions, due: &Due) -> anyhow::Result<Vec<Planned>> {
    let day = due.run.instant.day();
    let planned = revisions.between(day.begins(), day.ends());
    let mut taken = Vec::with_capacity(planned.len());
    // By the numbers of this plan; most are of it.
    let mut latest: Option<(Arc<Plan>, Renumber)> = None;
    for other in &planned {
        if Arc::ptr_eq(&other.plan, &due.plan) {
            taken.push(other.run);
            continue;
        }
        if !latest
            .as_ref()
            .is_some_and(|(plan, _)| Arc::ptr_eq(plan, &other.plan))
        {
            let renumber = due.plan.renumber(&other.plan);
            latest = Some((Arc::clone(&other.plan), renumber));
        }
        let renumber = latest.as_ref().map(|(_, renumber)| renumber);
        taken.extend(renumber.and_then(|renumber| renumber.of(&other.run)));
    }
    let since = Moment::from_millis(day.begins().as_millis().saturating_sub(CLOCKS_APART));
    let file = due.plan.file();
    for measure in &file.measures {
        let told = bus.outcomes_of_measure(&file.name, &measure.name, since);
        for told in told.await? {
            let outcome = &told.outcome;
            let counts = outcome.on_demand && outcome.began.is_some();
            let is_of_day = (day.begins()..day.ends()).contains(&outcome.run.instant);
            if counts && is_of_day && !revisions.is_forged(&told) {
                taken.extend(due.plan.at_its_instant(&outcome.run));
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
        let told = bus.outcome(&run).await;
        if let Ok(Some(told)) = told {
            if revisions.is_forged(&told) {
                break Err(anyhow!("the outcome of {run} is not signed by its host"));
            }
            break Ok(told.outcome);
        }
        if now > overdue(due) {
            // NATS may have been away for a while, which does not end the run.
            let why = told.err().map_or_else(
                || "'isobath fleet status' shows whether its hosts are there".to_owned(),
                |error| error.to_string(),
            );
            break Err(anyhow!("nobody has said what became of {run} - {why}"));
        }
        let passed = now.since(due.run.begins).as_secs_f64();
        bar::show(&bar, passed / takes.0.as_secs_f64());
        tokio::time::sleep(LOOK).await;
    };
    bar.finish_and_clear();
    result
}
