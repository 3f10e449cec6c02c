//! The Internet checksum (RFC 1071).

/// A sum of 16-bit words in network byte order, in ones' complement at the end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum(u64);

impl Sum {
    /// Adds `octets`; an odd one at the end counts as if a zero followed, so only the last call may have an odd number.
    pub(crate) fn add(&mut self, octets: &[u8]) {
        let (words, rest) = octets.as_chunks::<2>();
        for word in words {
            self.0 += u64::from(u16::from_be_bytes(*word));
        }
        if let [last] = rest {
            self.0 += u64::from(*last) << 8;
        }
    }

    /// Adds a number as two words.
    pub(crate) fn add_u32(&mut self, number: u32) {
        self.add(&number.to_be_bytes());
    }

    /// The checksum: what makes the sum of all words, itself among them, all ones.
    pub(crate) fn finish(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        // Folded above.
        !u16::try_from(sum).unwrap_or_default()
    }
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
