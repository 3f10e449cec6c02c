//! The tests in virtual time: the same senders, receivers, judges, tables and figures, over links of [`sim`].
//!
//! A row of links joins the sender's host and the receiver's ([`near`], [`far`]). Their [`Datagram`]s are as long as those of real
//! tests, so the links see the same load: packets of the target's length, and a report of 124 octets of each, IPv4. [`mod@run`]
//! makes the tests one after the other, and looks at the queues meanwhile. A host sends what is due at once and is never late.

mod far;
mod host;
mod near;
mod run;

pub use run::{Context, run};

use super::plan::Plan;
use super::report::Totals;
use super::sender::Report;
use packet::UDP_HEADERS;
use path::{Family, Packet};
use schema::mbm::plan::SHORTEST_PAYLOAD;
use session::wire::Probe;
use sim::{Addressed, NodeId, Parcel};
use std::collections::VecDeque;
use units::{Ecn, FlowId, Instant, TrafficClass};

/// Octets of a packet that asks for a round trip and has no padding, and of a report, over IPv4.
#[expect(clippy::cast_possible_truncation, reason = "it is 56")]
const SHORTEST: u32 = Probe::LEN as u32 + UDP_HEADERS[0];
const REPORT: u32 = SHORTEST_PAYLOAD + UDP_HEADERS[0];

/// What two hosts send each other.
#[derive(Clone, Debug)]
pub struct Datagram(Box<Says>);

#[derive(Clone, Copy, Debug)]
enum Says {
    /// Asks for an answer of the same length.
    Ask { sent: Instant },
    /// The answer.
    Answer { sent: Instant },
    /// A packet of a stream.
    Packet {
        stream: Stream,
        seq: u64,
        sent: Instant,
    },
    /// The receiver's report of one; when it comes is not known yet.
    Report {
        stream: Stream,
        report: Report,
        totals: Totals,
    },
}

/// Which stream of which test.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Stream {
    test: u16,
    number: u16,
}

/// What a host sends, and to whom.
#[derive(Debug)]
struct Outbox {
    here: NodeId,
    peer: NodeId,
    waiting: VecDeque<Parcel<Datagram>>,
}

impl Outbox {
    const fn new(here: NodeId, peer: NodeId) -> Self {
        Self {
            here,
            peer,
            waiting: VecDeque::new(),
        }
    }

    fn put(&mut self, says: Says, octets: u32, flow: FlowId, class: TrafficClass, now: Instant) {
        self.waiting.push_back(Packet {
            size: octets,
            flow,
            family: Family::V4,
            dscp: class.dscp,
            ecn: class.ecn,
            at: now,
            body: Addressed {
                from: self.here,
                to: self.peer,
                payload: Datagram(Box::new(says)),
            },
        });
    }
}

/// The flow of what goes with a stream, one for each direction.
const fn flow(stream: Stream, is_back: bool) -> FlowId {
    let streams = (stream.test as u64) << 16 | stream.number as u64;
    FlowId((streams + 1) << 1 | is_back as u64)
}

/// Octets of a full packet of the target.
fn full(plan: &Plan) -> u32 {
    plan.target.mtu()
}

fn is_marked(ecn: Ecn) -> bool {
    ecn == Ecn::Ce
}

#[cfg(test)]
mod tests;
