//! How good the instrument was, whether the run says anything about the path, and what its reader should beware of.

use super::books::Quality;
use super::plan::Plan;
use super::run::{Outcome, Tested};
use crate::remarks::List;
use crate::rrul::quality::{INVALID, cpu_use};
use crate::rrul::run::Ending;
use mbm::diagnostic::Decider;
use record::{Instrument, Lateness, Status, Warning};
use serde_json::json;
use std::time::Duration;

/// The state of the instrument over the run.
pub(crate) fn instrument(outcome: &Outcome, emulator: Option<Duration>) -> Instrument {
    let whole = Duration::ZERO..=Duration::MAX;
    let cpu = cpu_use(&outcome.cpu, "client", &whole);
    let sender = |tested: &Tested| Some(tested.sender.quality.clone());
    let receiver = |tested: &Tested| tested.receiver.as_ref().map(|books| books.quality.clone());
    let lateness = [
        worst(outcome, "sender", sender),
        worst(outcome, "receiver", receiver),
    ];
    let mut instrument = Instrument {
        cpu: cpu.into_iter().collect(),
        lateness: lateness.into_iter().flatten().collect(),
        ..Instrument::default()
    };
    let all = || {
        let tests = outcome.tests.iter();
        tests.flat_map(move |tested| sender(tested).into_iter().chain(receiver(tested)))
    };
    let sum = |figure: fn(&Quality) -> u64| all().map(|quality| figure(&quality)).sum::<u64>();
    let mut more = |name: &str, value| {
        instrument.more.insert(name.to_owned(), value);
    };
    more("datagrams_refused", json!(sum(|q| q.refused)));
    more("socket_overflows", json!(sum(|q| q.overflows)));
    more("rows_left_out", json!(sum(|q| q.rows_left_out)));
    more(
        "clock_offset_ms",
        json!(outcome.clock.offset_ns as f64 / 1e6),
    );
    more(
        "clock_offset_error_ms",
        json!(outcome.clock.rtt_ns as f64 / 2e6),
    );
    if let Some(emulator) = emulator {
        more("emulator_cpu_s", json!(emulator.as_secs_f64()));
    }
    if let Some(far) = outcome.far {
        more("server_process_cpu_s", json!(far.process_cpu_s));
    }
    instrument
}

/// The lateness of the test that was the latest at this end.
fn worst(
    outcome: &Outcome,
    of: &str,
    quality: impl Fn(&Tested) -> Option<Quality>,
) -> Option<Lateness> {
    let times = outcome
        .tests
        .iter()
        .filter_map(|tested| quality(tested)?.late_us);
    let late_us = times.max_by(|one, other| one.p90.total_cmp(&other.p90))?;
    Some(Lateness {
        of: of.to_owned(),
        late_us,
        missed: 0,
    })
}

/// All warnings of a run.
pub(crate) fn warnings(plan: &Plan, outcome: &Outcome, instrument: &Instrument) -> Vec<Warning> {
    let mut list = List::default();
    match &outcome.ending {
        Ending::Complete => {}
        Ending::Interrupted => list.add(
            "interrupted",
            "the run was interrupted: what was left has no verdict".to_owned(),
            "run it again to the end",
        ),
        Ending::Lost(reason) => list.add(
            "server_lost",
            format!("the run ended early: {reason}"),
            "see whether 'isobath serve' still runs there, and run again",
        ),
    }
    list.processors(instrument);
    list.lateness(instrument);
    list.throttled(&outcome.cpu);
    list.emulator(&outcome.truth);
    let overflows = instrument.more["socket_overflows"].as_u64().unwrap_or(0);
    if overflows > 0 {
        list.add(
            "overflows",
            format!(
                "{overflows} datagrams found a socket's buffer full: that loss is not the path's"
            ),
            "use a faster receiver",
        );
    }
    let is_passed = |tested: &&Tested| tested.test.decider() != Decider::Losses;
    if outcome.tests.iter().any(|tested| {
        let runs = tested.receiver.as_ref().and_then(|r| r.loss.runs.as_ref());
        runs.is_some_and(|runs| runs.independent == Some(false)) && !is_passed(&tested)
    }) {
        list.add(
            "losses_in_runs",
            "losses came in runs, and the model takes them as independent".to_owned(),
            "the verdict is as cautious as ever, the loss rate's interval is too narrow; see loss.runs of each test",
        );
    }
    if plan.target.spec().derating.is_some() {
        list.add(
            "derated",
            "the test is milder than the model".to_owned(),
            "say so with its result (RFC 8337 section 5.3)",
        );
    }
    list.0
}

/// Whether the run was complete, and whether the instrument was up to it.
pub(crate) fn status(plan: &Plan, outcome: &Outcome, warnings: &[Warning]) -> Status {
    let has = |codes: &[&str]| warnings.iter().any(|w| codes.contains(&w.code.as_str()));
    let done = outcome.tests.len();
    let is_whole = matches!(outcome.ending, Ending::Complete) && done == plan.tests.len();
    match (is_whole, done) {
        (false, 0) if !matches!(outcome.ending, Ending::Interrupted) => Status::Failed,
        (false, _) => Status::Incomplete,
        (true, _) if has(&INVALID) || has(&["overflows"]) => Status::Invalid,
        (true, _) => Status::Complete,
    }
}
