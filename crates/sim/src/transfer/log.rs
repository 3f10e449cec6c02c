//! What an end of a transfer sees, kept.

use super::{Observer, Side};
use std::time::Duration;
use transport::wire::Datagram;
use transport::{Event, Sender, Snapshot};
use units::{Ecn, Instant};

/// The least time between two looks at an unbroken window.
const APART: Duration = Duration::from_millis(1);

/// A packet as it passed an end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet {
    /// When it left or arrived.
    pub at: Instant,
    /// Which end saw it.
    pub side: Side,
    /// What it brought.
    pub body: Datagram,
    /// The ECN field of its header.
    pub ecn: Ecn,
}

/// Keeps what happens at one end: the sender's window at every change, at most one a millisecond and at every cut; every
/// event; the first so many packets.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// How the sender stood.
    pub windows: Vec<(Instant, Snapshot)>,
    /// What happened to it.
    pub events: Vec<(Instant, Event)>,
    /// The packets that passed.
    pub packets: Vec<Packet>,
    /// Packets that passed when there were [`Log::most_packets`] already.
    pub left_out: u64,
    most_packets: usize,
}

impl Log {
    /// A log that keeps at most `packets` packets.
    pub fn new(packets: usize) -> Self {
        Self {
            most_packets: packets,
            ..Self::default()
        }
    }

    /// How many packets are kept at most.
    pub const fn most_packets(&self) -> usize {
        self.most_packets
    }
}

impl Observer for Log {
    fn packet(&mut self, side: Side, body: &Datagram, ecn: Ecn, at: Instant) {
        if self.packets.len() < self.most_packets {
            let body = *body;
            self.packets.push(Packet {
                at,
                side,
                body,
                ecn,
            });
        } else {
            self.left_out += 1;
        }
    }

    fn sender(&mut self, sender: &mut Sender, now: Instant) {
        let mut is_cut = false;
        while let Some(event) = sender.poll_event() {
            is_cut |= matches!(event, Event::Cut { .. } | Event::Undone);
            self.events.push((now, event));
        }
        let last = self.windows.last();
        if is_cut || last.is_none_or(|(at, _)| now.since(*at) >= APART) {
            let snapshot = sender.snapshot();
            if last.is_none_or(|(_, last)| *last != snapshot) {
                self.windows.push((now, snapshot));
            }
        }
    }
}
