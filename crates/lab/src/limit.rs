//! Hosts that are slower than this machine.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A host with less processor time than this machine has.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LimitSpec {
    /// The host.
    pub host: String,
    /// What its programs have together, as a share of one processor.
    pub cpu: CpuShare,
}

/// A share of one processor, from 1 % to 100 %, written `20%`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct CpuShare(f64);

impl CpuShare {
    /// The share as a number from 0.01 to 1.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<String> for CpuShare {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let number = text.strip_suffix('%').and_then(|n| n.trim().parse().ok());
        number
            .filter(|percent| (1.0..=100.0).contains(percent))
            .map(|percent: f64| Self(percent / 100.0))
            .ok_or_else(|| {
                format!("'{text}' is not a share of one processor - write 1% to 100%, such as 20%")
            })
    }
}

impl From<CpuShare> for String {
    fn from(share: CpuShare) -> Self {
        share.to_string()
    }
}

impl fmt::Display for CpuShare {
    /// As it is written: `20%`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = (self.0 * 1e8).round() / 1e6;
        write!(f, "{percent}%")
    }
}
