//! Network namespaces: only Linux has them, so there is no value of [`Netns`] here, and no lab.

use crate::Error;
use std::convert::Infallible;

/// A network namespace.
#[derive(Debug)]
pub struct Netns(Infallible);

impl Netns {
    /// Makes a new network namespace.
    ///
    /// # Errors
    /// Always.
    pub fn create() -> Result<Self, Error> {
        Err(Error::only_linux("an emulated network"))
    }

    /// Moves the calling thread into the namespace.
    ///
    /// # Errors
    /// There is none to move into.
    pub const fn enter(&self) -> Result<(), Error> {
        match self.0 {}
    }

    /// Runs `work` inside the namespace.
    ///
    /// # Errors
    /// There is none to run it in.
    pub fn run<T, E>(&self, _work: impl FnOnce() -> Result<T, E> + Send) -> Result<T, E>
    where
        T: Send,
        E: From<Error> + Send,
    {
        match self.0 {}
    }
}

/// Makes sure that this process may make network namespaces.
///
/// # Errors
/// Always.
pub fn gain_privilege() -> Result<(), Error> {
    Err(Error::only_linux("an emulated network"))
}

/// Sets a kernel parameter.
///
/// # Errors
/// Always.
pub fn set_sysctl(name: &str, _value: &str) -> Result<(), Error> {
    let _ = name;
    Err(Error::only_linux("a kernel parameter"))
}
