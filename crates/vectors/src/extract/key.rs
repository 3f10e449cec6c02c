//! Which connection or flow a packet belongs to.

use capture::dissect::Endpoint;
use core::hash::{Hash, Hasher};
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// Both ends, in an order of their own, so that both directions have one key.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Key {
    ends: [Endpoint; 2],
}

impl Key {
    /// The key of a packet, and the place of its sender in it.
    #[inline]
    pub(super) fn of(from: Endpoint, to: Endpoint) -> (Self, usize) {
        let place = usize::from((from.address, from.port) > (to.address, to.port));
        let ends = if place == 0 { [from, to] } else { [to, from] };
        (Self { ends }, place)
    }

    #[inline]
    pub(super) fn hash(&self, state: &FixedState) -> u64 {
        state.hash_one(self)
    }

    pub(super) const fn end(&self, place: usize) -> Endpoint {
        self.ends[place & 1]
    }
}

impl Hash for Key {
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let [low, high] = self.ends;
        hasher.write_u64(low.address[0]);
        hasher.write_u64(high.address[0]);
        hasher.write_u64(low.address[1]);
        hasher.write_u64(high.address[1]);
        hasher.write_u32(u32::from(low.port) << 16 | u32::from(high.port));
    }
}
