//! How good the instrument was, whether the run says anything, and what its reader should beware of.

use super::run::Outcome;
use kit::ending::Ending;
use kit::instrument;
use kit::instrument::{Measured, of_client};
use kit::warnings::List;
use record::{Instrument, Status, Warning};
use serde_json::json;
use std::time::Duration;

/// The state of the instrument over the run.
pub fn instrument(outcome: &Outcome, emulator: Duration) -> Instrument {
    let mut instrument = of_client(&outcome.cpu);
    let figures = [
        ("emulator_cpu_s", json!(emulator.as_secs_f64())),
        ("gap_error_ns", json!(outcome.gap_error_ns)),
        ("captured_bytes", json!(outcome.captured_bytes)),
        ("counted_bytes", json!(outcome.counted_bytes)),
        ("uncaptured", json!(outcome.uncaptured)),
        ("unmatched", json!(outcome.unmatched)),
    ];
    for (name, figure) in figures {
        instrument.more.insert(name.to_owned(), figure);
    }
    instrument
}

/// The same in virtual time.
pub fn simulated(outcome: &Outcome) -> Instrument {
    let mut instrument = Instrument::default();
    let figures = [
        ("captured_bytes", json!(outcome.captured_bytes)),
        ("counted_bytes", json!(outcome.counted_bytes)),
    ];
    for (name, figure) in figures {
        instrument.more.insert(name.to_owned(), figure);
    }
    instrument
}

/// All warnings of a run.
pub fn warnings(outcome: &Outcome, instrument: &Instrument) -> Vec<Warning> {
    let mut list = List::default();
    match &outcome.ending {
        Ending::Lost(reason) => list.add(
            "broken_off",
            format!("the trial was broken off: {reason}"),
            "run it again; what was found until then is in the record",
        ),
        ending => list.ending(ending, "the figures are of a part of it"),
    }
    list.instrument(instrument, &outcome.cpu, &outcome.truth);
    if outcome.uncaptured > 0 {
        list.add(
            "capture_lost",
            format!(
                "{} packets are missing from the lab's captures",
                outcome.uncaptured
            ),
            "use a faster host, or one that does less: who sent what is not known",
        );
    }
    list.0
}

/// Whether the run was complete, and whether the instrument was up to it.
pub fn status(outcome: &Outcome, warnings: &[Warning]) -> Status {
    let measured = match &outcome.ending {
        Ending::Lost(_) if outcome.tables.source.is_empty() => Measured::Nothing,
        _ => Measured::All,
    };
    instrument::status(&outcome.ending, measured, warnings, &["capture_lost"])
}
