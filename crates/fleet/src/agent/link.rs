//! What an agent does while NATS is there. Each time it comes back, all of this begins anew.

use super::{State, demands, far, wall};
use crate::bus::{Bus, Connection, PRESENCE};
use crate::ledger::Entry;
use crate::messages::Presence;
use crate::outcome::Outcome;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::rc::Rc;
use std::time::Duration;

/// From one word of presence to the next.
const BEAT: Duration = Duration::from_secs(5);
/// Before the next try, after something went wrong.
const REST: Duration = Duration::from_secs(1);

/// Keeps the link up, as long as the agent lives.
pub(super) async fn keep(connection: Connection, state: Rc<RefCell<State>>) {
    let mut is_known = false;
    loop {
        let error = match Bus::on(&connection).await {
            Ok(bus) => {
                state.borrow().say("NATS is there");
                is_known = false;
                state.borrow_mut().bus = Some(bus.clone());
                let over = tokio::select! {
                    over = beat(bus.clone(), Rc::clone(&state)) => over,
                    over = watch(bus.clone(), Rc::clone(&state)) => over,
                    over = far::doorkeeper(bus.clone(), Rc::clone(&state)) => over,
                    over = demands::clerk(bus.clone(), Rc::clone(&state)) => over,
                    over = hand_over(bus, Rc::clone(&state)) => over,
                };
                state.borrow_mut().bus = None;
                over.err()
            }
            Err(error) => Some(error),
        };
        if let Some(error) = error.filter(|_| !std::mem::replace(&mut is_known, true)) {
            let line = connection.refused().map_or_else(
                || format!("NATS is away, results are kept here: {error}"),
                |refused| format!("NATS refuses, results are kept here: {refused}"),
            );
            state.borrow().say(&line);
        }
        tokio::time::sleep(REST).await;
    }
}

/// Says that the agent is there.
async fn beat(bus: Bus, state: Rc<RefCell<State>>) -> anyhow::Result<()> {
    // One word that is not heard must not end the presence.
    const { assert!(PRESENCE.as_millis() > 2 * BEAT.as_millis()) };
    loop {
        let presence = state.borrow().presence();
        bus.say(&presence).await?;
        tokio::time::sleep(BEAT).await;
    }
}

/// Takes revisions of fleets.
async fn watch(bus: Bus, state: Rc<RefCell<State>>) -> anyhow::Result<()> {
    let sequence = state.borrow().sequence;
    let mut changes = bus.watch_fleets(sequence).await?;
    loop {
        let (name, document) = changes.next().await?;
        let mut state = state.borrow_mut();
        state.sequence = changes.sequence();
        let since = document.since;
        if state.take(&name, document) {
            state.say(&format!("fleet '{name}' as of {since}"));
            // It may have come late: what was due since then has no line yet.
            let from = state.heard.entry(name).or_insert(since);
            *from = since.min(*from);
            if let Err(error) = state.note() {
                state.say(&format!(
                    "revisions cannot be kept on disk for a start without NATS: {error}"
                ));
            }
        }
    }
}

/// Hands over what has ended, the record before the outcome: who knows of one finds the other. One that cannot be handed over keeps
/// neither the others nor the rest of the link, and is tried again.
async fn hand_over(bus: Bus, state: Rc<RefCell<State>>) -> anyhow::Result<()> {
    let ended = Rc::clone(&state.borrow().ended);
    let mut told = BTreeSet::new();
    loop {
        let waiting: Vec<_> = state.borrow().book.ledger().unhanded().cloned().collect();
        if waiting.is_empty() {
            ended.notified().await;
            continue;
        }
        let mut has_failed = false;
        for outcome in &waiting {
            let Err(error) = one(&bus, &state, outcome).await else {
                continue;
            };
            has_failed = true;
            let run = &outcome.run;
            if told.insert(run.clone()) {
                let said = format!("{run} cannot be handed over yet: {error:#}");
                state.borrow().say(&said);
            }
        }
        if has_failed {
            tokio::time::sleep(REST).await;
        }
    }
}

async fn one(bus: &Bus, state: &RefCell<State>, outcome: &Outcome) -> anyhow::Result<()> {
    let run = &outcome.run;
    let (folder, keep, identity) = {
        let state = state.borrow();
        (state.folder(run), state.keep, state.identity.clone())
    };
    let mut outcome = outcome.clone();
    if folder.is_dir() {
        outcome.files = bus.keep_record(run, &folder).await?;
    }
    bus.keep(&outcome, &identity).await?;
    state.borrow_mut().book.write(Entry::Handed(run.clone()))?;
    if !keep && folder.is_dir() {
        fs::remove_dir_all(&folder)?;
    }
    Ok(())
}

impl State {
    fn presence(&self) -> Presence {
        Presence {
            name: self.name.clone(),
            site: self.site.clone(),
            tags: self.tags.clone(),
            isobath: env!("CARGO_PKG_VERSION").to_owned(),
            verbs: self.verbs.clone(),
            started: self.started,
            said: wall(),
            key: Some(self.identity.public()),
            address: self.far.address,
            running: self.running.iter().cloned().collect(),
            waiting: self.book.ledger().unhanded().count() as u64,
        }
    }
}
