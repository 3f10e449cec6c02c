//! What a browser says to the proxy: understood, incomplete or refused.

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let _ = web::browser::socks::greeting(octets);
    let _ = web::browser::socks::request(octets);
}
