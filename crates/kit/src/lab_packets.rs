//! The emulator's log of single datagrams, told in our words.
//!
//! The lab notes when each datagram entered and left each link, and keeps its first octets, which mean nothing to it. Here
//! they are the header of [`session::wire::Probe`]: stream and sequence say which sample a row belongs to, and the header's
//! own times are on the same clock, since both ends of a lab are one machine. So a round trip can be taken apart: what of it
//! was the emulated path's, and what the kernel's and ours.

use crate::lab_counters::nanos;
use lab::{Passage, Watch};
use schema::tables::Packet;
use session::wire::{self, Kind, Probe};
use units::Instant;

/// What the lab is to look for.
pub fn watch() -> Watch {
    Watch {
        prefix: wire::MAGIC.to_vec(),
    }
}

/// The row of `passage` in a run that starts at `origin`, without its link; `None` for what is no datagram of ours, or of
/// before the run.
pub(super) fn row(passage: &Passage, origin: Instant) -> Option<Packet> {
    // The lab keeps more than a header.
    let probe = Probe::parse(passage.payload()).ok()?;
    if passage.entered < origin {
        return None;
    }
    let since = |at: Instant| nanos(at.since(origin));
    let by_far_end = |at: Instant| (probe.kind == Kind::Reply).then(|| since(at));
    Some(Packet {
        t_ns: since(passage.entered),
        stream: probe.stream,
        seq: probe.sequence.into(),
        kind: match probe.kind {
            Kind::Request => "request",
            Kind::Reply => "reply",
            Kind::OneWay => "one_way",
        }
        .into(),
        due_ns: since(passage.due),
        left_ns: since(passage.left),
        sent_ns: since(probe.sent),
        received_ns: by_far_end(probe.received),
        replied_ns: by_far_end(probe.replied),
        ..Packet::default()
    })
}
