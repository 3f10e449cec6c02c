//! The same estimators in virtual time.

use super::messages::Sent;
use super::methods::{self, Carry};
use super::plan::Plan;
use super::run::Outcome;
use super::traffic::Traffic;
use kit::control::Broken;
use kit::ending::Ending;
use probe::train::{Passage, Train};
use record::RecordWriter;
use schema::estimate::Finding;
use session::ClockOffset;
use sim::Probing;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use units::Instant;

/// A path of values in memory, and the counters of what went over it.
struct Simulated<'a> {
    path: Probing,
    traffic: Traffic,
    interrupt: &'a AtomicBool,
    record: &'a mut RecordWriter,
    /// Time that passed without trains.
    rested: Instant,
}

/// Carries the plan out over `path`, until it is over or `interrupt` is raised.
///
/// # Errors
/// When the record cannot be written.
pub fn run(
    plan: &Plan,
    path: Probing,
    interrupt: &AtomicBool,
    record: &mut RecordWriter,
) -> Result<Outcome, record::Error> {
    let mut simulated = Simulated {
        path,
        traffic: Traffic::default(),
        interrupt,
        record,
        rested: Instant::ZERO,
    };
    let (ending, finding) = match methods::find(plan, &mut simulated) {
        Ok(finding) => (Ending::Complete, finding),
        Err(broken) => (
            broken.ending(true)?,
            Finding::none("the run did not finish"),
        ),
    };
    simulated.record.flush()?;
    Ok(Outcome {
        ending,
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
    type Error = Broken;

    fn carry(&mut self, train: &Train, not_before: Instant) -> Result<Passage, Broken> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Broken::Far("interrupted".to_owned()));
        }
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

    fn rest(&mut self, time: Duration) -> Result<(), Broken> {
        self.rested = self.now() + time;
        Ok(())
    }
}
