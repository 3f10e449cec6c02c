//! Who takes connections, reads all that comes, and closes when the other end has.

use crate::dumbbell::simulated::Application;
use crate::trial::source::Seconds;
use sim::NodeId;
use sim::tcp::{Connection, Key, Stack, Terms, back};
use units::{FlowId, Instant};

/// See the [module](self).
pub(super) struct Sink<'a> {
    /// Counts what was read in each second after a moment.
    pub(super) seconds: Option<(&'a Seconds, Instant)>,
}

impl Application for Sink<'_> {
    fn handle_change(&mut self, key: Key, stack: &mut Stack, now: Instant) {
        let heard = stack.take_heard(key);
        if let Some((seconds, origin)) = self.seconds.filter(|_| heard > 0) {
            let octets = usize::try_from(heard).unwrap_or(usize::MAX);
            seconds.add(now.since(origin).as_secs(), octets);
        }
        let connection = stack.get(key);
        if connection.is_some_and(|of| of.is_broken() || of.is_refused()) {
            stack.abort(key);
        } else if connection.is_some_and(Connection::has_peer_closed) {
            stack.close(key);
            stack.release(key);
        }
    }

    fn handle_asked(&mut self, from: NodeId, flow: FlowId, stack: &mut Stack, now: Instant) {
        let terms = Terms {
            seed: back(flow).0,
            window: None,
            peer_window: None,
        };
        stack.accept(from, flow, terms, now);
    }

    fn handle_timeout(&mut self, _: &mut Stack, _: Instant) {}

    fn next_timeout(&self) -> Option<Instant> {
        None
    }
}
