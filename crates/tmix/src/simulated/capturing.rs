//! The capture of a simulated replay: what leaves the link that is watched, with the headers that it would have.

use super::headers::{Headers, Shared};
use crate::replay::capture::{CAPTURE, Capture};
use anyhow::{Context as _, ensure};
use sim::Parcel;
use sim::tcp::Tcp;
use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::rc::Rc;
use units::{Instant, Stamp};

/// See the module.
pub(super) struct Capturing {
    capture: Capture,
    headers: Shared,
    octets: Vec<u8>,
    /// Why there is no more of it.
    pub(super) failed: Option<io::Error>,
}

impl Capturing {
    /// Begins one in the record's folder; what hosts send is to be told to the [`Headers`] that it shares.
    ///
    /// # Errors
    /// When the record is in memory only, or the file cannot be written.
    pub(super) fn begin(folder: &Path) -> anyhow::Result<(Self, Shared)> {
        ensure!(
            !folder.as_os_str().is_empty(),
            "a capture needs a record of its own - leave --capture out"
        );
        // Virtual time begins with 1970.
        let stamp = Stamp {
            wall_ns: 0,
            mono: Instant::ZERO,
        };
        let capture = Capture::create(&folder.join(CAPTURE), stamp);
        let headers = Rc::new(RefCell::new(Headers::default()));
        let capturing = Self {
            capture: capture.context("cannot write the capture")?,
            headers: Rc::clone(&headers),
            octets: Vec::new(),
            failed: None,
        };
        Ok((capturing, headers))
    }

    /// A packet has left the link.
    pub(super) fn enter(&mut self, is_up: bool, packet: &Parcel<Tcp>) {
        self.octets.clear();
        let mut headers = self.headers.borrow_mut();
        if self.failed.is_none()
            && let Some(length) = headers.write(packet, &mut self.octets)
        {
            let length = u32::try_from(length).unwrap_or(u32::MAX);
            let written = (self.capture).write(is_up, packet.at, &self.octets, length);
            self.failed = written.err();
        }
    }

    /// Ends it at `now`; the packets that are not in it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn finish(self, now: Instant) -> io::Result<u64> {
        self.capture.finish(now)
    }
}
