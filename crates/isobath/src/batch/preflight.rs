//! What can be found wrong with a batch before its first run is found now, not in the middle of the night.

use super::file::BatchFile;
use super::inputs;
use super::matrix::Cell;
use super::parameters::shown;
use super::state::State;
use anyhow::{Context as _, anyhow};
use kit::pool::error::Error;
use lab::profiles;
use schema::rrul::Plan;
use session::AccessKey;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use units::Span;

/// Holds the key of every host that names no variable of its own.
pub(crate) const KEY: &str = "ISOBATH_KEY";

/// Whether the command line takes these arguments, and if not, why.
pub(crate) type Takes<'a> = dyn Fn(&[String]) -> anyhow::Result<()> + 'a;

/// What a measurement is reckoned with that does not say how long it takes.
const UNKNOWN: Duration = Duration::from_secs(10);

/// How long the plan of each cell takes. Finds out on the way whether every cell could be run.
pub(crate) fn durations(
    state: &State,
    batch: &BatchFile,
    takes: &Takes<'_>,
) -> anyhow::Result<Vec<Duration>> {
    let path = |name: &str| {
        let file = inputs::is_file(name).then(|| state.home().join(name));
        file.map_or_else(|| name.to_owned(), |file| file.display().to_string())
    };
    for lab in &batch.labs {
        profiles::find(&path(lab))?;
    }
    let plans: BTreeMap<_, _> = batch
        .plans
        .iter()
        .map(|name| Ok((name, rrul::catalogue::find(&path(name))?)))
        .collect::<anyhow::Result<_>>()?;
    let checked = state.cells.iter().map(|entry| {
        let cell = &entry.cell;
        check(cell, batch, takes).with_context(|| cell.title())?;
        let total = match plans.get(&cell.plan) {
            Some(plan) => total(cell, batch, plan),
            None => Ok(duration(cell, batch).unwrap_or(UNKNOWN)),
        };
        total.map_err(|what| anyhow!("{}: {what}", cell.title()))
    });
    checked.collect()
}

/// Whether the measurement would take the cell's options.
fn check(cell: &Cell, batch: &BatchFile, takes: &Takes<'_>) -> anyhow::Result<()> {
    takes(&cell.arguments(batch, Path::new("x")))?;
    if let Some(cc) = cell.parameters.get("cc") {
        sys::tcp::try_congestion(&shown(cc))?;
    }
    Ok(())
}

/// How long the cell's plan takes with the cell's duration.
fn total(cell: &Cell, batch: &BatchFile, plan: &Plan) -> Result<Duration, String> {
    let mut plan = plan.clone();
    if let Some(duration) = duration(cell, batch) {
        plan.duration = Span(duration);
    }
    plan.check()?;
    Ok(plan.total())
}

/// The duration that the cell or the batch gives its runs.
fn duration(cell: &Cell, batch: &BatchFile) -> Option<Duration> {
    let own = cell.parameters.get("duration").map(shown);
    let own = own.and_then(|text| {
        let seconds = text.parse().map(Duration::from_secs).ok().map(Span);
        text.parse().ok().or(seconds)
    });
    own.or(batch.duration).map(|span| span.0)
}

/// The access keys of the hosts, from the environment. One that was not asked for by name may be missing: some servers are
/// open to all.
pub(crate) fn keys(batch: &BatchFile) -> anyhow::Result<BTreeMap<String, String>> {
    let mut keys = BTreeMap::new();
    for host in &batch.hosts {
        let variable = host.key_env.as_deref().unwrap_or(KEY);
        match std::env::var(variable) {
            Ok(key) => {
                let checked = key.parse::<AccessKey>();
                checked.with_context(|| format!("{variable} in the environment"))?;
                keys.insert(host.host.clone(), key);
            }
            Err(_) if host.key_env.is_none() => {}
            Err(_) => {
                return Err(Error::Key {
                    variable: variable.to_owned(),
                    host: host.host.clone(),
                }
                .into());
            }
        }
    }
    Ok(keys)
}
