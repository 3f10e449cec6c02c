//! The first 32 octets of a TCP data stream.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                      magic 'I' 'S' 'O' 'B'                    |  0
//! +---------------+---------------+-------------------------------+
//! |  version = 1  |     kind      |            stream             |  4
//! +---------------+---------------+-------------------------------+
//! |                            session                            |  8
//! |                                                               |
//! +---------------------------------------------------------------+
//! |                             nonce                             | 16
//! |                                                               |
//! +---------------------------------------------------------------+
//! |                              tag                              | 24
//! |                                                               |
//! +---------------------------------------------------------------+
//! ```
//!
//! `kind` says what the stream is for; its meaning is the measurement's. `nonce` counts the
//! session's streams and is accepted once, so a recorded preamble opens nothing. The tag covers the
//! 24 octets before it with the client's key.

use super::{MAGIC, VERSION, WireError, check_head, octets};
use crate::tag::{TAG_LEN, TagKey};

const TAG_AT: usize = 24;

/// What a TCP data stream says first.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Preamble {
    /// What the stream is for, in the measurement's own numbering.
    pub kind: u8,
    /// Which stream of the plan this is.
    pub stream: u16,
    /// The session it belongs to.
    pub session: u64,
    /// Counts the session's streams.
    pub nonce: u64,
}

impl Preamble {
    /// Octets of a preamble.
    pub const LEN: usize = TAG_AT + TAG_LEN;

    /// Reads a preamble, whose tag is then to be checked with [`Preamble::verify`].
    ///
    /// # Errors
    /// [`WireError`] for another magic number or version.
    pub fn parse(octets_in: &[u8; Self::LEN]) -> Result<Self, WireError> {
        check_head(octets_in)?;
        Ok(Self {
            kind: octets_in[5],
            stream: u16::from_be_bytes(octets(octets_in, 6)?),
            session: u64::from_be_bytes(octets(octets_in, 8)?),
            nonce: u64::from_be_bytes(octets(octets_in, 16)?),
        })
    }

    /// The preamble as it travels, tagged with the client's `key`.
    pub fn emit(&self, key: &TagKey) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        out[..4].copy_from_slice(&MAGIC);
        out[4] = VERSION;
        out[5] = self.kind;
        out[6..8].copy_from_slice(&self.stream.to_be_bytes());
        out[8..16].copy_from_slice(&self.session.to_be_bytes());
        out[16..24].copy_from_slice(&self.nonce.to_be_bytes());
        let tag = key.tag(&out[..TAG_AT], &[]);
        out[TAG_AT..].copy_from_slice(&tag);
        out
    }

    /// Checks the tag of `octets_in` with the client's `key`.
    ///
    /// # Errors
    /// [`WireError::Tag`].
    pub fn verify(octets_in: &[u8; Self::LEN], key: &TagKey) -> Result<(), WireError> {
        let tag = octets(octets_in, TAG_AT)?;
        if key.verify(&octets_in[..TAG_AT], &[], tag) {
            Ok(())
        } else {
            Err(WireError::Tag)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag::{DataKey, DataKeys};
    use proptest::prelude::*;

    fn keys() -> DataKeys {
        DataKeys::from(DataKey::new([0x42; 32]))
    }

    const SAMPLE: Preamble = Preamble {
        kind: 2,
        stream: 0x0304,
        session: 0x1011_1213_1415_1617,
        nonce: 0x2021_2223_2425_2627,
    };

    #[test]
    fn the_octets_are_in_the_documented_places() {
        let out = SAMPLE.emit(&keys().to_server);
        let head =
            b"ISOB\x01\x02\x03\x04\x10\x11\x12\x13\x14\x15\x16\x17\x20\x21\x22\x23\x24\x25\x26\x27";
        assert_eq!(&out[..24], head);
        assert_eq!(out[24..], GOLDEN_TAG);
    }

    /// Keyed BLAKE3 of the octets around the tag, by another implementation of its specification.
    const GOLDEN_TAG: [u8; 8] = [0xe1, 0xb3, 0xc6, 0xfc, 0x3b, 0x08, 0xc7, 0x97];

    #[test]
    fn another_version_is_told_from_garbage() {
        let mut out = SAMPLE.emit(&keys().to_server);
        out[4] = 9;
        assert_eq!(Preamble::parse(&out), Err(WireError::UnknownVersion(9)));
        out[0] = b'X';
        assert_eq!(Preamble::parse(&out), Err(WireError::Magic));
    }

    proptest! {
        #[test]
        fn a_preamble_survives_the_wire(kind: u8, stream: u16, session: u64, nonce: u64) {
            let preamble = Preamble { kind, stream, session, nonce };
            let out = preamble.emit(&keys().to_server);
            prop_assert_eq!(Preamble::parse(&out), Ok(preamble));
            prop_assert_eq!(Preamble::verify(&out, &keys().to_server), Ok(()));
            prop_assert_eq!(Preamble::verify(&out, &keys().to_client), Err(WireError::Tag));
        }

        #[test]
        fn one_changed_bit_breaks_the_tag(at in 0_usize..32, bit in 0_u32..8) {
            let mut out = SAMPLE.emit(&keys().to_server);
            out[at] ^= 1 << bit;
            prop_assert_eq!(Preamble::verify(&out, &keys().to_server), Err(WireError::Tag));
        }

        #[test]
        fn any_octets_are_parsed_or_refused(octets: [u8; 32]) {
            let _ = Preamble::parse(&octets);
        }
    }
}
