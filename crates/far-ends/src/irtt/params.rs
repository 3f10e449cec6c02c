//! The parameters of a connection: pairs of a key (a variable-length integer) and a value (one of those with a sign in its lowest
//! bit: "zigzag"), as in Protocol Buffers.

/// What a client asks for, and what a server grants.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Params {
    /// Of the protocol.
    pub version: i64,
    /// How long requests may come.
    pub duration_ns: i64,
    /// From one request to the next.
    pub interval_ns: i64,
    /// Octets of a packet's payload.
    pub length: i64,
    /// What the server tells of the requests that came.
    pub received_stats: i64,
    /// Where it stamps.
    pub stamp_at: i64,
    /// By which clocks.
    pub clock: i64,
    /// Traffic-class octet of replies.
    pub dscp: i64,
}

/// The key of a string, which is not read: what servers fill their packets with.
const SERVER_FILL: u64 = 9;
/// No integer takes more octets.
const LONGEST: usize = 10;

impl Params {
    const fn values(&mut self) -> [&mut i64; 8] {
        // In the order of their keys, from 1.
        [
            &mut self.version,
            &mut self.duration_ns,
            &mut self.interval_ns,
            &mut self.length,
            &mut self.received_stats,
            &mut self.stamp_at,
            &mut self.clock,
            &mut self.dscp,
        ]
    }

    /// Appends them to `out`, those that are 0 left out.
    pub(super) fn emit(mut self, out: &mut Vec<u8>) {
        for (key, value) in (1..).zip(self.values()) {
            if *value != 0 {
                put(key, out);
                put(zigzag(*value), out);
            }
        }
    }

    /// Reads them; keys that are not known are left out. Nothing where an integer is cut short or too long.
    pub(super) fn parse(mut octets: &[u8]) -> Option<Self> {
        let mut params = Self::default();
        while !octets.is_empty() {
            let key = take(&mut octets)?;
            let value = take(&mut octets)?;
            if key == SERVER_FILL {
                octets = octets.get(usize::try_from(value).ok()?..)?;
                continue;
            }
            let place = usize::try_from(key).ok().and_then(|key| key.checked_sub(1));
            if let Some(known) = place.and_then(|place| params.values().into_iter().nth(place)) {
                *known = unzigzag(value);
            }
        }
        Some(params)
    }
}

fn put(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push((value & 0x7f) as u8);
}

fn take(octets: &mut &[u8]) -> Option<u64> {
    let mut value: u64 = 0;
    for (octet, shift) in octets.iter().take(LONGEST).zip((0..).step_by(7)) {
        value |= u64::from(octet & 0x7f).checked_shl(shift)?;
        if octet & 0x80 == 0 {
            *octets = &octets[(shift / 7) as usize + 1..];
            return Some(value);
        }
    }
    None
}

const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn integers_are_those_of_protocol_buffers() {
        let octets = |value| {
            let mut out = Vec::new();
            put(zigzag(value), &mut out);
            out
        };
        // The examples of its documentation: zigzag of -1, 1, -2; 300 as a plain integer is 0xac 0x02.
        assert_eq!(
            (octets(-1), octets(1), octets(-2)),
            (vec![1], vec![2], vec![3])
        );
        assert_eq!(octets(150), [0xac, 0x02]);
        assert_eq!(take(&mut [0x80; 11].as_slice()), None);
        assert_eq!(take(&mut [0x80].as_slice()), None);
    }

    proptest! {
        #[test]
        fn what_is_emitted_is_read(values in any::<[i64; 8]>()) {
            let mut params = Params::default();
            for (place, value) in params.values().into_iter().zip(values) {
                *place = value;
            }
            let mut out = Vec::new();
            params.emit(&mut out);
            prop_assert_eq!(Params::parse(&out), Some(params));
        }

        #[test]
        fn any_octets_are_read(octets in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = Params::parse(&octets);
        }
    }
}
