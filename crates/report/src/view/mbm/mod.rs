//! Runs of `isobath mbm`: what was asked of the path, and what each test says (RFC 8337).
//!
//! All but the pattern of departures and arrivals is in the summary. A run that was killed has what its rows tell.

mod arrivals;
mod asked;
mod pieces;
mod scan;
pub(crate) mod sentence;
mod sprt;
mod tested;

use crate::told;
pub(crate) use asked::Asked;
use record::{Record, Run};
use schema::mbm::Summary;
use serde::Serialize;
use serde_json::Value;
use tested::Tested;

/// What the records are called.
pub(crate) const TEST: &str = "mbm";
/// The same in virtual time.
pub(crate) const SIMULATED: &str = "sim-mbm";

/// Whether `run` is one of them.
fn is_one(run: &Run) -> bool {
    matches!(run.test.as_str(), TEST | SIMULATED)
}

/// The tests of a run.
#[derive(Serialize)]
pub(crate) struct Mbm {
    pub(crate) asked: Asked,
    pub(crate) tests: Vec<Tested>,
}

/// Reads summary and tables; `None` when the record is of another test.
pub(crate) fn read(record: &Record, run: &Run) -> Result<Option<Mbm>, record::Error> {
    if !is_one(run) {
        return Ok(None);
    }
    let (asked, summary) = (Asked::of(run), told::summary::<Summary>(run));
    let mut tests: Vec<Tested> = summary.map_or_else(Vec::new, |summary| {
        let lines = sprt::drawn(summary.lines);
        let tests = summary.tests.iter();
        tests.map(|test| Tested::of(test, &asked, lines)).collect()
    });
    for (index, (name, seen)) in arrivals::read(record, &tests)? {
        // A run that was killed has no summary: its tests are what the rows tell of them.
        while tests.len() <= index {
            tests.push(Tested::unknown());
        }
        if let Some(test) = tests.get_mut(index) {
            test.saw(&name, seen);
        }
    }
    tests.retain(Tested::is_known);
    Ok(Some(Mbm { asked, tests }))
}

/// The `run.json` of a page: without the points of walks and scans, which are in the view of it.
pub(crate) fn without_points(run: &Run) -> Run {
    let mut run = run.clone();
    if !is_one(&run) {
        return run;
    }
    let tests = run.summary.get_mut("tests").and_then(Value::as_array_mut);
    for test in tests.into_iter().flatten() {
        for (of, list) in [("figures", "walk"), ("scan", "steps")] {
            if let Some(piece) = test.get_mut(of).and_then(Value::as_object_mut) {
                piece.remove(list);
            }
        }
    }
    run
}

#[cfg(test)]
mod tests;
