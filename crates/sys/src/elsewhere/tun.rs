//! A TUN device: only Linux has it in this form, so there is no value of [`Tun`] here.

use crate::{Error, handle::never};
use std::convert::Infallible;
use std::io::{self, IoSlice};

/// Octets of the virtio-net header before each packet.
pub const VNET_HEADER: usize = 10;
/// Room for the header and the largest burst.
pub const MAX_READ: usize = VNET_HEADER + 65_535;

/// A TUN device.
#[derive(Debug)]
pub struct Tun(Infallible);

impl Tun {
    /// Makes an interface.
    ///
    /// # Errors
    /// Always.
    pub fn open(_name: &str) -> Result<Self, Error> {
        Err(Error::only_linux("an interface of this program"))
    }

    /// The interface's name.
    pub const fn name(&self) -> &str {
        match self.0 {}
    }

    /// Reads one packet.
    ///
    /// # Errors
    /// There is nothing to read from.
    pub const fn read(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }

    /// Writes one packet.
    ///
    /// # Errors
    /// There is nothing to write to.
    pub const fn write(&self, _pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        match self.0 {}
    }
}

never!(Tun);
