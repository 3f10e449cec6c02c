//! What a control connection carries: lines in pieces of any size, and the first messages in them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use session::{Hello, Lines, MAX_LINE, Refusal, Welcome};

fuzz_target!(|input: (u8, &[u8])| {
    let (piece, stream) = input;
    let mut lines = Lines::default();
    for octets in stream.chunks(usize::from(piece) + 1) {
        lines.push(octets);
        while let Ok(Some(line)) = lines.next_line() {
            assert!(line.len() < MAX_LINE && !line.contains(&b'\n'));
            let _ = serde_json::from_slice::<Hello>(&line);
            let _ = serde_json::from_slice::<Refusal>(&line);
            let _ = serde_json::from_slice::<Welcome>(&line);
        }
    }
});
