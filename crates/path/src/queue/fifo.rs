//! First in, first out, with a limit.

use super::{Queue, store::Store};
use crate::{Cause, Count, Counters, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Instant};

/// How much a queue holds. A packet that would exceed either limit is dropped; without limits the
/// queue takes all, and memory is the sender's to bound.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limit {
    /// The most packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// The most octets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
}

impl Limit {
    /// At most `packets` packets.
    pub const fn packets(packets: u32) -> Self {
        Self {
            packets: Some(packets),
            bytes: None,
        }
    }

    /// At most `bytes` octets.
    pub const fn bytes(bytes: Bytes) -> Self {
        Self {
            packets: None,
            bytes: Some(bytes),
        }
    }

    /// Whether a queue that holds `held` has room for `size` octets more.
    #[inline]
    pub fn admits(&self, held: Count, size: u32) -> bool {
        let packets = self
            .packets
            .is_none_or(|most| held.packets < u64::from(most));
        let bytes = self
            .bytes
            .is_none_or(|most| held.bytes + u64::from(size) <= most.get());
        packets && bytes
    }
}

/// Drops arrivals when it is full ("drop-tail"), and nothing else.
pub struct Fifo<B> {
    limit: Limit,
    store: Store<B>,
    counters: Counters,
}

impl<B> Fifo<B> {
    /// An empty queue with `limit`.
    pub fn new(limit: Limit) -> Self {
        Self {
            limit,
            store: Store::new(),
            counters: Counters::default(),
        }
    }
}

impl<B: Send> Queue<B> for Fifo<B> {
    fn enqueue(&mut self, packet: Packet<B>, _: Instant) {
        self.counters.enter(packet.size);
        if self.limit.admits(self.store.count(), packet.size) {
            self.store.push(packet);
        } else {
            self.counters.drop(packet.size, Cause::Overflow);
        }
    }

    fn dequeue(&mut self, _: Instant) -> Option<Packet<B>> {
        let packet = self.store.pop()?;
        self.counters.leave(packet.size);
        Some(packet)
    }

    fn backlog(&self) -> Count {
        self.store.count()
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}
