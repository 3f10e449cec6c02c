//! Waiting for thousands of descriptors at once: labs and replays do, which need Linux. So there is no value of [`Poll`] and [`Bell`].

use super::{Event, Interest};
use crate::{Error, handle::never};
use std::convert::Infallible;
use std::time::Duration;

/// Descriptors that are watched.
#[derive(Debug)]
pub struct Poll(Infallible);

/// Room for what one wait finds, which is nothing.
#[derive(Default)]
pub struct Events(());

impl Events {
    /// Room for `most` of them.
    pub const fn with_capacity(most: usize) -> Self {
        let _ = most;
        Self(())
    }

    /// Whether nothing was found.
    pub const fn is_empty(&self) -> bool {
        true
    }

    /// What was found.
    pub fn drain(&mut self) -> impl Iterator<Item = Event> {
        std::iter::empty()
    }
}

impl Poll {
    /// Nothing is watched yet.
    ///
    /// # Errors
    /// Always.
    pub fn new() -> Result<Self, Error> {
        Err(Error::only_linux("waiting for thousands of connections"))
    }

    /// Watches `what`.
    ///
    /// # Errors
    /// There is nothing to watch it.
    pub const fn add<T>(
        &self,
        _what: &T,
        _number: u64,
        _interest: Interest,
        _name: &str,
    ) -> Result<(), Error> {
        match self.0 {}
    }

    /// Waits until something has happened.
    pub const fn wait(&self, _events: &mut Events, _timeout: Duration) -> bool {
        match self.0 {}
    }
}

/// By which one thread wakes another that waits in a [`Poll`].
#[derive(Debug)]
pub struct Bell(Infallible);

impl Bell {
    /// A bell that nobody has rung.
    ///
    /// # Errors
    /// Always.
    pub fn new() -> Result<Self, Error> {
        Err(Error::only_linux("waiting for thousands of connections"))
    }

    /// Rings.
    pub const fn ring(&self) {
        match self.0 {}
    }

    /// Stops ringing.
    pub const fn calm(&self) {
        match self.0 {}
    }
}

never!(Bell);
