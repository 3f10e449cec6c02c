//! A data file of Flent's, whole or mutilated, packed or plain.

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let limits = flent::Limits {
        unpacked_bytes: 1 << 20,
        ..flent::Limits::default()
    };
    let _ = flent::import(octets, &limits);
}
