//! Segments for a receiver with any rules: it takes them or refuses them, and remembers no more than they are.

use std::time::Duration;
use transport::wire::{Address, Datagram, emit_ack};
use transport::{Options, Receiver};
use units::{Ecn, Instant};

/// Octets of a segment's datagram: the header, and what says how long it waits.
const PIECE: usize = 49;

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let Some((rules, datagrams)) = octets.split_first_chunk::<8>() else {
        return;
    };
    let [a, b, c, d, every, rest @ ..] = *rules;
    let mut options = Options {
        receive_window: u32::from_be_bytes([a, b, c, d]),
        ..Options::default()
    };
    options.delayed_ack.every = u32::from(every);
    options.first_seq = u32::from_be_bytes([rest[0], rest[1], rest[2], 0]);
    let mut receiver = Receiver::new(&options);
    let mut now = Instant::ZERO;
    for piece in datagrams.chunks(PIECE) {
        let (wait, datagram) = piece.split_at(1);
        now += Duration::from_millis(wait[0].into());
        receiver.handle_timeout(now);
        if let Ok((_, Datagram::Segment(segment))) = Datagram::parse(datagram) {
            receiver.handle_segment(&segment, Ecn::NotEct, now);
        }
        while let Some(ack) = receiver.poll_transmit(now) {
            let address = Address {
                session: 1,
                stream: 1,
            };
            let _ = emit_ack(&ack, address, &mut [0; 256]);
        }
    }
    let receipts = receiver.receipts();
    assert!(receipts.segments + receipts.duplicates + receipts.refused <= receipts.packets);
}
