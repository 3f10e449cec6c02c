//! Bulk transfers: `transport`'s sender on one host, its receiver on another.

mod arrivals;
mod headers;
mod log;
mod plan;
mod report;
mod sink;
mod source;
mod topology;

pub use headers::Headers;
pub use log::{Log, Packet};
pub use plan::{End, Plan};
pub use report::{Outcome, Report};
pub use sink::Sink;
pub use source::Source;
pub use topology::{Duplex, Transfers, pipeline, transfer_link};

use crate::{Node, Parcel};
use transport::Sender;
use transport::wire::Datagram;
use units::{Ecn, Instant};

/// An end of a transfer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    /// Where the data come from.
    Sender,
    /// Where they go.
    Receiver,
}

/// Looks on at one end of a transfer. Every method does nothing unless it is written; `()` sees nothing.
pub trait Observer {
    /// A packet left or arrived at this end, with `ecn` in its header.
    fn packet(&mut self, side: Side, body: &Datagram, ecn: Ecn, now: Instant) {
        let _ = (side, body, ecn, now);
    }

    /// The sender has been told something; its events may be taken.
    fn sender(&mut self, sender: &mut Sender, now: Instant) {
        let _ = (sender, now);
    }
}

impl Observer for () {}

/// A host with one end of a transfer.
pub enum Endpoint<O> {
    /// The sender's.
    Source(Box<Source<O>>),
    /// The receiver's.
    Sink(Box<Sink<O>>),
}

impl<O: Observer> Node for Endpoint<O> {
    type Payload = Datagram;

    fn handle_packet(&mut self, packet: Parcel<Datagram>, now: Instant) {
        let ecn = packet.ecn;
        match (self, &packet.body.payload) {
            (Self::Source(source), Datagram::Ack(ack)) => source.handle_ack(ack, ecn, now),
            (Self::Sink(sink), Datagram::Segment(segment)) => {
                sink.handle_segment(segment, ecn, now);
            }
            // Nobody sends a source data, or a sink acknowledgements.
            _ => {}
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        match self {
            Self::Source(source) => source.handle_timeout(now),
            Self::Sink(sink) => sink.handle_timeout(now),
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Parcel<Datagram>> {
        match self {
            Self::Source(source) => source.poll_transmit(now),
            Self::Sink(sink) => sink.poll_transmit(now),
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        match self {
            Self::Source(source) => source.next_timeout(),
            Self::Sink(sink) => sink.next_timeout(),
        }
    }
}
