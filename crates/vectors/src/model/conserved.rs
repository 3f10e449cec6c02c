//! That a model moved no octet and no start.

use super::Pieces;
use crate::{Side, Vector};
use core::time::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What every structure must leave as it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Footprint {
    /// When the connection begins.
    pub start: Duration,
    /// Octets of initiator and acceptor.
    pub bytes: [u64; 2],
}

impl Footprint {
    /// That of a vector; take it before the vector is given away.
    pub fn of(vector: &Vector) -> Self {
        Self {
            start: vector.start,
            bytes: Side::BOTH.map(|side| vector.body.bytes(side)),
        }
    }
}

/// The counters of a rewriting: what went in, what came out, and the connections for which that is not the same.
///
/// Pairs are of the original's initiator and acceptor; what an end sends counts for it whichever end opened the connection
/// that carries it.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Conserved {
    /// Vectors before.
    pub vectors: u64,
    /// Connections made of them.
    pub connections: u64,
    /// Octets before.
    pub bytes_before: [u64; 2],
    /// Octets after.
    pub bytes_after: [u64; 2],
    /// Vectors that send another number of octets, either way.
    pub resized: u64,
    /// Vectors with a connection that begins at another time.
    pub moved: u64,
}

impl Conserved {
    /// Enters a vector and what became of it.
    pub fn enter(&mut self, before: Footprint, after: &Pieces) {
        let mut bytes = [0_u64; 2];
        let mut moved = false;
        self.vectors += 1;
        for (opener, piece) in after.iter() {
            self.connections += 1;
            moved |= piece.start != before.start;
            for sender in Side::BOTH {
                let of_original = if opener == Side::Initiator {
                    sender
                } else {
                    sender.other()
                };
                let sent = &mut bytes[of_original.index()];
                *sent = sent.saturating_add(piece.body.bytes(sender));
            }
        }
        self.moved += u64::from(moved);
        self.resized += u64::from(bytes != before.bytes);
        add_pair(&mut self.bytes_before, before.bytes);
        add_pair(&mut self.bytes_after, bytes);
    }

    /// Adds the counters of another part of the set.
    pub fn merge(&mut self, other: &Self) {
        self.vectors += other.vectors;
        self.connections += other.connections;
        self.resized += other.resized;
        self.moved += other.moved;
        add_pair(&mut self.bytes_before, other.bytes_before);
        add_pair(&mut self.bytes_after, other.bytes_after);
    }

    /// Whether each vector kept its start and its octets. The number of connections is another matter: *harpoon* makes two.
    pub const fn holds(&self) -> bool {
        self.resized == 0 && self.moved == 0
    }
}

fn add_pair(sums: &mut [u64; 2], more: [u64; 2]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum = sum.saturating_add(more);
    }
}
