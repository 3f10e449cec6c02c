//! How good the instrument was, whether the run says anything about the path, and what its reader should beware of.

use super::plan::Plan;
use super::run::{Outcome, Tested};
use kit::datagrams::Quality;
use kit::instrument;
use kit::instrument::{Measured, between_hosts, latest, of_client};
use kit::warnings::List;
use mbm::diagnostic::Decider;
use record::{Instrument, Status, Warning};
use serde_json::json;
use std::time::Duration;
use units::Rate;

/// Several streams at once are not recommended below "several Mbit/s" (RFC 8337 section 6.4).
const SLOW_FOR_STREAMS_BPS: u64 = 3_000_000;

/// The state of the instrument over the run.
pub fn instrument(outcome: &Outcome, emulator: Option<Duration>) -> Instrument {
    let senders = || outcome.tests.iter().map(|tested| &tested.sender.quality);
    let counters = || {
        let tests = outcome.tests.iter();
        tests.filter_map(|tested| tested.receiver.as_ref())
    };
    let receivers = || counters().map(|counters| &counters.quality);
    let lateness = [
        latest("sender".to_owned(), senders().filter_map(|q| q.late_us)),
        latest("receiver".to_owned(), receivers().filter_map(|q| q.late_us)),
    ];
    let mut instrument = Instrument {
        lateness: lateness.into_iter().flatten().collect(),
        ..of_client(&outcome.cpu)
    };
    let sum = |figure: fn(&Quality) -> u64| senders().chain(receivers()).map(figure).sum::<u64>();
    let mut more = |name: &str, value| {
        instrument.more.insert(name.to_owned(), value);
    };
    more("datagrams_refused", json!(sum(|q| q.refused)));
    more("socket_overflows", json!(sum(|q| q.overflows)));
    more("rows_left_out", json!(sum(|q| q.rows_left_out)));
    let server = outcome.far.map(|far| far.process_cpu_s);
    between_hosts(&mut instrument, outcome.clock, emulator, server);
    instrument
}

/// All warnings of a run.
pub fn warnings(plan: &Plan, outcome: &Outcome, instrument: &Instrument) -> Vec<Warning> {
    let mut list = List::default();
    list.ending(&outcome.ending, "what was left has no verdict");
    list.instrument(instrument, &outcome.cpu, &outcome.truth);
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
    if outcome.tests.iter().any(has_losses_in_runs) {
        list.add(
            "losses_in_runs",
            "losses came in runs, and the model takes them as independent".to_owned(),
            "the verdict is as cautious as ever, the loss rate's interval is too narrow; see loss.runs of each test",
        );
    }
    let spec = plan.target.spec();
    if has_slow_streams(plan.streams, spec.rate) {
        list.add(
            "streams_slow",
            format!(
                "{} streams at once of {} each: so slow ones are not recommended (RFC 8337 section 6.4)",
                plan.streams, spec.rate
            ),
            "test one stream of the rate of all",
        );
    }
    if spec.derating.is_some() {
        list.add(
            "derated",
            "the test is milder than the model".to_owned(),
            "say so with its result (RFC 8337 section 5.3)",
        );
    }
    list.0
}

/// Whether several streams at once are slower than is recommended.
const fn has_slow_streams(streams: u16, rate: Rate) -> bool {
    streams > 1 && rate.as_bps() < SLOW_FOR_STREAMS_BPS
}

/// Whether a test whose verdict rests on losses saw them in runs.
fn has_losses_in_runs(tested: &Tested) -> bool {
    let counters = tested.receiver.as_ref();
    let runs = counters.and_then(|counters| counters.loss.runs.as_ref());
    tested.test.decider() == Decider::Losses
        && runs.is_some_and(|runs| runs.independent == Some(false))
}

/// Whether the run was complete, and whether the instrument was up to it.
pub fn status(plan: &Plan, outcome: &Outcome, warnings: &[Warning]) -> Status {
    let measured = Measured::of(outcome.tests.len(), plan.results());
    instrument::status(&outcome.ending, measured, warnings, &["overflows"])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds mbm/streams-low-rates.
    #[test]
    fn several_streams_below_several_megabits_are_warned_of() {
        let slow = |streams, rate: &str| has_slow_streams(streams, rate.parse().unwrap());
        assert!(slow(2, "2.9Mbit") && slow(40, "100kbit"));
        assert!(!slow(1, "100kbit") && !slow(2, "3Mbit") && !slow(4, "1Gbit"));
    }
}
