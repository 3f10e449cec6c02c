//! Derating: a test that is milder than the models say, on the record and with a reason.
//!
//! The models are cautious, and RFC 8337 section 5.3 permits latitude where it is documented and justified. So a derating is
//! never a bare number: whoever reads the verdict also reads why the bar was lowered.

use super::TargetError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much milder a test is. Both shares are above 0 and at most 1; 1 leaves things as they are.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Derating {
    /// Share of the model's run length that is asked for: 0.5 permits twice the loss (RFC 8337 section 5.3).
    #[serde(default = "whole")]
    pub run_length: f64,
    /// Share of the target window in each burst, sent as much more often: bursts of `window x burst` every `rtt x burst`
    /// (thesis 3.6.1, RFC 8337 section 8.5.1).
    #[serde(default = "whole")]
    pub burst: f64,
    /// Why. Mandatory.
    pub reason: String,
}

const fn whole() -> f64 {
    1.0
}

impl Derating {
    /// Refuses what is no share, and what has no reason.
    pub(super) fn check(&self) -> Result<(), TargetError> {
        let refused = |what: String| Err(TargetError::Derating { what });
        for (name, share) in [("run length", self.run_length), ("burst", self.burst)] {
            if !(share > 0.0 && share <= 1.0) {
                return refused(format!(
                    "a derating of the {name} is a share above 0 and at most 1, not {share}"
                ));
            }
        }
        if self.reason.trim().is_empty() {
            return refused(
                "a derating needs a written reason (RFC 8337 section 5.3): say why the milder test is enough".to_owned(),
            );
        }
        Ok(())
    }
}
