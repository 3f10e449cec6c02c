//! Other people's packets.

use crate::Pace;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Rate, Span};

/// What others send through a link; see [`Shared`](crate::Shared).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CrossSpec {
    /// What decides over the gaps between their packets.
    pub pace: Pace,
    /// Rates that follow each other. Without any, a recording goes at its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<Rate>,
    /// How long each rate lasts, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<Span>,
    /// What follows the last rate.
    #[serde(default)]
    pub then: Then,
    /// Octets of their packets on the link, each size equally likely; without them, 1,500.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<u32>,
    /// Name or file of recorded packets, whose sizes are taken in their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<String>,
    /// How many of the recording at once, each begun at another time.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub copies: u32,
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_one(copies: &u32) -> bool {
    *copies == 1
}

/// What follows the last rate.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// The first one.
    #[default]
    Repeat,
    /// The last one stays.
    Hold,
}
