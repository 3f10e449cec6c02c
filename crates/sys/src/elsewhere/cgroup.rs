//! Less processor time than the machine has: only Linux has control groups, so there is no value of [`Home`] and [`Group`] here.

use crate::Error;
use std::convert::Infallible;
use std::process::Command;

/// How often a group used up its quota before a period was over.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Throttling {
    /// Periods in which the group had something to do.
    pub periods: u64,
    /// Those of them in which it had to wait for the next.
    pub throttled: u64,
}

/// The group of this thread.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Home(Infallible);

/// A control group that threads can be put into.
#[derive(Debug)]
pub struct Group(Infallible);

impl Home {
    /// The group of the calling thread.
    ///
    /// # Errors
    /// Always.
    pub fn find() -> Result<Self, Error> {
        Err(Error::only_linux("a control group"))
    }

    /// How often this group ran out of processor time.
    pub const fn throttling(&self) -> Option<Throttling> {
        match self.0 {}
    }

    /// This group, to come back to.
    ///
    /// # Errors
    /// There is none.
    pub const fn group(&self) -> Result<Group, Error> {
        match self.0 {}
    }

    /// A new group with `share` of one processor.
    ///
    /// # Errors
    /// There is none to make it in.
    pub const fn limited(&self, _name: &str, _share: f64) -> Result<Group, Error> {
        match self.0 {}
    }

    /// A new group whose sockets bear `mark`.
    ///
    /// # Errors
    /// Always.
    pub fn marked(_name: &str, _mark: u32) -> Result<Group, Error> {
        Err(Error::only_linux("a control group"))
    }
}

impl Group {
    /// Moves the calling thread into the group.
    ///
    /// # Errors
    /// There is none.
    pub const fn enter(&self) -> Result<(), Error> {
        match self.0 {}
    }

    /// Has `command` start in the group.
    pub const fn hold(&self, _command: &mut Command) {
        match self.0 {}
    }
}

/// Removes the groups that dead processes left: there are none.
pub const fn sweep() -> usize {
    0
}
