//! The tool: trains by way of the manager, one estimation after the other or whatever comes of them.
//!
//! pathload is that of the crate `probe`, as T's was the tool of its authors: without the two fleets by which `isobath estimate` has a
//! finding confirmed. An estimation that has come to no end after a minute is given up (T section 5.2.1).

use super::plan::{Plan, Probes, Regular};
use super::tables::EstimateRow;
use estimate::methods::{self, Carry};
use kit::tool::{Line, Tool, Trouble};
use mgrp::transaction::Outcome;
use probe::pathload::{self, Estimate, Pathload, Pause};
use probe::riders::Competing;
use probe::train::{Passage, Train};
use std::time::Duration;
use units::Instant;

/// After this time an estimation is given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the tool has to say to whoever keeps the counters.
pub(super) enum Note {
    /// It hands over this train next.
    Offered(u32, Train),
    /// How a train left.
    Told(u32, Outcome),
    /// An estimation is over.
    Estimated(Estimated),
    /// It cannot go on.
    Broken(String),
}

/// An estimation that is over; its truth is not known yet.
pub(super) struct Estimated {
    pub(super) row: EstimateRow,
}

/// The tool at work, over a manager's socket or in virtual time.
pub(super) struct Prober<'a, L, N> {
    pub(super) tool: Tool<'a, L>,
    /// Takes what it has to say.
    pub(super) notes: N,
    /// When the run begins and when it ends.
    pub(super) origin: Instant,
    pub(super) end: Instant,
}

/// Why a train was not carried.
enum Stop {
    /// The estimation has taken too long, or the run is over.
    Late,
    Broken(String),
}

impl From<Trouble> for Stop {
    fn from(trouble: Trouble) -> Self {
        Self::Broken(trouble.into())
    }
}

impl<L: Line, N: FnMut(Note)> Prober<'_, L, N> {
    /// Does what the plan says until the run is over.
    pub(super) fn run(&mut self, plan: &Plan) {
        let done = match (plan.probes, plan.probes.regular(), plan.probes.pause()) {
            (Probes::None, ..) => Ok(()),
            (_, Some(regular), _) => self.send(&regular),
            (_, _, pause) => self.estimate(pause.unwrap_or_default()),
        };
        if let Err(reason) = done {
            self.note(Note::Broken(reason));
        }
    }

    fn note(&mut self, note: Note) {
        (self.notes)(note);
    }

    /// Trains at their times, however those before fare.
    fn send(&mut self, regular: &Regular) -> Result<(), String> {
        let (train, every) = (regular.train(), regular.every());
        let mut due = self.origin;
        self.tool.wait_until(due)?;
        while due < self.end {
            let number = self.tool.next();
            self.note(Note::Offered(number, train.clone()));
            self.tool.offer(&train)?;
            due += every;
            self.tool.wait_until(due)?;
            self.tell()?;
        }
        Ok(())
    }

    fn tell(&mut self) -> Result<(), String> {
        while let Some((number, outcome)) = self.tool.poll_outcome() {
            let outcome = outcome.map_err(Trouble::Refused)?;
            self.note(Note::Told(number, outcome));
        }
        Ok(())
    }

    /// One estimation after the other.
    fn estimate(&mut self, pause: Pause) -> Result<(), String> {
        self.tool.listen()?;
        self.tool.wait_until(self.origin)?;
        while self.tool.now() < self.end {
            let began = self.tool.now();
            let options = pathload::Options {
                pause,
                confirms: None,
                ..pathload::Options::default()
            };
            let mut carrier = TrainCarrier {
                until: self.end.min(began + PATIENCE),
                trains: 0,
                prober: self,
            };
            let found = methods::drive(Pathload::new(options, began), &mut carrier);
            let trains = carrier.trains;
            let row = match found {
                Ok(estimate) => of_estimate(&estimate),
                Err(Stop::Late) => EstimateRow {
                    outcome: if self.tool.now() < self.end {
                        GIVEN_UP
                    } else {
                        CUT
                    }
                    .into(),
                    ..EstimateRow::default()
                },
                Err(Stop::Broken(reason)) => return Err(reason),
            };
            let since =
                |at: Instant| u64::try_from(at.since(self.origin).as_nanos()).unwrap_or(u64::MAX);
            let row = EstimateRow {
                t_ns: since(began),
                end_ns: since(self.tool.now()),
                trains,
                ..row
            };
            self.note(Note::Estimated(Estimated { row }));
        }
        Ok(())
    }
}

/// Outcomes of estimations that did not come to an end: too slow, and cut by the end of the run.
pub(super) const GIVEN_UP: &str = "given_up";
pub(super) const CUT: &str = "cut";

fn of_estimate(estimate: &Estimate) -> EstimateRow {
    use pathload::Outcome;
    let (outcome, conclusive) = match estimate.outcome {
        Outcome::Conclusive => ("conclusive", true),
        Outcome::Grey => ("grey", true),
        Outcome::AtLeast => ("at_least", false),
        Outcome::Unfinished => ("unfinished", false),
        Outcome::Starved => ("starved", false),
        Outcome::Untimed => ("untimed", false),
    };
    let is_known = estimate.outcome != Outcome::Untimed;
    let mbps = |bps: f64| is_known.then_some(bps / 1e6);
    let Competing {
        last_bps,
        mean_bps,
        spared_bps,
        ..
    } = estimate.competing;
    let found = [estimate.low_bps, estimate.high_bps];
    let [low, high] = estimate.competing.beside(found);
    EstimateRow {
        outcome: outcome.into(),
        conclusive,
        low_mbps: mbps(low),
        high_mbps: mbps(high),
        uncorrected_low_mbps: mbps(estimate.low_bps),
        uncorrected_high_mbps: mbps(estimate.high_bps),
        spared_mbps: mbps(spared_bps),
        competing_stream_mbps: mbps(last_bps),
        competing_fleet_mbps: mbps(mean_bps),
        ..EstimateRow::default()
    }
}

/// What carries the trains of one estimation.
struct TrainCarrier<'a, 'b, L, N> {
    prober: &'a mut Prober<'b, L, N>,
    until: Instant,
    trains: u32,
}

impl<L: Line, N: FnMut(Note)> Carry for TrainCarrier<'_, '_, L, N> {
    type Error = Stop;

    fn carry(&mut self, train: &Train, not_before: Instant) -> Result<Passage, Stop> {
        let Prober { tool, .. } = self.prober;
        tool.wait_until(not_before.min(self.until))?;
        if tool.now() >= self.until {
            return Err(Stop::Late);
        }
        self.trains += 1;
        let number = tool.next();
        self.prober.note(Note::Offered(number, train.clone()));
        let carried = self.prober.tool.carry(train)?;
        self.prober.note(Note::Told(number, carried.outcome));
        Ok(carried.passage)
    }

    fn now(&self) -> Instant {
        self.prober.tool.now()
    }

    fn rest(&mut self, time: Duration) -> Result<(), Stop> {
        let until = self.now() + time;
        Ok(self.prober.tool.wait_until(until)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds manager/rider-correction.
    #[test]
    fn a_finding_is_told_with_and_without_the_riders_that_would_have_competed() {
        let mut estimate = Estimate {
            outcome: pathload::Outcome::Grey,
            low_bps: 6e6,
            high_bps: 7e6,
            grey_bps: None,
            competing: Competing {
                last_bps: 2e6,
                mean_bps: 3e6,
                spared_bps: 4e6,
                error_bps: 0.0,
            },
            streams: 100,
            octets: 1,
        };
        let row = of_estimate(&estimate);
        let figures = [
            row.low_mbps,
            row.high_mbps,
            row.uncorrected_low_mbps,
            row.uncorrected_high_mbps,
        ];
        assert_eq!(figures, [Some(2.0), Some(3.0), Some(6.0), Some(7.0)]);
        assert_eq!(
            (row.competing_stream_mbps, row.competing_fleet_mbps),
            (Some(2.0), Some(3.0))
        );
        assert!(row.conclusive && row.outcome == "grey");
        estimate.outcome = pathload::Outcome::Untimed;
        let row = of_estimate(&estimate);
        assert!(row.low_mbps.is_none() && row.spared_mbps.is_none() && !row.conclusive);
    }
}
