//! A datagram of a transfer: parsed or refused; what is parsed is written back as it was, but for the tag.

use transport::wire::{Datagram, covered, emit_ack, emit_segment, set_tag, tag_of};

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let tag = tag_of(octets);
    let _ = covered(octets);
    if let Ok((address, datagram)) = Datagram::parse(octets) {
        let mut again = octets.to_vec();
        let length = match &datagram {
            Datagram::Segment(segment) => emit_segment(segment, address, &mut again),
            Datagram::Ack(ack) => emit_ack(ack, address, &mut again),
        };
        assert_eq!(length, Ok(octets.len()));
        set_tag(&mut again, tag.expect("what parses has a tag")).expect("and room for one");
        assert_eq!(again, octets);
    }
}
