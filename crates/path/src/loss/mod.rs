//! Packets that never arrive, for reasons that have nothing to do with a queue.

mod bernoulli;
mod blackhole;
mod gilbert_elliott;
mod listed;

pub use bernoulli::Bernoulli;
pub use blackhole::Blackhole;
pub use gilbert_elliott::GilbertElliott;
pub use listed::Listed;

use crate::{Cause, Counters, Element, Packet};
use std::collections::VecDeque;
use units::Instant;

/// Decides packet by packet, in order of arrival.
pub trait LossProcess: Send {
    /// Whether the next packet is lost.
    fn loses(&mut self) -> bool;
}

/// Loses the packets that its process chooses; the others leave when they come.
#[derive(Clone, Debug)]
pub struct Loss<P> {
    process: P,
    counters: Counters,
}

impl<P: LossProcess> Loss<P> {
    /// An element that loses what `process` chooses.
    pub fn new(process: P) -> Self {
        Self {
            process,
            counters: Counters::default(),
        }
    }
}

impl<B, P: LossProcess> Element<B> for Loss<P> {
    fn process(
        &mut self,
        packet: Option<Packet<B>>,
        _: Instant,
        out: &mut VecDeque<Packet<B>>,
    ) -> Option<Instant> {
        let packet = packet?;
        self.counters.enter(packet.size);
        if self.process.loses() {
            self.counters.drop(packet.size, Cause::Loss);
        } else {
            self.counters.leave(packet.size);
            out.push_back(packet);
        }
        None
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}
