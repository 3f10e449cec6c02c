//! Flow queueing with controlled delay (RFC 8290).
//!
//! Flows are hashed into queues; each queue is under [`CoDel`](super::CoDel), and deficit round
//! robin shares the link between them. A queue that was empty goes to a list of its own that is
//! served first, so a flow that sends less than its share, such as a voice stream or the start of a
//! transfer, never waits behind the others.

use super::codel::{CoDelConfig, Control};
use super::{Queue, store::Store};
use crate::random::scatter;
use crate::{Cause, Count, Counters, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use units::{Bytes, FlowId, Instant, Span};

/// The most packets that one overflow drops (section 4.1).
const OVERFLOW_BATCH: usize = 64;

/// The parameters of [`FqCoDel`].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct FqCoDelConfig {
    /// The delay that may stand in each queue.
    pub target: Span,
    /// The time within which it must fall below target.
    pub interval: Span,
    /// Octets that a queue may send in a round (section 5.2.4); at least 1.
    pub quantum: Bytes,
    /// Number of queues that flows are hashed into; at least 1.
    pub flows: u32,
    /// The most packets in all queues together.
    pub packets: u32,
    /// Mark packets of senders that speak ECN, instead of dropping them; overflow still drops.
    pub ecn: bool,
}

impl Default for FqCoDelConfig {
    /// 1,514 octets, 1,024 queues, 10,240 packets (section 5.2).
    fn default() -> Self {
        let CoDelConfig {
            target,
            interval,
            ecn,
            ..
        } = CoDelConfig::default();
        Self {
            target,
            interval,
            quantum: Bytes::new(1_514),
            flows: 1_024,
            packets: 10_240,
            ecn,
        }
    }
}

struct Flow<B> {
    store: Store<B>,
    control: Control,
    /// Octets that the queue may still send in this round; below zero after an overdraft.
    deficit: i64,
    /// Whether the queue is on one of the lists.
    listed: bool,
}

/// A fair queue.
pub struct FqCoDel<B> {
    codel: CoDelConfig,
    quantum: i64,
    limit: u64,
    flows: Vec<Flow<B>>,
    /// Queues that were empty until a moment ago, as indices into `flows`.
    fresh: VecDeque<usize>,
    /// All other queues that are served.
    old: VecDeque<usize>,
    waiting: Count,
    counters: Counters,
    seed: u64,
}

impl<B> FqCoDel<B> {
    /// Empty queues; `seed` perturbs the hash.
    pub fn new(config: FqCoDelConfig, seed: u64) -> Self {
        let flows = (0..config.flows.max(1)).map(|_| Flow {
            store: Store::new(),
            control: Control::default(),
            deficit: 0,
            listed: false,
        });
        Self {
            codel: CoDelConfig {
                target: config.target,
                interval: config.interval,
                packets: config.packets,
                ecn: config.ecn,
            },
            quantum: i64::try_from(config.quantum.get())
                .unwrap_or(i64::MAX)
                .max(1),
            limit: u64::from(config.packets),
            flows: flows.collect(),
            fresh: VecDeque::new(),
            old: VecDeque::new(),
            waiting: Count::default(),
            counters: Counters::default(),
            seed,
        }
    }

    fn queue_of(&self, flow: FlowId) -> usize {
        let hash = scatter(flow.0 ^ scatter(self.seed));
        usize::try_from(hash % self.flows.len() as u64).unwrap_or(0)
    }

    /// Drops half of the fattest queue, at most a batch, from its head (section 4.1).
    fn shed(&mut self) {
        let fattest = self.flows.iter_mut().max_by_key(|flow| flow.store.bytes());
        let Some(flow) = fattest else { return };
        for _ in 0..flow.store.len().div_ceil(2).min(OVERFLOW_BATCH) {
            if let Some(packet) = flow.store.pop() {
                self.waiting.take(packet.size);
                self.counters.drop(packet.size, Cause::Overflow);
            }
        }
    }

    /// The queue whose turn it is, still at the head of its list, after new rounds have begun for
    /// those without credit (section 4.2).
    fn next_queue(&mut self) -> Option<usize> {
        loop {
            let list = if self.fresh.is_empty() {
                &mut self.old
            } else {
                &mut self.fresh
            };
            let index = *list.front()?;
            let flow = &mut self.flows[index];
            if flow.deficit > 0 {
                return Some(index);
            }
            flow.deficit += self.quantum;
            list.pop_front();
            self.old.push_back(index);
        }
    }

    /// Takes the empty queue at the head off its list. One from the fresh list goes through the old
    /// one first, lest a flow jump ahead by pausing (section 4.2).
    fn retire(&mut self) {
        if let Some(index) = self.fresh.pop_front() {
            self.old.push_back(index);
        } else if let Some(index) = self.old.pop_front() {
            self.flows[index].listed = false;
        }
    }
}

impl<B: Send> Queue<B> for FqCoDel<B> {
    fn enqueue(&mut self, packet: Packet<B>, _: Instant) {
        self.counters.enter(packet.size);
        self.waiting.put(packet.size);
        let index = self.queue_of(packet.flow);
        let flow = &mut self.flows[index];
        flow.store.push(packet);
        if !flow.listed {
            flow.listed = true;
            flow.deficit = self.quantum;
            self.fresh.push_back(index);
        }
        if self.waiting.packets > self.limit {
            self.shed();
        }
    }

    fn dequeue(&mut self, now: Instant) -> Option<Packet<B>> {
        loop {
            let index = self.next_queue()?;
            let flow = &mut self.flows[index];
            let before = flow.store.count();
            let packet =
                flow.control
                    .dequeue(&self.codel, &mut flow.store, &mut self.counters, now);
            let after = flow.store.count();
            self.waiting.packets -= before.packets - after.packets;
            self.waiting.bytes -= before.bytes - after.bytes;
            if let Some(packet) = packet {
                flow.deficit -= i64::from(packet.size);
                self.counters.leave(packet.size);
                return Some(packet);
            }
            self.retire();
        }
    }

    fn backlog(&self) -> Count {
        self.waiting
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}
