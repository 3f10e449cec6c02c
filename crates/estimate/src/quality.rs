//! How good the instrument was, whether the run says anything about the path, and what its reader should beware of.

use super::run::Outcome;
use kit::datagrams::Quality;
use kit::ending::Ending;
use kit::instrument;
use kit::instrument::{Measured, between_hosts, latest, of_client};
use kit::warnings::List;
use record::{Instrument, Status, Verdict, Warning};
use serde_json::json;
use std::time::Duration;

/// The state of the instrument over the run.
pub fn instrument(outcome: &Outcome, emulator: Option<Duration>) -> Instrument {
    let far = outcome.far.as_ref();
    let near = || outcome.quality.iter();
    let all = || near().chain(far.map(|far| &far.quality));
    let lateness = [
        latest("client".to_owned(), near().filter_map(|q| q.late_us)),
        latest(
            "server".to_owned(),
            far.and_then(|far| far.quality.late_us).into_iter(),
        ),
    ];
    let mut instrument = Instrument {
        lateness: lateness.into_iter().flatten().collect(),
        ..of_client(&outcome.cpu)
    };
    let sum = |figure: fn(&Quality) -> u64| all().map(figure).sum::<u64>();
    // Whichever end sent.
    let gaps = far
        .and_then(|far| far.gap_error_ns)
        .or(outcome.gap_error_ns);
    let figures = [
        ("datagrams_refused", json!(sum(|q| q.refused))),
        ("socket_overflows", json!(sum(|q| q.overflows))),
        ("rows_left_out", json!(outcome.traffic.rows_left_out)),
        ("gap_error_ns", json!(gaps)),
    ];
    for (name, figure) in figures {
        instrument.more.insert(name.to_owned(), figure);
    }
    let server = far.map(|far| far.process_cpu_s);
    between_hosts(&mut instrument, outcome.clock, emulator, server);
    instrument
}

/// All warnings of a run.
pub fn warnings(outcome: &Outcome, instrument: &Instrument) -> Vec<Warning> {
    let mut list = List::default();
    list.ending(&outcome.ending, "there is no estimate");
    list.instrument(instrument, &outcome.cpu, &outcome.truth);
    let overflows = instrument.more["socket_overflows"].as_u64().unwrap_or(0);
    if overflows > 0 {
        list.add(
            "overflows",
            format!("{overflows} probes found a socket's buffer full: that loss is not the path's"),
            "use a faster receiver",
        );
    }
    list.0
}

/// Whether the run was complete, and whether the instrument was up to it.
pub fn status(outcome: &Outcome, warnings: &[Warning]) -> Status {
    let measured = match (&outcome.ending, outcome.traffic.trains) {
        (Ending::Lost(_), 0) => Measured::Nothing,
        _ => Measured::All,
    };
    instrument::status(&outcome.ending, measured, warnings, &["overflows"])
}

/// What the exit status is to say: nothing of a figure, and that there is none.
pub fn verdict(outcome: &Outcome, status: Status) -> Option<Verdict> {
    match status {
        Status::Complete if outcome.finding.conclusive => None,
        Status::Complete => Some(Verdict::Inconclusive),
        _ => None,
    }
}
