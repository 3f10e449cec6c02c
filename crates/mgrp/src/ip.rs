//! The little that has to be known of an application's packet.

pub(crate) use ::packet::protocol;

/// A packet of IPv4 with this number in place of its source.
#[cfg(test)]
pub(crate) fn packet(number: u32, length: u16) -> Vec<u8> {
    let mut packet = vec![0x5a; usize::from(length.max(20))];
    packet[0] = 0x45;
    packet[2..4].copy_from_slice(&length.max(20).to_be_bytes());
    packet[9] = 6;
    packet[12..16].copy_from_slice(&number.to_be_bytes());
    packet
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_versions_name_their_protocol() {
        assert_eq!(protocol(&packet(0, 100)), Some(6));
        let mut six = vec![0; 48];
        (six[0], six[5], six[6]) = (0x60, 8, 17);
        assert_eq!(protocol(&six), Some(17));
        assert_eq!(protocol(&six[..47]), None, "shorter than it says");
        assert_eq!(protocol(&packet(0, 100)[..20]), None);
        assert_eq!(protocol(&[0x45; 8]), None);
    }

    proptest! {
        #[test]
        fn any_octets_are_read_or_refused(octets in prop::collection::vec(any::<u8>(), 0..80)) {
            if protocol(&octets).is_some() {
                prop_assert!(octets.len() >= 20);
            }
        }
    }
}
