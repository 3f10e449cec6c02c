//! The same estimators in virtual time.

use super::messages::Sent;
use super::methods::{self, Carry};
use super::plan::Plan;
use super::run::Outcome;
use super::traffic::Traffic;
use kit::ending::Ending;
use probe::train::{Passage, Train};
use record::RecordWriter;
use session::ClockOffset;
use sim::Probing;
use std::time::Duration;
use units::Instant;

/// A path of values in memory, and the counters of what went over it.
struct Simulated<'a> {
    path: Probing,
    traffic: Traffic,
    record: &'a mut RecordWriter,
    /// Time that passed without trains.
    rested: Instant,
}

/// Carries the plan out over `path`.
///
/// # Errors
/// When the record cannot be written.
pub fn run(
    plan: &Plan,
    path: Probing,
    record: &mut RecordWriter,
) -> Result<Outcome, record::Error> {
    let mut simulated = Simulated {
        path,
        traffic: Traffic::default(),
        record,
        rested: Instant::ZERO,
    };
    let finding = methods::find(plan, &mut simulated)?;
    simulated.record.flush()?;
    Ok(Outcome {
        ending: Ending::Complete,
        finding,
        seconds: simulated.now().since(Instant::ZERO).as_secs_f64(),
        path_mtu: None,
        traffic: simulated.traffic,
        quality: Vec::new(),
        gap_error_ns: None,
        cpu: Vec::new(),
        truth: Vec::new(),
        clock: ClockOffset {
            offset_ns: 0,
            rtt_ns: 0,
        },
        far: None,
    })
}

impl Carry for Simulated<'_> {
    type Error = record::Error;

    fn carry(&mut self, train: &Train, not_before: Instant) -> Result<Passage, record::Error> {
        let passage = self.path.carry(train, not_before.max(self.rested));
        let lasted_ns = u64::try_from(passage.lasted.as_nanos()).unwrap_or(u64::MAX);
        let sent = Sent {
            count: passage.sent,
            lasted_ns,
            worst_ns: 0,
        };
        let place = |ns: u64, is_senders: bool| {
            if is_senders {
                ns
            } else {
                Probing::to_sender(ns)
            }
        };
        let now = self.path.now().as_nanos();
        self.traffic.enter(train, &passage, sent, now, place);
        self.traffic.hand_over(self.record)?;
        Ok(passage)
    }

    fn now(&self) -> Instant {
        self.path.now().max(self.rested)
    }

    fn rest(&mut self, time: Duration) -> Result<(), record::Error> {
        self.rested = self.now() + time;
        Ok(())
    }
}
