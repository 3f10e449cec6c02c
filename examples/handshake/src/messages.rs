//! What the two ends say to each other, one JSON line each.
//!
//! ```text
//! near: handshake   the plan
//! far:  ready       or refused, with the reason
//!       ... connections ...
//! near: finish
//! far:  accepted    how many arrived
//! ```

use crate::plan::Plan;
use serde::{Deserialize, Serialize};

/// Kind octet of our connections in the preamble.
pub(crate) const KIND: u8 = 200;

/// The first line, by which a server knows what is wanted.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Opening {
    /// A run of this measurement.
    Handshake(Plan),
}

/// What the near end says then.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Near {
    /// There are no more connections.
    Finish,
}

/// What the far end says.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Far {
    /// It accepts connections.
    Ready,
    /// It does not.
    Refused(String),
    /// So many arrived.
    Accepted(u32),
}
