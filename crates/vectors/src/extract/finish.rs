//! A connection that has ended, as a vector or as a number in the counters.

use super::Counters;
use super::connection::Connection;
use super::counters::Count;
use super::half::Half;
use super::key::Key;
use crate::{Body, Loss, Transport, Vector};
use core::net::SocketAddr;
use core::time::Duration;

/// How the connection's part of the capture ended.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum End {
    /// Both ends closed it, or one reset it.
    Closed,
    /// The capture ended.
    Capture,
    /// It was silent for too long.
    Silence,
    /// The same ends began another.
    Reused,
    /// It has as many ADUs as a vector may have; what follows is another vector.
    Full,
}

/// A connection of a capture, or a flow.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Extracted {
    /// What can be replayed.
    pub vector: Vector,
    /// What else is known.
    pub seen: Seen,
}

/// What a capture says of a connection that no vector says. Pairs are of the initiator and the acceptor.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Seen {
    /// Both ends.
    pub ends: [SocketAddr; 2],
    /// Whether a SYN told who is who; else, and always of UDP, the ports did, or who spoke first.
    pub initiator_known: bool,
    /// SYN, and FIN or RST, were seen; a flow of UDP has neither.
    pub complete: bool,
    /// How it ended.
    pub end: End,
    /// From the first packet to the last.
    pub duration: Duration,
    /// Packets.
    pub packets: [u64; 2],
    /// Octets of these, IP headers included.
    pub bytes: [u64; 2],
    /// Segments with data, those sent again too; datagrams with data, of UDP, of which the next four and the last say nothing.
    pub segments: [u64; 2],
    /// Segments that were seen before: lost behind the monitor, or sent again without need.
    pub again: [u64; 2],
    /// Segments that filled a hole too late to have been overtaken: lost before the monitor.
    pub filled: [u64; 2],
    /// Segments that were overtaken.
    pub overtaken: [u64; 2],
    /// Octets of data that must have been sent and are not in the capture.
    pub unseen: [u64; 2],
    /// The shortest time from a segment's passing the monitor to the answer of the *other* end: the half of the path between the
    /// monitor and that end.
    pub half_rtt: [Option<Duration>; 2],
}

impl Connection {
    /// The vector, if there is one, entered into `counters` either way.
    pub(super) fn finish(
        &self,
        key: &Key,
        end: End,
        origin_ns: u64,
        counters: &mut Counters,
    ) -> Option<Extracted> {
        let count = Count {
            connections: 1,
            packets: self.halves.iter().map(|half| half.packets).sum(),
            bytes: self.halves.iter().map(|half| half.bytes).sum(),
        };
        counters.all += count;
        counters.strange += self.strange;
        if self.halves.iter().any(|half| half.packets == 0) {
            counters.one_way += count;
            return None;
        }
        if self.talk.is_empty() {
            counters.no_data += count;
            return None;
        }
        // What came after a RST did not bring it back.
        let end = if self.reset_ns.is_some() && end != End::Full {
            End::Closed
        } else {
            end
        };
        let seen = self.seen(key, end);
        let kind = if self.talk.is_concurrent() {
            &mut counters.concurrent
        } else {
            &mut counters.sequential
        };
        *kind += count;
        let whole = if seen.complete {
            &mut counters.complete
        } else {
            &mut counters.incomplete
        };
        *whole += count;
        let vector = self.vector(origin_ns);
        Some(Extracted { vector, seen })
    }

    /// The halves of the initiator and the acceptor.
    const fn in_order(&self) -> [&Half; 2] {
        [
            &self.halves[self.initiator],
            &self.halves[1 - self.initiator],
        ]
    }

    fn seen(&self, key: &Key, end: End) -> Seen {
        let halves = self.in_order();
        let began = halves.iter().any(|half| half.syn.is_some());
        let ended = self.reset_ns.is_some() || halves.iter().any(|half| half.fin.is_some());
        Seen {
            ends: [self.initiator, 1 - self.initiator].map(|place| key.end(place).into()),
            initiator_known: self.initiator_known,
            complete: began && ended,
            end,
            duration: Duration::from_nanos(self.last_ns - self.first_ns),
            packets: halves.map(|half| half.packets),
            bytes: halves.map(|half| half.bytes),
            segments: halves.map(|half| half.segments),
            again: halves.map(|half| half.again.into()),
            filled: halves.map(|half| half.filled.into()),
            overtaken: halves.map(|half| half.overtaken.into()),
            unseen: halves.map(|half| half.holes.unseen()),
            half_rtt: halves.map(|half| half.round_trip.shortest_ns().map(Duration::from_nanos)),
        }
    }

    fn vector(&self, origin_ns: u64) -> Vector {
        let [ours, theirs] = self.in_order();
        // An end sends what the other wants to receive.
        let mss = theirs
            .mss
            .zip(ours.mss)
            .map(|(ours, theirs)| [ours.into(), theirs.into()]);
        Vector {
            transport: Transport::Tcp,
            start: Duration::from_nanos(self.first_ns.saturating_sub(origin_ns)),
            ids: [0; 2],
            windows: [ours.largest_window, theirs.largest_window],
            min_rtt: self.round_trip_ns().map(Duration::from_nanos),
            loss: [ours, theirs].map(loss),
            mss,
            body: self.body(),
        }
    }

    fn body(&self) -> Body {
        let fin = |place: usize| self.halves[place].fin.map(|(_, at_ns)| at_ns);
        let concurrent = self.talk.is_concurrent();
        let closed = |place: usize, last_ns: u64| {
            if concurrent {
                return fin(place).or(self.reset_ns);
            }
            // Whoever closed first after the last word. A FIN before it was no end, unless the other's had come too; a RST was
            // one, and what was on its way passed after it.
            let (one, two) = (fin(0), fin(1));
            let ends = [one, two, self.reset_ns];
            let after = ends.iter().flatten().filter(|&&at_ns| at_ns >= last_ns);
            after
                .min()
                .copied()
                .or_else(|| one.and(two))
                .or(self.reset_ns)
        };
        self.talk.body(self.initiator, self.established_ns, closed)
    }
}

/// What had to be sent again, of everything that was sent.
fn loss(half: &Half) -> Loss {
    let [again, filled] = [half.again, half.filled].map(u64::from);
    Loss::of(again + filled, half.segments + filled)
}
