//! What a transfer is to do.

use super::Headers;
use std::time::Duration;
use transport::Options;

/// One transfer.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The rules of both ends.
    pub options: Options,
    /// What is around them on the links.
    pub headers: Headers,
    /// When the first segment leaves, after the world's beginning.
    pub start: Duration,
    /// How long it goes on.
    pub end: End,
    /// What the sender's packet identifiers come from.
    pub seed: u64,
}

/// When a transfer ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    /// When so much time has passed since its start; the sender then falls silent, and what is under way still arrives.
    After(Duration),
    /// When so many segments have been acknowledged.
    Segments(u32),
}

impl Plan {
    /// A transfer that starts at once, in TCP's headers.
    pub fn new(options: Options, end: End) -> Self {
        Self {
            headers: Headers::tcp(&options),
            options,
            start: Duration::ZERO,
            end,
            seed: 0,
        }
    }
}
