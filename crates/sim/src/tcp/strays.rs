//! Answers to packets that belong to no connection.

use super::packet::Tcp;
use super::stack::back;
use crate::{NodeId, Parcel};
use foldhash::fast::FixedState;
use std::collections::{HashSet, VecDeque};
use transport::{Ack, SackBlocks, Segment};
use units::FlowId;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Strays {
    /// Flows from here whose connections were given up, and are forgotten.
    given_up: HashSet<u64, FixedState>,
    /// To whom, of which flow, what.
    answers: VecDeque<(NodeId, FlowId, Tcp)>,
}

impl Strays {
    /// The connection of `flow` from here was given up.
    pub(super) fn give_up(&mut self, flow: FlowId) {
        self.given_up.insert(flow.0);
    }

    /// A connection is refused.
    pub(super) fn refuse(&mut self, to: NodeId, flow: FlowId) {
        self.answers.push_back((to, flow, Tcp::Reset));
    }

    /// A packet of a connection that is over. One that was given up is reset (RFC 9293 section 3.10.7.1); in any other, what has been said
    /// is acknowledged as in `TIME-WAIT` (section 3.10.7.4).
    pub(super) fn answer(&mut self, packet: &Parcel<Tcp>) {
        let flow = back(packet.flow);
        let answer = match &packet.body.payload {
            Tcp::Reset | Tcp::Udp(_) => return,
            _ if self.given_up.contains(&flow.0) => Tcp::Reset,
            Tcp::Data(data) => Tcp::Ack(Box::new(last_ack(&data.segment))),
            _ => return,
        };
        self.answers.push_back((packet.body.from, flow, answer));
    }

    /// The next answer.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(NodeId, FlowId, Tcp)> {
        self.answers.pop_front()
    }
}

/// The acknowledgement of the last segment of a connection.
fn last_ack(segment: &Segment) -> Ack {
    Ack {
        ack: segment.seq.plus(1),
        id: segment.id,
        highest: segment.id,
        echo: segment.sent,
        delay_ns: 0,
        window: u32::MAX >> 1,
        ece: false,
        sack: SackBlocks::NONE,
    }
}
