//! What a run of `isobath rpm` is to do.

use crate::Ways;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::{HttpVersion, Span};

/// Intervals are no shorter, and a direction takes no longer.
const LEAST_INTERVAL: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(600);

/// A run of `isobath rpm`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Plan {
    /// The URL that was asked for.
    pub url: String,
    /// By which version of HTTP, `h2` or `h3`.
    #[serde(default = "h2")]
    pub http: HttpVersion,
    /// Which ways the load goes.
    pub ways: Ways,
    /// Interval duration (ID).
    pub interval: Span,
    /// The longest time of each direction.
    pub most: Span,
    /// Requests on an idle path before.
    pub idle_probes: u32,
    /// Most connections that load (MNP).
    pub most_connections: u32,
    /// Most probes in a second, of both kinds together (MPS).
    pub most_probes_per_s: u32,
}

/// What plans meant before there was a choice.
const fn h2() -> HttpVersion {
    HttpVersion::H2
}

impl Plan {
    /// Checks what parsing cannot.
    ///
    /// # Errors
    /// In one line what cannot be.
    pub fn check(&self) -> Result<(), String> {
        if self.interval.0 < LEAST_INTERVAL {
            return Err("an interval takes at least 200ms".to_owned());
        }
        if self.most.0 < self.interval.0 || self.most.0 > LONGEST {
            return Err("a direction takes at least an interval, and at most 10min".to_owned());
        }
        if self.http == HttpVersion::Http1 {
            return Err("responsiveness is measured by h2 or h3".to_owned());
        }
        Ok(())
    }
}
