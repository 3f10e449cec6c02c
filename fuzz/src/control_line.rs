//! What a control connection carries: lines in pieces of any size, and the first messages in them. The first octet says how
//! long a piece is.

use session::{Hello, Lines, MAX_LINE, Refusal, Welcome};

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let Some((&piece, stream)) = octets.split_first() else {
        return;
    };
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
}
