//! What a tool says over the manager's socket, in pieces: read or refused; what is read is written back and read again as it was.
//! The first octet says how long a piece is.

use mgrp::message::{Frames, MOST_MESSAGE};
use units::Instant;

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let Some((&size, octets)) = octets.split_first() else {
        return;
    };
    let mut frames = Frames::default();
    for piece in octets.chunks(usize::from(size).max(1)) {
        frames.push(piece, Instant::ZERO);
        loop {
            match frames.poll() {
                Ok(Some(frame)) => {
                    let Ok(message) = frame.message else { continue };
                    let mut again = Frames::default();
                    let mut out = Vec::new();
                    message.emit(&mut out).expect("what is read can be written");
                    again.push(&out, Instant::ZERO);
                    let read = again.poll().expect("short enough").expect("whole");
                    assert_eq!(read.message, Ok(message));
                }
                Ok(None) => break,
                Err(_) => return,
            }
        }
        assert!(frames.kept() <= MOST_MESSAGE + 4 + 255);
    }
}
