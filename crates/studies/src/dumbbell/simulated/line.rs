//! A tool's connection with the near manager. While the tool waits, the world goes on.

use kit::tool::{LOOK, Line, Trouble};
use mgrp::message::Message;
use std::cell::RefCell;
use std::sync::mpsc::Receiver;
use units::Instant;

/// A world that goes on as far as somebody waits for it.
pub trait Course {
    /// What time it is.
    fn now(&self) -> Instant;

    /// When something happens next.
    fn next_deadline(&mut self) -> Instant;

    /// Lets all happen that happens until then.
    ///
    /// # Errors
    /// When the record cannot be written.
    fn go_on(&mut self, until: Instant) -> Result<(), record::Error>;

    /// A tool connects with the near manager, in place of one that may have been; what it is told.
    fn connect(&mut self) -> Receiver<Message>;

    /// The tool says something.
    fn say(&mut self, message: Message);
}

/// See the [module](self).
pub struct Here<'a, C> {
    course: &'a RefCell<C>,
    words: Receiver<Message>,
}

impl<'a, C: Course> Here<'a, C> {
    /// A connection in this world.
    pub fn connect(course: &'a RefCell<C>) -> Self {
        let words = course.borrow_mut().connect();
        Self { course, words }
    }

    fn go_on(&self, until: Instant) -> Result<(), Trouble> {
        let gone = self.course.borrow_mut().go_on(until);
        gone.map_err(|error| Trouble::Lost(error.to_string()))
    }
}

impl<C: Course> Line for Here<'_, C> {
    fn now(&self) -> Instant {
        self.course.borrow().now()
    }

    fn say(&mut self, message: Message) -> Result<(), Trouble> {
        self.course.borrow_mut().say(message);
        Ok(())
    }

    fn hear(&mut self) -> Result<Vec<Message>, Trouble> {
        let until = self.now() + LOOK;
        loop {
            let words: Vec<_> = self.words.try_iter().collect();
            if !words.is_empty() || self.now() >= until {
                return Ok(words);
            }
            let next = self.course.borrow_mut().next_deadline();
            self.go_on(next.min(until))?;
        }
    }

    fn sleep_until(&mut self, until: Instant) {
        // What cannot be written is told when the run is closed.
        let _ = self.go_on(until);
    }
}
