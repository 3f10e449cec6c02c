//! The overlay's interface: what the kernel routes to it, and what comes out of it.

use packet::{Frame, Pool, next_burst, split};
use std::collections::VecDeque;
use std::io::IoSlice;
use sys::tun::{MAX_READ, Tun};
use sys::{Error, Handle, handle};
use units::Instant;

/// `EBADFD`: the interface was deleted, and the descriptor leads nowhere.
const DETACHED: i32 = 77;

/// See the [module](self).
pub(super) struct Interface {
    tun: Tun,
    buffer: Vec<u8>,
    pool: Pool,
    /// Packets that are to be written.
    leaving: VecDeque<Frame>,
}

impl Interface {
    pub(super) fn new(tun: Tun) -> Self {
        Self {
            tun,
            buffer: vec![0; MAX_READ],
            pool: Pool::default(),
            leaving: VecDeque::new(),
        }
    }

    /// Reads one packet, or one burst of TCP that is cut into packets with complete checksums, and tells `each`; how many there were, or
    /// nothing when nothing is there.
    ///
    /// # Errors
    ///
    /// When there is no such interface any more.
    pub(super) fn read(
        &mut self,
        now: Instant,
        mut each: impl FnMut(Vec<u8>),
    ) -> Result<Option<usize>, Error> {
        let length = match self.tun.read(&mut self.buffer) {
            Ok(length) => length,
            Err(error) if error.raw_os_error() == Some(DETACHED) => {
                let lost = Error::io("read from interface", self.tun.name(), error);
                return Err(lost.advise("somebody has deleted it: start the manager again"));
            }
            // Nothing is there, or the interface is down.
            Err(_) => return Ok(None),
        };
        let read = self.buffer.get(..length).unwrap_or_default();
        let packet = |frame: Frame| each(frame.into_packet());
        Ok(Some(split(read, now, &mut self.pool, packet)))
    }

    /// What can be waited for.
    pub(super) fn handle(&self) -> Handle<'_> {
        handle(&self.tun)
    }

    /// Takes a packet that is to be written.
    pub(super) fn push(&mut self, packet: Vec<u8>, now: Instant) {
        self.leaving.push_back(Frame::received(packet, now));
    }

    /// Writes what was taken, segments of a connection that follow each other together; how many packets the interface took, and how many
    /// it did not.
    pub(super) fn flush(&mut self) -> [u64; 2] {
        let [mut written, mut undelivered] = [0; 2];
        while let Some(burst) = next_burst(&self.leaving, self.leaving.len()) {
            let mut pieces: Vec<IoSlice<'_>> = Vec::with_capacity(1 + burst.count);
            burst.pieces(self.leaving.iter(), &mut pieces);
            let count = burst.count as u64;
            match self.tun.write(&pieces) {
                Ok(_) => written += count,
                Err(_) => undelivered += count,
            }
            drop(pieces);
            for frame in self.leaving.drain(..burst.count) {
                self.pool.give(frame);
            }
        }
        [written, undelivered]
    }
}
