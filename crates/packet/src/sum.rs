//! The Internet checksum (RFC 1071).

/// A sum of 16-bit words in network byte order, in ones' complement at the end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum(u64);

impl Sum {
    /// Adds `octets`; an odd one at the end counts as if a zero followed, so only the last call may have an odd number.
    pub fn add(&mut self, octets: &[u8]) {
        // Two words at once: 2^16 and all its powers are 1 here.
        let (words, rest) = octets.as_chunks::<4>();
        let sum: u64 = words
            .iter()
            .map(|word| u64::from(u32::from_be_bytes(*word)))
            .sum();
        let mut last = [0; 4];
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        self.0 += sum + u64::from(u32::from_be_bytes(last));
    }

    /// Adds a number as two words.
    pub fn add_u32(&mut self, number: u32) {
        self.0 += u64::from(number);
    }

    /// The sum, carries added until there are none.
    pub fn folded(self) -> u16 {
        let mut sum = self.0;
        while sum > u64::from(u16::MAX) {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    /// The checksum: what makes the sum of all words, itself among them, all ones.
    pub fn finish(self) -> u16 {
        !self.folded()
    }
}

/// Carries added into 16 bits.
pub(crate) fn fold(sum: u32) -> u16 {
    Sum(sum.into()).folded()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071_section_3() {
        let mut sum = Sum::default();
        sum.add(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.finish(), !0xddf2);
    }

    #[test]
    fn an_odd_octet_is_the_upper_half_of_a_word() {
        let mut sum = Sum::default();
        sum.add(&[0x12]);
        assert_eq!(sum.finish(), !0x1200);
    }
}
