//! Octets that nobody can guess, from the operating system.

use crate::Error;

/// `N` unpredictable octets.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut octets = [0; N];
    rustls::crypto::ring::default_provider()
        .secure_random
        .fill(&mut octets)
        .map_err(|_| Error::Random)?;
    Ok(octets)
}
