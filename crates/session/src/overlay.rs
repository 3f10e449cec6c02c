//! The tag of an overlay's packets: as that of a session's datagrams, and nearly ten times as fast.
//!
//! An overlay tags every packet of every program at both ends, and a hash of 1,400 octets takes as long as all else that
//! happens to a packet. Processors have AES in GCM built in. Its tag is what is used here, and nothing else of it: the packet is encrypted on the
//! side, the first 8 octets of the tag are taken, and the ciphertext is thrown away. An attacker sees no more than GCM would show:
//! without the key stream a tag over the ciphertext of a packet that is known is worth no more than one over a ciphertext that is
//! (NIST SP 800-38D; its appendix C on tags of 64 bits). As with GCM no number may be used for two packets: the nonce is the packet's 64-bit
//! number.

use crate::tag::{DataKey, TAG_LEN, TagKey};
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use std::cell::RefCell;
use std::fmt;

const TO_SERVER: &str = "isobath 1 overlay, client to server";
const TO_CLIENT: &str = "isobath 1 overlay, server to client";
/// Octets of a key of AES-128.
const KEY: usize = 16;

/// Both directions' keys for the packets of an overlay: nothing that is tagged with these is valid among the session's
/// other datagrams, nor the other way round.
#[derive(Clone, Copy, Debug)]
pub struct OverlayKeys {
    /// Tags what the client sends.
    pub to_server: OverlayKey,
    /// Tags what the server sends.
    pub to_client: OverlayKey,
}

impl From<DataKey> for OverlayKeys {
    fn from(key: DataKey) -> Self {
        let derived = |context| OverlayKey(TagKey(blake3::derive_key(context, &key.0)));
        Self {
            to_server: derived(TO_SERVER),
            to_client: derived(TO_CLIENT),
        }
    }
}

/// What one direction's packets are tagged with.
#[derive(Clone, Copy, Debug)]
pub struct OverlayKey(TagKey);

impl OverlayKey {
    /// Ready to tag.
    pub fn tagger(self) -> Tagger {
        let key = self.0.0.first_chunk::<KEY>();
        let key = key.and_then(|key| UnboundKey::new(&AES_128_GCM, key).ok());
        Tagger {
            key: key.map(LessSafeKey::new),
            hash: self.0,
            room: RefCell::new(Vec::new()),
        }
    }
}

/// A key, made ready, and room to work in.
pub struct Tagger {
    key: Option<LessSafeKey>,
    /// For what is no packet: then the tag is a hash, as of other datagrams.
    hash: TagKey,
    room: RefCell<Vec<u8>>,
}

impl Tagger {
    /// The tag over a packet: `before` is the session's number (8 octets) and the upper half of the packet's number, `packet`
    /// begins with the lower half.
    pub fn tag(&self, before: &[u8], packet: &[u8]) -> [u8; TAG_LEN] {
        let tag = self.of_packet(before, packet);
        tag.unwrap_or_else(|| self.hash.tag(before, packet))
    }

    fn of_packet(&self, before: &[u8], packet: &[u8]) -> Option<[u8; TAG_LEN]> {
        let key = self.key.as_ref()?;
        let mut nonce = [0; NONCE_LEN];
        nonce[..4].copy_from_slice(before.get(8..12)?);
        nonce[4..8].copy_from_slice(packet.get(..4)?);
        let mut room = self.room.try_borrow_mut().ok()?;
        room.clear();
        room.extend_from_slice(packet);
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = key.seal_in_place_separate_tag(nonce, Aad::from(before), &mut room);
        tag.ok()?.as_ref().first_chunk().copied()
    }
}

impl fmt::Debug for Tagger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tagger(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag::DataKeys;
    use proptest::prelude::*;

    const BEFORE: [u8; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 9];

    fn keys() -> OverlayKeys {
        OverlayKeys::from(DataKey::new([1; 32]))
    }

    #[test]
    fn directions_and_other_datagrams_have_other_tags() {
        let plain = DataKeys::from(DataKey::new([1; 32]));
        let packet = [5; 40];
        let tags = [
            keys().to_server.tagger().tag(&BEFORE, &packet),
            keys().to_client.tagger().tag(&BEFORE, &packet),
            plain.to_server.tag(&BEFORE, &packet),
            plain.to_client.tag(&BEFORE, &packet),
        ];
        let different: std::collections::BTreeSet<_> = tags.iter().collect();
        assert_eq!(different.len(), tags.len());
    }

    #[test]
    fn the_tag_is_the_head_of_gcms() {
        let key = keys().to_server;
        let aes = UnboundKey::new(&AES_128_GCM, &key.0.0[..16]).unwrap();
        let nonce = [0, 0, 0, 9, 5, 5, 5, 5, 0, 0, 0, 0];
        let nonce = Nonce::assume_unique_for_key(nonce);
        let mut sealed = vec![5; 40];
        LessSafeKey::new(aes)
            .seal_in_place_append_tag(nonce, Aad::from(&BEFORE), &mut sealed)
            .unwrap();
        assert_eq!(key.tagger().tag(&BEFORE, &[5; 40]), sealed[40..48]);
    }

    proptest! {
        #[test]
        fn every_octet_counts(
            before: [u8; 12],
            packet in prop::collection::vec(any::<u8>(), 4..200),
            at in any::<prop::sample::Index>(),
            by in 1_u8..,
        ) {
            let tagger = keys().to_client.tagger();
            let tag = tagger.tag(&before, &packet);
            prop_assert_eq!(tagger.tag(&before, &packet), tag);
            let (mut other, mut changed) = (before, packet.clone());
            let place = at.index(12 + packet.len());
            match place.checked_sub(12) {
                Some(place) => changed[place] ^= by,
                None => other[place] ^= by,
            }
            prop_assert_ne!(tagger.tag(&other, &changed), tag);
        }

        #[test]
        fn octets_that_are_no_packet_have_a_tag_too(before in prop::collection::vec(any::<u8>(), 0..20), packet in prop::collection::vec(any::<u8>(), 0..8)) {
            let tagger = keys().to_client.tagger();
            prop_assert_eq!(tagger.tag(&before, &packet), tagger.tag(&before, &packet));
        }
    }
}
