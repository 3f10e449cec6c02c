//! Verdicts: PASS, FAIL, INCONCLUSIVE or ERROR, with the reason (thesis table 3.1 and figure 3-3; RFC 8337 section 7.1).
//!
//! | outcome | when |
//! |---|---|
//! | PASS | the stream was as planned, and the loss rate is low enough |
//! | FAIL | the stream was as planned, and the loss rate is too high; or the path did not carry the target's rate, or is longer than the target's complete path |
//! | INCONCLUSIVE | the stream was as planned, and time ran out before the losses told anything |
//! | ERROR | the stream was not as planned, and that is not the path's fault |
//!
//! The distinction that matters is the last: whose fault it is that the stream was not as planned. A path that does not deliver 0.9 of
//! the target rate cannot support it, whatever the losses (thesis 4.2.2): that is FAIL. A sender that did not *send* the planned
//! packets has tested nothing: that is ERROR, and never FAIL. [`Judge`] is the flow chart.

mod checks;
mod figures;
mod judge;
mod reach;
mod words;

pub use words::percent;

pub use checks::{ARRIVAL_STRETCH, Check, RATE_SHARE};
pub use figures::TestFigures;
pub use judge::{Judge, JudgeOptions, Observation, Phase};
pub use reach::{judge_reach, longest_part};

use core::fmt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a test says of the path.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Outcome {
    /// The path supports the target, as far as this test goes.
    Pass,
    /// It does not.
    Fail,
    /// Not enough was seen.
    Inconclusive,
    /// The test itself did not work.
    Error,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Inconclusive => "INCONCLUSIVE",
            Self::Error => "ERROR",
        })
    }
}

/// Why a verdict is what it is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// Losses are few enough.
    LossLow,
    /// Losses are too many.
    LossHigh,
    /// The path does not carry the rate.
    RateLow,
    /// The path is longer than the target's complete path.
    RoundTripLong,
    /// The sender did not send the rate.
    SenderRate,
    /// The sender did not keep the pattern.
    SenderPattern,
    /// A clock was set during the test.
    ClockStep,
    /// The load was not within what the target allows.
    Envelope,
    /// Time ran out.
    Timeout,
    /// Nothing arrived.
    Silence,
    /// Packets arrived no slower than they were sent: the burst was not faster than the bottleneck.
    BurstSlow,
    /// The queue behaves.
    QueueGood,
    /// The first loss came too early.
    QueueShort,
    /// The first loss came too late, or not at all.
    QueueLong,
    /// Too much was lost at once.
    LossExcessive,
    /// The way back waits for the way there.
    Interference,
    /// No queue was seen.
    NoOnset,
    /// The path has so much more than the target asks for that the target's packets make no queue.
    Exceeds,
    /// Parts were composed.
    Composed,
}

/// A verdict with its reason.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Verdict {
    /// What the test says.
    pub outcome: Outcome,
    /// Why.
    pub reason: Reason,
    /// The same in words, with the figures.
    pub says: String,
    /// What would change it, in words.
    pub would_change: String,
}

impl Verdict {
    pub(crate) fn new(
        outcome: Outcome,
        reason: Reason,
        says: impl Into<String>,
        would_change: impl Into<String>,
    ) -> Self {
        Self {
            outcome,
            reason,
            says: says.into(),
            would_change: would_change.into(),
        }
    }
}

#[cfg(test)]
mod tests;
