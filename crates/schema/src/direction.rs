//! Which way data goes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the data goes.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the client.
    Up,
    /// To it.
    Down,
}

impl Direction {
    /// As options and tables say it: `up` or `down`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Up => "up",
        }
    }

    /// Which end of the run sends.
    pub const fn sender(self) -> &'static str {
        match self {
            Self::Down => "server",
            Self::Up => "client",
        }
    }
}
