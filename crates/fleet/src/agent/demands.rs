//! Runs that operators ask for now. Both ends are asked: the one that measures takes the run into its agenda, the other lets it in.
//!
//! They are kept in memory only: an agent that is ended before such a run begins does not take it later, when nobody waits for it.

use super::far::SKEW;
use super::{State, wall};
use crate::bus::{Bus, parse};
use crate::messages::{Demand, Promise};
use crate::revisions::Due;
use crate::{Moment, Name, RunId};
use async_nats::Message;
use std::cell::RefCell;
use std::rc::Rc;

/// Runs on demand that may be under way at most.
const MOST: usize = 64;

/// What has been asked for, until it should be over.
#[derive(Debug, Default)]
pub(super) struct Demands(Vec<Due>);

impl Demands {
    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &Due> {
        self.0.iter()
    }

    /// Adds those of `fleet` that are to begin by `now` to what is due by the schedule, which may have the same run. What should be over is
    /// forgotten here: it would come back when the ledger has forgotten it.
    pub(super) fn add_to(&mut self, due: &mut Vec<Due>, fleet: &Name, now: Moment) {
        self.0.retain(|due| due.over_by() + SKEW > now);
        let of_now = |due: &&Due| due.plan.file().name == *fleet && due.run.begins <= now;
        for demanded in self.0.iter().filter(of_now) {
            let id = demanded.id();
            if !due.iter().any(|due| due.id() == id) {
                due.push(demanded.clone());
            }
        }
    }

    /// Takes one more, unless too many are under way; `is_over` knows which of them have ended.
    fn take(&mut self, due: Due, is_over: impl Fn(&RunId) -> bool) -> Result<(), String> {
        let id = due.id();
        if self.0.iter().any(|due| due.id() == id) {
            return Ok(());
        }
        let under_way = self.0.iter().filter(|due| !is_over(&due.id())).count();
        if under_way >= MOST {
            return Err(format!(
                "{MOST} runs on demand wait or are under way - try again later"
            ));
        }
        self.0.push(due);
        Ok(())
    }
}

/// Answers operators, until there is no more connection.
pub(super) async fn clerk(bus: Bus, state: Rc<RefCell<State>>) -> anyhow::Result<()> {
    let name = state.borrow().name.clone();
    let demands = bus.demands(&name).await?;
    let promise = |message: &Message| {
        let taken = parse::<Demand>(&message.payload).map_or_else(
            || Err("it does not understand the request - update it".to_owned()),
            |demand| state.borrow_mut().demand(&demand.run, wall()),
        );
        match taken {
            Ok(()) => Promise::Yes,
            Err(reason) => Promise::No { reason },
        }
    };
    bus.answer_all(demands, promise).await
}

impl State {
    /// Takes a run into the agenda, or lets it in when its time comes; an error says in one line why not.
    fn demand(&mut self, run: &RunId, now: Moment) -> Result<(), String> {
        if ![&run.from, &run.to].contains(&&self.name) {
            return Err(format!("{run} is not a run of this agent"));
        }
        let apart = now.since(run.instant).max(run.instant.since(now));
        if apart > SKEW {
            return Err(format!(
                "its clock and that of the host which asks are {} s apart - compare the clocks",
                apart.as_secs()
            ));
        }
        let fleet = self.fleets.get(&run.fleet);
        let fleet = fleet.ok_or_else(|| format!("it knows no fleet '{}'", run.fleet))?;
        let due = fleet.on_demand(run)?;
        let verb = due.plan.measure(&due.run).verb();
        if !self.verbs.iter().any(|known| known == verb) {
            return Err(format!("it does not know '{verb}' - update it"));
        }
        let ledger = self.book.ledger();
        self.demands.take(due, |run| ledger.has_ended(run))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revisions::{Document, Revisions, Whose};
    use std::time::Duration;

    const FILE: &str = "name = 'f'\n[[host]]\nname = 'a'\n[[host]]\nname = 'b'\n[[measure]]\nname = 'm'\n\
                        run = 'estimate rtt'\npairs = { mesh = ['all'] }\ntakes = '5s'\nevery = '1h'\non_demand = true";

    fn since() -> Moment {
        "2026-11-25T08:00:00Z".parse().unwrap()
    }

    fn revisions() -> Revisions {
        let mut revisions = Revisions::new(Whose::All);
        let document = Document {
            file: FILE.to_owned(),
            since: since(),
            paused: false,
        };
        revisions.push(document).unwrap();
        revisions
    }

    /// The run from `a` to `b` that is asked for so many seconds later.
    fn asked(seconds: u64) -> Due {
        let at = since() + Duration::from_secs(seconds);
        let id = format!("f.m.a.b.{}", at.compact());
        revisions().on_demand(&id.parse().unwrap()).unwrap()
    }

    #[test]
    fn a_demand_is_due_from_its_instant_until_it_should_be_over_and_never_again() {
        let mut demands = Demands::default();
        demands.take(asked(10), |_| false).unwrap();
        demands.take(asked(10), |_| false).unwrap();
        assert_eq!(demands.all().count(), 1);
        let name: Name = "f".parse().unwrap();
        let mut due = |fleet: &Name, seconds| {
            let mut due = Vec::new();
            demands.add_to(&mut due, fleet, since() + Duration::from_secs(seconds));
            due.len()
        };
        let other: Name = "g".parse().unwrap();
        assert_eq!([due(&name, 9), due(&name, 10), due(&other, 10)], [0, 1, 0]);
        // A minute of patience, not an hour; five seconds of its own, and ten that clocks may be apart.
        assert_eq!([due(&name, 84), due(&name, 85), due(&name, 10)], [1, 0, 0]);
    }

    #[test]
    fn a_run_that_the_schedule_has_at_the_same_instant_is_due_once() {
        let mut demands = Demands::default();
        demands.take(asked(3_600), |_| false).unwrap();
        let at = since() + Duration::from_secs(3_600);
        let mut due = revisions().between(at, at + Duration::from_millis(1));
        let before: Vec<_> = due.iter().map(Due::id).collect();
        assert!(before.contains(&asked(3_600).id()));
        demands.add_to(&mut due, &"f".parse().unwrap(), at);
        assert_eq!(due.iter().map(Due::id).collect::<Vec<_>>(), before);
    }

    #[test]
    fn so_many_are_under_way_and_those_that_have_ended_do_not_count() {
        let mut demands = Demands::default();
        for second in 0..64 {
            demands.take(asked(second), |_| false).unwrap();
        }
        let refused = demands.take(asked(64), |_| false).unwrap_err();
        assert!(refused.contains("64 runs on demand"), "{refused}");
        let first = asked(0).id();
        demands.take(asked(64), |run| *run == first).unwrap();
    }
}
