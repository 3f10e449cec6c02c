//! Configurations of responsiveness servers: what is read is read again as it was.

use far_ends::nq::Configuration;

/// Runs the target on an input: a configuration.
pub fn run(octets: &[u8]) {
    let Ok(read) = Configuration::read(octets) else {
        return;
    };
    assert!(read.origin.port > 0 && read.small.starts_with('/'));
    assert_eq!(Configuration::read(read.write().as_bytes()), Ok(read));
}
