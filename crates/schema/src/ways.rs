//! Which ways a load goes.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Which ways the load goes, one after the other.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Ways {
    /// Down, then up.
    #[default]
    Both,
    /// From the server.
    Down,
    /// To the server.
    Up,
}

impl Ways {
    /// The directions in turn, as tables name them.
    pub const fn directions(self) -> &'static [&'static str] {
        match self {
            Self::Both => &["down", "up"],
            Self::Down => &["down"],
            Self::Up => &["up"],
        }
    }
}
