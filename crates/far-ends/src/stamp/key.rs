//! The key that both ends of the authenticated mode share.
//!
//! A tag is HMAC-SHA-256 cut to 16 octets (RFC 8762 section 4.4): of a packet over its first 96 octets, and of TLVs, by one of their own,
//! over the packet's sequence number and all TLVs before it (RFC 8972 section 4.8).

use super::layout::{SIGNED, put};
use super::{HMAC, PADDING, TLV, Tlvs};
use crate::field;
use crate::key::octets;
use ring::hmac;
use std::fmt;
use std::str::FromStr;

/// Octets of a tag.
pub(super) const TAG: usize = 16;
/// Where a packet's tag begins.
const AT: usize = SIGNED.len - TAG;

/// A key that both ends share.
#[derive(Clone)]
pub struct Key(hmac::Key);

impl Key {
    /// That of these octets.
    pub fn new(octets: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, octets))
    }

    /// Signs the packet at the beginning of `packet`.
    pub(super) fn sign(&self, packet: &mut [u8]) {
        let tag = packet.get(..AT).map(|signed| self.tag(&[signed]));
        put(packet, AT, &tag.unwrap_or_default());
    }

    /// Whether the packet at the beginning of `packet` is signed.
    pub(super) fn has_signed(&self, packet: &[u8]) -> bool {
        let tag = packet.get(AT..SIGNED.len);
        tag.is_some_and(|tag| is_same(tag, &self.tag(&[&packet[..AT]])))
    }

    /// The tag of the TLVs `before`, of the packet with this sequence number.
    pub(super) fn tag_of_tlvs(&self, sequence: [u8; 4], before: &[u8]) -> [u8; TAG] {
        self.tag(&[&sequence, before])
    }

    /// Those of `tlvs` that are signed; none where the tag does not hold, or more than padding stands behind it.
    pub(super) fn signed<'a>(&self, sequence: [u8; 4], tlvs: &'a [u8]) -> Option<&'a [u8]> {
        let (mut at, mut rest) = (0, Tlvs(tlvs));
        while let Some((head, value)) = rest.next() {
            if head[1] == HMAC {
                let before = &tlvs[..at];
                let is_last = rest.all(|(head, _)| head[1] == PADDING);
                let holds = is_last && is_same(value, &self.tag_of_tlvs(sequence, before));
                return holds.then_some(before);
            }
            at += TLV + value.len();
        }
        None
    }

    fn tag(&self, parts: &[&[u8]]) -> [u8; TAG] {
        let mut context = hmac::Context::with_key(&self.0);
        for part in parts {
            context.update(part);
        }
        field(context.sign().as_ref(), 0).unwrap_or_default()
    }
}

/// Takes as long where the first octet differs as where the last does.
fn is_same(one: &[u8], other: &[u8; TAG]) -> bool {
    let differs = one.iter().zip(other).fold(0, |all, (a, b)| all | a ^ b);
    one.len() == TAG && differs == 0
}

impl FromStr for Key {
    type Err = &'static str;

    /// A text, or `hex:` and hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self::new(&octets(text)?))
    }
}

impl fmt::Debug for Key {
    /// Without what it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}
