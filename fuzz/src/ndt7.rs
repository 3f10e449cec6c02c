//! What an ndt7 server tells: what is read is read again as it was.

use far_ends::ndt7::Measurement;

/// Runs the target on an input: a text of the server's.
pub fn run(octets: &[u8]) {
    let Some(read) = Measurement::read(octets) else {
        return;
    };
    assert_eq!(Measurement::read(read.write().as_bytes()), Some(read));
}
