//! Several streams at once (RFC 8337 section 6.4): where one stream cannot fill a link that is spread over channels, or to see
//! many transports at a time. Streams of one pattern that begin together burst together, which is the worst case.

use super::{Ack, Burst, Stream};
use units::Instant;

/// Streams side by side, each with packets numbered from 0.
#[derive(Debug)]
pub struct Concurrent {
    streams: Vec<Box<dyn Stream>>,
}

impl Concurrent {
    /// `count` streams, each made by `make` from its index; give all the same start and their bursts coincide.
    pub fn new(count: usize, make: impl FnMut(usize) -> Box<dyn Stream>) -> Self {
        Self {
            streams: (0..count).map(make).collect(),
        }
    }

    /// What is to leave at `now`, and by which stream; `None` when nothing more is due. Streams take turns in order, so what is due at one
    /// instant leaves as one burst.
    pub fn poll(&mut self, now: Instant) -> Option<(usize, Burst)> {
        let mut polled = self.streams.iter_mut().enumerate();
        polled.find_map(|(index, stream)| Some((index, stream.poll(now)?)))
    }

    /// When to poll next though nothing is acknowledged.
    pub fn next_due(&self) -> Option<Instant> {
        self.streams.iter().filter_map(|s| s.next_due()).min()
    }

    /// Stream `index` had a packet acknowledged; nothing happens when there is no such stream.
    pub fn handle_ack(&mut self, index: usize, ack: Ack, now: Instant) {
        if let Some(stream) = self.streams.get_mut(index) {
            stream.handle_ack(ack, now);
        }
    }

    /// Whether nothing more will ever leave.
    pub fn is_done(&self) -> bool {
        self.streams.iter().all(|stream| stream.is_done())
    }

    /// The streams.
    pub fn streams(&self) -> &[Box<dyn Stream>] {
        &self.streams
    }
}
