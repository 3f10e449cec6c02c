//! The key that both ends of a connection share.
//!
//! A signed packet says so in its flags and has a tag right behind them: HMAC-MD5 over all of it, where zeros stand in the tag's place.

use super::HMAC;
use crate::key::octets;
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use std::fmt;
use std::str::FromStr;

/// Octets of a tag.
pub(super) const TAG: usize = 16;
/// Octets before it: the magic number and the flags.
const AT: usize = 4;

/// A key that both ends share (`irtt server --hmac`).
#[derive(Clone)]
pub struct Key(Hmac<Md5>);

impl Key {
    /// Makes room for a tag in `packet`, and signs it.
    pub(super) fn sign(&self, packet: &mut Vec<u8>) {
        if let Some(flags) = packet.get_mut(AT - 1) {
            *flags |= HMAC;
            packet.splice(AT..AT, [0; TAG]);
            let tag = self.0.clone().chain_update(&packet).finalize().into_bytes();
            packet[AT..AT + TAG].copy_from_slice(&tag);
        }
    }

    /// `packet` without its tag, if it is signed by this key.
    pub(super) fn verified(&self, packet: &[u8]) -> Option<Vec<u8>> {
        let (head, rest) = packet.split_at_checked(AT)?;
        let (tag, rest) = rest.split_at_checked(TAG)?;
        if head[AT - 1] & HMAC == 0 {
            return None;
        }
        let mac = self.0.clone().chain_update(head).chain_update([0; TAG]);
        mac.chain_update(rest).verify_slice(tag).ok()?;
        let mut plain = [head, rest].concat();
        plain[AT - 1] &= !HMAC;
        Some(plain)
    }
}

impl FromStr for Key {
    type Err = &'static str;

    /// A text, or `hex:` and hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let octets = octets(text)?;
        Hmac::new_from_slice(&octets)
            .map(Self)
            .map_err(|_| "it is too long")
    }
}

impl fmt::Debug for Key {
    /// Without what it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::irtt::{MAGIC, OPEN};

    /// Against Python's `hmac.new(b"secret", packet, "md5")`.
    #[test]
    fn a_packet_is_signed_and_nobody_changes_it() {
        let key: Key = "secret".parse().unwrap();
        let plain = [MAGIC.as_slice(), &[OPEN, 1, 2]].concat();
        let mut signed = plain.clone();
        key.sign(&mut signed);
        let tag = "57605a93696f514db4a45a42544b7f55";
        assert_eq!(data_encoding::HEXLOWER.encode(&signed[4..20]), tag);
        assert_eq!(signed[..4], [0x14, 0xa7, 0x5b, OPEN | HMAC]);
        assert_eq!(key.verified(&signed), Some(plain.clone()));
        let same: Key = "hex:736563726574".parse().unwrap();
        assert_eq!(same.verified(&signed), Some(plain.clone()));
        let other: Key = "other".parse().unwrap();
        assert_eq!(other.verified(&signed), None);
        assert_eq!(key.verified(&plain), None);
        for at in 0..signed.len() {
            let mut changed = signed.clone();
            changed[at] ^= 0x10;
            assert_eq!(key.verified(&changed), None, "{at}");
        }
    }
}
