//! Messages out of a stream of octets.
//!
//! A stream socket keeps octets in order and forgets where one message ends. Each has its length in front: four octets, which do
//! not count themselves. At most one message and what came in the same read is kept, and a length beyond
//! [`MOST_MESSAGE`] is refused before any of the message has come; after that nothing on the stream can be found any more, and it
//! is to be closed. A message that cannot be read does not harm those that follow.

use super::{Message, MessageError};
use std::time::Duration;
use units::Instant;

/// The most octets of a message, without its length: room for the largest transaction with 85 octets of header in each probe.
pub const MOST_MESSAGE: usize = 1 << 20;

/// A message that has come whole.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Frame {
    /// What it says, if that can be read.
    pub message: Result<Message, MessageError>,
    /// From the moment at which its first octet came to that of its last: for a transaction, how long it took to hand it over.
    pub took: Duration,
}

/// Messages out of a stream of octets, in memory bounded by [`MOST_MESSAGE`] and one read.
#[derive(Debug, Default)]
pub struct Frames {
    octets: Vec<u8>,
    /// Octets at the head of `octets` that have been read.
    read: usize,
    /// When the first octet that has not been read came.
    since: Instant,
    /// When the last one came.
    until: Instant,
}

impl Frames {
    /// Octets that came at `now`. [`poll`](Self::poll) until it says nothing before the next ones: what is not taken is kept.
    pub fn push(&mut self, octets: &[u8], now: Instant) {
        self.octets.drain(..self.read);
        self.read = 0;
        if self.octets.is_empty() {
            self.since = now;
        }
        self.octets.extend_from_slice(octets);
        self.until = now;
    }

    /// The next message.
    ///
    /// # Errors
    /// [`MessageError::Size`] when a longer one is announced than is taken: now and for ever after.
    pub fn poll(&mut self) -> Result<Option<Frame>, MessageError> {
        let rest = self.octets.get(self.read..).unwrap_or_default();
        let Some((length, rest)) = rest.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        if length > MOST_MESSAGE {
            return Err(MessageError::Size(length));
        }
        let Some(octets) = rest.get(..length) else {
            return Ok(None);
        };
        let message = Message::parse(octets);
        self.read += 4 + length;
        let took = self.until.since(self.since);
        // What follows came, at the earliest, with the last octets.
        self.since = self.until;
        Ok(Some(Frame { message, took }))
    }

    /// Octets that are kept.
    pub const fn kept(&self) -> usize {
        self.octets.len() - self.read
    }
}
