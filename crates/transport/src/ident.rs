//! Packet identifiers: a counter that everyone may see, and a proof that nobody can make up.
//!
//! The lower half is a keyed pseudorandom function of the counter, `SipHash`-2-4 (Aumasson and Bernstein, "`SipHash`: a fast
//! short-input PRF", 2012). So any identifier of any age is checked without remembering it, and whoever has seen a
//! billion of them cannot make the next.

use crate::PacketId;

/// Issues identifiers and recognises them.
#[derive(Clone, Debug)]
pub(crate) struct Idents {
    /// None where nobody lies: identifiers are the counters alone.
    key: Option<Box<(u64, u64)>>,
    next: u64,
}

impl Idents {
    /// Identifiers by the secret `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        let key = (seed, siphash((seed, !seed), 0));
        Self {
            key: Some(Box::new(key)),
            next: 0,
        }
    }

    /// From now on identifiers prove nothing.
    pub(crate) fn make_plain(&mut self) {
        self.key = None;
    }

    /// The counter of the next packet; one more than that of the latest.
    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    /// The identifier of the next packet.
    pub(crate) fn issue(&mut self) -> PacketId {
        let id = self.name(self.next);
        self.next += 1;
        id
    }

    /// The identifier of the packet with `counter`.
    pub(crate) fn name(&self, counter: u64) -> PacketId {
        let proof = self.key.as_deref().map_or(0, |key| siphash(*key, counter));
        PacketId((counter << 32) | (proof & 0xffff_ffff))
    }

    /// The counter of `id`, if it is one of the latest 2^32 - 1 that were issued.
    pub(crate) fn counter(&self, id: PacketId) -> Option<u64> {
        let age = (self.next & 0xffff_ffff).wrapping_sub(id.0 >> 32) & 0xffff_ffff;
        let counter = self.next.checked_sub(age)?;
        (age > 0 && self.name(counter) == id).then_some(counter)
    }
}

/// `SipHash`-2-4 of the eight octets of `message`, little-endian, under `key`.
const fn siphash(key: (u64, u64), message: u64) -> u64 {
    let mut v = [
        key.0 ^ 0x736f_6d65_7073_6575,
        key.1 ^ 0x646f_7261_6e64_6f6d,
        key.0 ^ 0x6c79_6765_6e65_7261,
        key.1 ^ 0x7465_6462_7974_6573,
    ];
    absorb(&mut v, message);
    absorb(&mut v, 8 << 56);
    v[2] ^= 0xff;
    rounds(&mut v, 4);
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

const fn absorb(v: &mut [u64; 4], word: u64) {
    v[3] ^= word;
    rounds(v, 2);
    v[0] ^= word;
}

const fn rounds(v: &mut [u64; 4], count: u32) {
    let mut done = 0;
    while done < count {
        v[0] = v[0].wrapping_add(v[1]);
        v[2] = v[2].wrapping_add(v[3]);
        v[1] = v[1].rotate_left(13) ^ v[0];
        v[3] = v[3].rotate_left(16) ^ v[2];
        v[0] = v[0].rotate_left(32);
        v[2] = v[2].wrapping_add(v[1]);
        v[0] = v[0].wrapping_add(v[3]);
        v[1] = v[1].rotate_left(17) ^ v[2];
        v[3] = v[3].rotate_left(21) ^ v[0];
        v[2] = v[2].rotate_left(32);
        done += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's appendix has keys 00..0f; this is its table's entry for the message 00..07.
    #[test]
    fn the_function_is_the_published_one() {
        let key = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);
        assert_eq!(siphash(key, 0x0706_0504_0302_0100), 0x93f5_f579_9a93_2462);
    }

    /// Holds btc/interference.
    #[test]
    fn only_identifiers_that_were_issued_are_known() {
        let mut idents = Idents::new(7);
        let ids: Vec<PacketId> = (0..100).map(|_| idents.issue()).collect();
        for (counter, id) in (0_u64..).zip(&ids) {
            assert_eq!(idents.counter(*id), Some(counter));
            assert_eq!(idents.counter(PacketId(id.0 ^ 1)), None);
        }
        assert_eq!(idents.counter(idents.name(100)), None);
        assert_eq!(Idents::new(8).counter(ids[0]), None);
    }

    #[test]
    fn the_counter_passes_the_wrap_of_its_half() {
        let mut idents = Idents::new(1);
        idents.next = (1 << 32) - 2;
        let ids: Vec<PacketId> = (0..4).map(|_| idents.issue()).collect();
        let counters: Vec<_> = ids.iter().map(|id| idents.counter(*id)).collect();
        assert_eq!(
            counters,
            (0..4).map(|n| Some((1 << 32) - 2 + n)).collect::<Vec<_>>()
        );
    }
}
