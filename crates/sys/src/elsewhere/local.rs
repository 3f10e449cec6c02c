//! Sockets by the path of a file, of which there are none.

use crate::{Error, handle::never};
use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::path::Path;
use std::time::Duration;

/// A connection.
#[derive(Debug)]
pub struct UnixStream(Infallible);

/// Where connections come in.
#[derive(Debug)]
pub struct UnixListener(Infallible);

fn refused<T>() -> io::Result<T> {
    Err(io::Error::other(Error::only_linux("a manager")))
}

impl UnixStream {
    /// Connects with who listens at `path`.
    ///
    /// # Errors
    /// Always.
    pub fn connect(_path: impl AsRef<Path>) -> io::Result<Self> {
        refused()
    }

    /// Two that are connected with each other.
    ///
    /// # Errors
    /// Always.
    pub fn pair() -> io::Result<(Self, Self)> {
        refused()
    }

    /// How long a read waits.
    ///
    /// # Errors
    /// There is nothing to wait for.
    pub const fn set_read_timeout(&self, _timeout: Option<Duration>) -> io::Result<()> {
        match self.0 {}
    }

    /// How long a write waits.
    ///
    /// # Errors
    /// There is nothing to wait for.
    pub const fn set_write_timeout(&self, _timeout: Option<Duration>) -> io::Result<()> {
        match self.0 {}
    }

    /// Whether reads and writes wait at all.
    ///
    /// # Errors
    /// There is nothing to wait for.
    pub const fn set_nonblocking(&self, _is_on: bool) -> io::Result<()> {
        match self.0 {}
    }

    /// Another handle of it.
    ///
    /// # Errors
    /// There is none.
    pub const fn try_clone(&self) -> io::Result<Self> {
        match self.0 {}
    }

    /// Ends it.
    ///
    /// # Errors
    /// There is nothing to end.
    pub const fn shutdown(&self, _how: Shutdown) -> io::Result<()> {
        match self.0 {}
    }
}

impl UnixListener {
    /// Listens at `path`.
    ///
    /// # Errors
    /// Always.
    pub fn bind(_path: impl AsRef<Path>) -> io::Result<Self> {
        refused()
    }

    /// Who has connected.
    pub fn incoming(&self) -> impl Iterator<Item = io::Result<UnixStream>> {
        let never = self.0;
        std::iter::from_fn(move || match never {})
    }

    /// Whether accepting waits.
    ///
    /// # Errors
    /// There is nothing to wait for.
    pub const fn set_nonblocking(&self, _is_on: bool) -> io::Result<()> {
        match self.0 {}
    }

    /// Another handle of it.
    ///
    /// # Errors
    /// There is none.
    pub const fn try_clone(&self) -> io::Result<Self> {
        match self.0 {}
    }
}

impl Read for UnixStream {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }
}

impl Write for UnixStream {
    fn write(&mut self, _octets: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}

impl Read for &UnixStream {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }
}

impl Write for &UnixStream {
    fn write(&mut self, _octets: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}

never!(UnixStream);
