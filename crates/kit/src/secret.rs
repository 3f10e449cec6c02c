//! What nobody can guess.

use std::hash::{BuildHasher, RandomState};

/// A number for identifiers and first numbers that others must not know: the standard library seeds each `RandomState` from
/// the system. No key for cryptography.
pub fn secret() -> u64 {
    RandomState::new().hash_one(0_u64)
}
