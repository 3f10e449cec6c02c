//! How much a server gives, to one session and to all.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What one session may do. The client is told, so that a plan that asks for more fails before it
/// starts.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Limits {
    /// Seconds after which the session is closed.
    pub duration_s: u64,
    /// Data streams open at once.
    pub streams: u32,
    /// Datagrams a second that are served. Forged ones do not count; genuine ones beyond are dropped.
    pub datagrams_per_s: u32,
}

impl Limits {
    /// For whoever has the key.
    pub const KEYED: Self = Self {
        duration_s: 3_600,
        streams: 512,
        datagrams_per_s: 1_000_000,
    };
    /// For strangers, on a server that was told to let them in.
    pub const OPEN: Self = Self {
        duration_s: 120,
        streams: 32,
        datagrams_per_s: 5_000,
    };
}

/// Whom a server lets in, and how many.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Admission {
    /// Sessions at once.
    pub sessions: usize,
    /// Sessions at once from one source address.
    pub sessions_per_source: usize,
    /// Connections that have not yet shown what they are.
    pub pending: usize,
    /// The same from one source address.
    pub pending_per_source: usize,
    /// How long a connection may take to show what it is, handshake and hello together.
    pub handshake: Duration,
}

impl Admission {
    /// For whoever has the key.
    pub const KEYED: Self = Self {
        sessions: 16,
        sessions_per_source: 16,
        pending: 128,
        pending_per_source: 64,
        handshake: Duration::from_secs(5),
    };
    /// For strangers, on a server that was told to let them in.
    pub const OPEN: Self = Self {
        sessions: 4,
        sessions_per_source: 1,
        pending: 128,
        pending_per_source: 32,
        handshake: Duration::from_secs(5),
    };
}
