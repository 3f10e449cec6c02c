//! The tag that says a data-plane packet belongs to a session.
//!
//! At the start of a session the server makes a [`DataKey`] and sends it inside TLS. From it both
//! ends derive one key per direction, so that a packet thrown back at its sender is not valid
//! there. The tag is the first 8 octets of keyed BLAKE3 over the packet, its own 8 octets left out.
//! Eight octets are enough because a guess can only be tried on line, and buys one stray sample.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Octets that a tag takes.
pub const TAG_LEN: usize = 8;

const TO_SERVER: &str = "isobath 1 data plane, client to server";
const TO_CLIENT: &str = "isobath 1 data plane, server to client";

/// A session's data-plane secret: 32 octets, base64url in JSON.
#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(transparent)]
pub struct DataKey(#[serde(with = "crate::base64")] pub(crate) [u8; 32]);

impl DataKey {
    /// The key with these octets.
    pub const fn new(octets: [u8; 32]) -> Self {
        Self(octets)
    }
}

impl fmt::Debug for DataKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DataKey(..)")
    }
}

/// What one direction of a session is tagged with.
#[derive(Clone, Copy)]
pub struct TagKey(pub(crate) [u8; 32]);

impl TagKey {
    /// The tag over `before` and `after`: the packet's octets on both sides of the tag's own.
    pub fn tag(&self, before: &[u8], after: &[u8]) -> [u8; TAG_LEN] {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(before).update(after);
        let mut tag = [0; TAG_LEN];
        hasher.finalize_xof().fill(&mut tag);
        tag
    }

    /// Whether `tag` is the tag over `before` and `after`.
    ///
    /// Both are compared as one machine word, so the time taken does not tell how much of a guess
    /// was right.
    pub fn verify(&self, before: &[u8], after: &[u8], tag: [u8; TAG_LEN]) -> bool {
        u64::from_ne_bytes(self.tag(before, after)) ^ u64::from_ne_bytes(tag) == 0
    }
}

impl fmt::Debug for TagKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TagKey(..)")
    }
}

/// Both directions' keys.
#[derive(Clone, Copy, Debug)]
pub struct DataKeys {
    /// Tags what the client sends.
    pub to_server: TagKey,
    /// Tags what the server sends.
    pub to_client: TagKey,
}

impl From<DataKey> for DataKeys {
    fn from(key: DataKey) -> Self {
        Self {
            to_server: TagKey(blake3::derive_key(TO_SERVER, &key.0)),
            to_client: TagKey(blake3::derive_key(TO_CLIENT, &key.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_directions_do_not_accept_each_others_tags() {
        let keys = DataKeys::from(DataKey::new([1; 32]));
        let tag = keys.to_server.tag(b"ab", b"cd");
        assert!(keys.to_server.verify(b"ab", b"cd", tag));
        assert!(!keys.to_client.verify(b"ab", b"cd", tag));
        assert!(!keys.to_server.verify(b"ab", b"ce", tag));
    }

    #[test]
    fn a_tag_is_the_head_of_keyed_blake3() {
        let key = TagKey([3; 32]);
        let whole = blake3::keyed_hash(&[3; 32], b"abcd");
        assert_eq!(key.tag(b"ab", b"cd"), whole.as_bytes()[..8]);
    }

    #[test]
    fn a_data_key_travels_as_text_and_is_not_shown() {
        let key = DataKey::new([9; 32]);
        let json = serde_json::to_string(&key).unwrap();
        let back: DataKey = serde_json::from_str(&json).unwrap();
        assert_eq!(back.0, key.0);
        assert_eq!(format!("{key:?}"), "DataKey(..)");
        assert!(serde_json::from_str::<DataKey>("\"AAAA\"").is_err());
    }
}
