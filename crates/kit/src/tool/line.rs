//! A tool's connection with its manager, and the clock by which it waits: a socket, or a manager in virtual time.

use super::Trouble;
use mgrp::message::{Frames, Message, MessageError};
use std::io::{ErrorKind, Read, Write};
use std::time::Duration;
use sys::clock;
use sys::local::UnixStream;
use units::Instant;

/// How long is waited for the manager before an interrupt is looked for.
pub const LOOK: Duration = Duration::from_millis(5);

/// See the [module](self).
pub trait Line {
    /// What time it is.
    fn now(&self) -> Instant;

    /// Says something to the manager.
    ///
    /// # Errors
    /// When it is gone.
    fn say(&mut self, message: Message) -> Result<(), Trouble>;

    /// What the manager says, as soon as it says something; nothing after a few milliseconds without.
    ///
    /// # Errors
    /// When it is gone, or cannot be understood.
    fn hear(&mut self) -> Result<Vec<Message>, Trouble>;

    /// Waits without hearing; what is said meanwhile is heard later.
    fn sleep_until(&mut self, until: Instant);
}

/// A manager's socket.
pub struct Socket {
    stream: UnixStream,
    frames: Frames,
}

impl Socket {
    /// One that is connected.
    ///
    /// # Errors
    /// When the connection cannot be used.
    pub(super) fn new(stream: UnixStream) -> Result<Self, Trouble> {
        stream
            .set_read_timeout(Some(LOOK))
            .map_err(|error| gone(&error))?;
        let frames = Frames::default();
        Ok(Self { stream, frames })
    }
}

impl Line for Socket {
    fn now(&self) -> Instant {
        clock::now()
    }

    fn say(&mut self, message: Message) -> Result<(), Trouble> {
        let mut octets = Vec::new();
        message.emit(&mut octets).map_err(unreadable)?;
        self.stream.write_all(&octets).map_err(|error| gone(&error))
    }

    fn hear(&mut self) -> Result<Vec<Message>, Trouble> {
        let mut octets = [0; 16_384];
        match self.stream.read(&mut octets) {
            Ok(0) => return Err(Trouble::Lost("the manager is gone".to_owned())),
            Ok(count) => self.frames.push(&octets[..count], clock::now()),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(gone(&error)),
        }
        let mut messages = Vec::new();
        while let Some(frame) = self.frames.poll().map_err(unreadable)? {
            messages.push(frame.message.map_err(unreadable)?);
        }
        Ok(messages)
    }

    fn sleep_until(&mut self, until: Instant) {
        clock::sleep_until(until);
    }
}

fn gone(error: &std::io::Error) -> Trouble {
    Trouble::Lost(format!("the manager is gone ({error})"))
}

fn unreadable(error: MessageError) -> Trouble {
    Trouble::Lost(error.to_string())
}
