//! What comes back while a transfer goes: each error is the acknowledgement of one packet.

use super::quote::{Quotes, Verdict, verdict};
use std::net::{IpAddr, SocketAddr};
use sys::udp::IcmpError;
use transport::{Ack, PacketId, SackBlocks, Segment, Seq};
use units::Instant;

/// The answers to a transfer's packets.
#[derive(Debug)]
pub(crate) struct Answers {
    quotes: Quotes,
    /// The number of the latest packet that was answered, by the upper half of its identifier.
    newest: Option<u64>,
    /// What was counted of them so far.
    pub counts: Counts,
}

/// What was counted of them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Counts {
    /// Packets that were answered.
    pub answered: u64,
    /// Those of them that were answered after one that had left later (RFC 4737 section 3.3, of the way there and back).
    pub reordered: u64,
    /// Errors about none of the transfer's packets.
    pub strange: u64,
    /// The latest complaint that was no answer, and whose it was.
    pub complaint: Option<(Verdict, Option<IpAddr>)>,
}

impl Answers {
    /// Nothing yet.
    pub(crate) fn new(quotes: Quotes) -> Self {
        Self {
            quotes,
            newest: None,
            counts: Counts::default(),
        }
    }

    /// Where `segment` goes.
    pub(crate) fn send(&mut self, segment: &Segment) -> SocketAddr {
        self.quotes.send(segment.id)
    }

    /// The packet that `error` acknowledges, if it does.
    pub(crate) fn take(&mut self, error: &IcmpError) -> Option<PacketId> {
        let verdict = verdict(error);
        if verdict != Verdict::Arrived {
            self.counts.complaint = Some((verdict, error.reporter));
            return None;
        }
        let Some(id) = self.quotes.find(error) else {
            self.counts.strange += 1;
            return None;
        };
        let PacketId(number) = id;
        self.counts.answered += 1;
        let newest = *self.newest.get_or_insert(number);
        self.counts.reordered += u64::from(number < newest);
        self.newest = Some(newest.max(number));
        Some(id)
    }
}

/// An acknowledgement in which nothing but the identifier means anything: what one-way emulation needs.
pub(crate) const fn acknowledgement(id: PacketId) -> Ack {
    Ack {
        ack: Seq(0),
        id,
        highest: id,
        echo: Instant::ZERO,
        delay_ns: 0,
        window: 0,
        ece: false,
        sack: SackBlocks::NONE,
    }
}
