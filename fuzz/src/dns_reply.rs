//! What a resolver answers: read or refused.

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let _ = web::dns::reply(octets);
}
