//! The receiving end: frames as they arrive, and whether they can be decoded.

use super::Told;
use crate::dumbbell::simulated::Application;
use crate::medianet::decoder::Decoder;
use crate::medianet::global::STREAMS;
use crate::medianet::news::News;
use sim::NodeId;
use sim::tcp::{Connection, Key, Stack, Terms, back};
use units::{FlowId, Instant};

/// See the [module](self).
pub(super) struct Receiver {
    told: Told,
    decoders: [Decoder; STREAMS],
    heard: u64,
}

impl Receiver {
    pub(super) fn new(told: Told) -> Self {
        Self {
            told,
            decoders: [Decoder::default(); STREAMS],
            heard: 0,
        }
    }
}

impl Application for Receiver {
    fn handle_change(&mut self, key: Key, stack: &mut Stack, now: Instant) {
        self.heard += stack.take_heard(key);
        let mut frames = self.told.frames.borrow_mut();
        while let Some(&(end, frame)) = frames.front()
            && end <= self.heard
        {
            frames.pop_front();
            if let Some(decoder) = self.decoders.get_mut(usize::from(frame.stream)) {
                let is_good = decoder.handle_frame(frame.kind, frame.number);
                self.told.tell(News::Arrived(frame, is_good, now));
            }
        }
        if stack.get(key).is_some_and(Connection::has_peer_closed) {
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
