//! The datagrams of a turn.

use crate::{Side, Vector};

/// Octets of the largest datagram of an end of which none is known: they fit into those of every path of QUIC (RFC 9000,
/// section 14).
const USUAL: u32 = 1_200;
/// The most octets that a datagram has, over IPv6 and without options (RFC 768, RFC 8200).
const MOST: u32 = 65_487;
/// Octets of a label.
pub const LABEL: usize = 4;

/// What is left of a turn, as datagrams: full ones, and one of the rest.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Train {
    /// Which turn of the vector.
    pub turn: u32,
    /// Octets of all of them.
    pub octets: u64,
    /// Octets of a full one.
    pub largest: u32,
}

impl Train {
    /// `octets` of the turn at place `turn`, which is one of `side`.
    pub(super) fn new(vector: &Vector, side: Side, turn: usize, octets: u64) -> Self {
        let largest = vector.mss.map_or(USUAL, |mss| mss[side.index()]);
        let largest = if largest == 0 { USUAL } else { largest };
        Self {
            turn: u32::try_from(turn).unwrap_or(u32::MAX),
            octets,
            largest: largest.min(MOST),
        }
    }

    /// Octets of each of them, in order.
    pub fn sizes(&self) -> impl Iterator<Item = u32> + use<> {
        let (mut left, largest) = (self.octets, self.largest);
        core::iter::from_fn(move || {
            let size = u32::try_from(left).map_or(largest, |left| left.min(largest));
            left -= u64::from(size);
            (size > 0).then_some(size)
        })
    }

    /// How many there are.
    pub const fn datagrams(&self) -> u64 {
        self.octets.div_ceil(self.largest as u64)
    }
}

/// Datagrams that `side` sends in all.
pub fn datagrams(vector: &Vector, side: Side) -> u64 {
    let turns = vector.body.turns().iter().filter(|turn| turn.side == side);
    let counts = turns.map(|turn| Train::new(vector, side, 0, turn.bytes).datagrams());
    counts.fold(0, u64::saturating_add)
}

/// The first octets of a datagram of `turn`.
pub const fn label(turn: u32) -> [u8; LABEL] {
    turn.to_be_bytes()
}

/// The turn of a datagram that begins so; none has one that is too short for a label.
pub fn labelled(payload: &[u8]) -> Option<u32> {
    payload.first_chunk().copied().map(u32::from_be_bytes)
}
