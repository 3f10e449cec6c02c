//! What a receiver can show: a frame whose anchors did not arrive cannot be decoded.

use super::frames::{Kind, anchor_at};

/// The anchors of a stream that were decoded last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Decoder {
    last: Option<u64>,
    before: Option<u64>,
}

impl Decoder {
    /// Takes a frame that has arrived whole; says whether it can be decoded. Frames arrive in the order of sending.
    pub fn handle_frame(&mut self, kind: Kind, number: u64) -> bool {
        let anchor = anchor_at(number);
        let earlier = anchor.checked_sub(1);
        match kind {
            Kind::I => self.anchor(anchor),
            Kind::P if earlier.is_some() && self.last == earlier => self.anchor(anchor),
            Kind::P => return false,
            Kind::B => {
                return earlier.is_some() && self.last == Some(anchor) && self.before == earlier;
            }
        }
        true
    }

    fn anchor(&mut self, anchor: u64) {
        self.before = self.last.replace(anchor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medianet::frames::kind_at;

    /// What becomes of three groups without the frames at these places: `.` where there is none, `x` where it cannot be decoded.
    fn decoded(without: impl Fn(u64) -> bool) -> String {
        let mut decoder = Decoder::default();
        let fate = |number| {
            if without(number) {
                return '.';
            }
            let kind = kind_at(number);
            let good = decoder.handle_frame(kind, number);
            if good {
                kind.name().chars().next().unwrap()
            } else {
                'x'
            }
        };
        (0..45).map(fate).collect()
    }

    #[test]
    fn a_whole_stream_is_decoded_but_for_the_first_two_between() {
        let all = decoded(|_| false);
        assert_eq!(all, "IxxPBBPBBPBBPBBIBBPBBPBBPBBPBBIBBPBBPBBPBBPBB");
    }

    /// Holds manager/decoding.
    #[test]
    fn what_depends_on_a_lost_frame_fails_until_the_next_picture() {
        let without = |number| decoded(|n| n == number);
        assert_eq!(without(3), "Ixx.xxxxxxxxxxxIxxPBBPBBPBBPBBIBBPBBPBBPBBPBB");
        assert_eq!(without(15), "IxxPBBPBBPBBPBB.xxxxxxxxxxxxxxIxxPBBPBBPBBPBB");
        // Nothing depends on a B frame.
        assert_eq!(without(16), "IxxPBBPBBPBBPBBI.BPBBPBBPBBPBBIBBPBBPBBPBBPBB");
    }

    #[test]
    fn the_lower_levels_lose_nothing() {
        let medium = decoded(|number| kind_at(number) == Kind::B);
        assert!(!medium.contains('x') && medium.matches('P').count() == 12);
        let low = decoded(|number| kind_at(number) != Kind::I);
        assert_eq!(low.matches('I').count(), 3);
        assert!(!low.contains('x'));
    }
}
