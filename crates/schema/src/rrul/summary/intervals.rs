//! How sure a figure is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The 95 % confidence interval of a figure, in its unit.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Bounds {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// From so many values: seconds, of which neighbours that are alike count less; or requests, of a share.
    pub n: f64,
}
