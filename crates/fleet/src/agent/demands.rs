//! Runs that operators ask for now. Both ends are asked: the one that measures takes the run into its agenda, the other lets it in.
//!
//! They are kept in memory only: an agent that is ended before such a run begins does not take it later, when nobody waits for it.

use super::far::SKEW;
use super::{State, wall};
use crate::bus::{Bus, parse};
use crate::messages::{Demand, Promise};
use crate::{Moment, RunId};
use async_nats::Message;
use std::cell::RefCell;
use std::rc::Rc;

/// Runs on demand that wait or are under way at most.
const MOST: usize = 64;

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
                "its clock and the asking host's are {} s apart - compare the clocks",
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
        self.demanded.retain(|due| due.over_by() + SKEW > now);
        if self.demanded.iter().any(|due| due.id() == *run) {
            return Ok(());
        }
        if self.demanded.len() >= MOST {
            return Err(format!(
                "{MOST} runs on demand wait or are under way - try again later"
            ));
        }
        self.demanded.push(due);
        Ok(())
    }
}
