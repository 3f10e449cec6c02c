//! The application: constant octets in constant time.
//!
//! As on a kernel's socket, a piece is due at even intervals, and what TCP has no room for waits and is written later. Like the kernel with Nagle's
//! algorithm (RFC 9293 section 3.7.4, as Linux has it: `tcp_minshall_check`) it makes full segments, and a shorter one only when none is on its way; this is
//! here and not in [`sim::tcp`], whose applications say for themselves what leaves together.

use crate::dumbbell::simulated::Application;
use crate::trial::source::PIECE;
use sim::NodeId;
use sim::tcp::{Connection, Key, Stack, Terms};
use units::{FlowId, Instant, Rate};

/// The connection's flow.
pub(super) const FLOW: FlowId = FlowId(2);

/// See the [module](self).
pub(super) struct Source {
    to: NodeId,
    rate: Rate,
    origin: Instant,
    end: Instant,
    /// Octets of a full segment.
    segment: u64,
    seed: u64,
    key: Option<Key>,
    /// Octets that were due so far, and those that the connection has.
    due: u64,
    written: u64,
    /// Octets up to the end of the last short segment.
    short: u64,
    is_closed: bool,
}

impl Source {
    /// Writes to `to` at `rate` from one moment to another, in segments of so many octets.
    pub(super) const fn new(
        to: NodeId,
        rate: Rate,
        [origin, end]: [Instant; 2],
        segment: u64,
        seed: u64,
    ) -> Self {
        Self {
            to,
            rate,
            origin,
            end,
            segment,
            seed,
            key: None,
            due: 0,
            written: 0,
            short: 0,
            is_closed: false,
        }
    }

    /// When the next piece is due.
    fn next_piece(&self) -> Instant {
        self.origin + self.rate.time_for(self.due)
    }

    fn write(&mut self, stack: &mut Stack, now: Instant) {
        let Some(key) = self.key else { return };
        let connection = stack.get(key);
        if !connection.is_some_and(Connection::is_established) || self.is_closed {
            return;
        }
        let acked = connection.map_or(0, Connection::acked);
        while self.next_piece() <= now && now < self.end {
            self.due += PIECE as u64;
        }
        let full = (self.due - self.written) / self.segment * self.segment;
        if full > 0 {
            self.written += stack.write(key, full);
        }
        let rest = self.due - self.written;
        if (1..self.segment).contains(&rest) && acked >= self.short {
            self.written += stack.write(key, rest);
            self.short = self.written;
        }
        if now >= self.end {
            self.is_closed = true;
            stack.close(key);
        }
    }
}

impl Application for Source {
    fn handle_change(&mut self, _: Key, stack: &mut Stack, now: Instant) {
        self.write(stack, now);
    }

    fn handle_asked(&mut self, from: NodeId, flow: FlowId, stack: &mut Stack, _: Instant) {
        stack.refuse(from, flow);
    }

    fn handle_timeout(&mut self, stack: &mut Stack, now: Instant) {
        if self.key.is_none() {
            let terms = Terms {
                seed: self.seed,
                window: None,
                peer_window: None,
            };
            self.key = Some(stack.open(self.to, FLOW, terms, now));
        }
        self.write(stack, now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        let next = match self.key {
            None => Instant::ZERO,
            Some(_) => self.next_piece().min(self.end),
        };
        (!self.is_closed).then_some(next)
    }
}
