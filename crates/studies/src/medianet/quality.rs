//! How good the instrument was, and what the reader should beware of.

use super::run::Outcome;
use super::summary::Summary;
use kit::ending::Ending;
use kit::instrument;
use kit::instrument::{Measured, of_client};
use kit::warnings::List;
use record::{Instrument, Status, Warning};
use serde_json::json;
use std::time::Duration;

/// The state of the instrument over the run. `emulator` is what the lab took of the processors.
pub fn instrument(outcome: &Outcome, emulator: Duration) -> Instrument {
    let mut instrument = of_client(&outcome.cpu);
    let emulator = json!(emulator.as_secs_f64());
    instrument
        .more
        .insert("emulator_cpu_s".to_owned(), emulator);
    instrument
}

/// All warnings of a run.
pub fn warnings(outcome: &Outcome, summary: &Summary, instrument: &Instrument) -> Vec<Warning> {
    let mut list = List::default();
    match &outcome.ending {
        Ending::Lost(reason) => list.add(
            "broken",
            format!("the run broke off ({reason}): the figures are of what was sent until then"),
            "run it again; 'isobath lab calibrate' tells whether this machine can emulate the lab",
        ),
        ending => list.ending(ending, "the figures are of what was sent until then"),
    }
    list.instrument(instrument, &outcome.cpu, &summary.links);
    if summary
        .estimates
        .as_ref()
        .is_some_and(|all| all.completed == 0)
    {
        list.add(
            "no_estimates",
            "no estimate came to an end that can be believed".to_owned(),
            "the streams adapted by reports alone; measure for longer",
        );
    }
    list.0
}

/// Whether the run was complete, and whether the instrument was up to it.
pub fn status(ending: &Ending, warnings: &[Warning]) -> Status {
    instrument::status(ending, Measured::All, warnings, &[])
}
