//! Others' connections: the same ones as in a lab, so many at once as there.

use crate::dumbbell::simulated::Application;
use crate::trial::web::{Flow, MOST, draw};
use sim::NodeId;
use sim::tcp::{Key, Stack, Terms};
use std::collections::BTreeMap;
use units::{FlowId, Instant};

/// See the [module](self).
pub(super) struct Web {
    to: NodeId,
    origin: Instant,
    seed: u64,
    flows: Vec<Flow>,
    next: usize,
    /// Octets that are left to write on each connection.
    open: BTreeMap<Key, u64>,
}

impl Web {
    /// Makes connections with `to` from one moment to another.
    pub(super) fn new(to: NodeId, [origin, end]: [Instant; 2], seed: u64) -> Self {
        Self {
            to,
            origin,
            seed,
            flows: draw(end.since(origin), seed),
            next: 0,
            open: BTreeMap::new(),
        }
    }

    fn open_due(&mut self, stack: &mut Stack, now: Instant) {
        while self.next_timeout().is_some_and(|start| start <= now) {
            let number = self.next as u64;
            let terms = Terms {
                seed: self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15),
                window: None,
                peer_window: None,
            };
            let key = stack.open(self.to, FlowId(2 * number + 2), terms, now);
            self.open.insert(key, self.flows[self.next].octets);
            self.next += 1;
        }
    }
}

impl Application for Web {
    fn handle_change(&mut self, key: Key, stack: &mut Stack, now: Instant) {
        let (Some(left), Some(connection)) = (self.open.get_mut(&key), stack.get(key)) else {
            return;
        };
        if connection.is_broken() || connection.is_refused() {
            stack.abort(key);
            self.open.remove(&key);
        } else if connection.has_peer_closed() {
            stack.release(key);
            self.open.remove(&key);
        } else if *left > 0 && connection.is_established() {
            *left -= stack.write(key, *left);
            if *left == 0 {
                stack.close(key);
            }
        }
        self.open_due(stack, now);
    }

    fn handle_asked(&mut self, from: NodeId, flow: FlowId, stack: &mut Stack, _: Instant) {
        stack.refuse(from, flow);
    }

    fn handle_timeout(&mut self, stack: &mut Stack, now: Instant) {
        self.open_due(stack, now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        let flow = self.flows.get(self.next);
        let flow = flow.filter(|_| self.open.len() < MOST);
        flow.map(|flow| self.origin + flow.start)
    }
}
