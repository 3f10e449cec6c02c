//! A capture file: refused, or packets that are dissected, none longer than the file (decompressed, than the reader's limit).

use capture::dissect::{Dissected, Dissector};
use capture::read::Reader;

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let Ok(mut reader) = Reader::new(octets) else {
        return;
    };
    // What is compressed may be very long.
    for _ in 0..10_000 {
        let Ok(Some(packet)) = reader.packet() else {
            return;
        };
        assert!(packet.octets.len() <= 16 << 20);
        for outer in [false, true] {
            let mut dissector = Dissector {
                outer,
                ..Dissector::default()
            };
            if let Dissected::Tcp(segment) = dissector.dissect(&packet) {
                assert!(segment.payload < segment.packet_len);
            }
            assert!(!outer || dissector.tunnelled == 0);
        }
    }
}
