//! What a test leaves behind.

use super::Check;
use crate::loss::Counts;
use crate::sequential::{Hypotheses, Walk};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The figures of a test, in the form of a record.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TestFigures {
    /// What was asked of the losses.
    pub hypotheses: Hypotheses,
    /// Packets, losses and marks of the test period.
    pub counts: Counts,
    /// The test's way through packets and losses.
    pub walk: Walk,
    /// Preconditions, as they were last.
    pub preconditions: Vec<Check>,
    /// How long the growth period was; null while it lasts.
    pub growth_ns: Option<u64>,
    /// How long the test period was; null before it began.
    pub test_ns: Option<u64>,
    /// Fewest packets that would have passed.
    pub least_packets: u64,
}
