//! What a TUN device hands over: cut into packets, marked, joined again and written.

/// Runs the target on an input.
pub fn run(read: &[u8]) {
    packet::fuzz_tun_read(read);
}
