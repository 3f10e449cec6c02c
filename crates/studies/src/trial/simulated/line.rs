//! A tool's connection with the near manager. While the tool waits, the world goes on.

use super::run::Simulation;
use kit::tool::{LOOK, Line, Trouble};
use mgrp::message::Message;
use std::cell::RefCell;
use std::sync::mpsc::Receiver;
use units::Instant;

/// See the [module](self).
pub(super) struct Here<'a, 'b> {
    pub(super) simulation: &'a RefCell<Simulation<'b>>,
    /// What the manager says.
    pub(super) words: Receiver<Message>,
}

impl Here<'_, '_> {
    fn go_on(&self, until: Instant) -> Result<(), Trouble> {
        let gone = self.simulation.borrow_mut().go_on(until);
        gone.map_err(|error| Trouble::Lost(error.to_string()))
    }
}

impl Line for Here<'_, '_> {
    fn now(&self) -> Instant {
        self.simulation.borrow().now()
    }

    fn say(&mut self, message: Message) -> Result<(), Trouble> {
        self.simulation.borrow_mut().say(message);
        Ok(())
    }

    fn hear(&mut self) -> Result<Vec<Message>, Trouble> {
        let until = self.now() + LOOK;
        loop {
            let words: Vec<_> = self.words.try_iter().collect();
            if !words.is_empty() || self.now() >= until {
                return Ok(words);
            }
            let next = self.simulation.borrow().next_deadline();
            self.go_on(next.min(until))?;
        }
    }

    fn sleep_until(&mut self, until: Instant) {
        // What cannot be written is told when the run is closed.
        let _ = self.go_on(until);
    }
}
