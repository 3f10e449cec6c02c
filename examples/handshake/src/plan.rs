//! What a run is to do, as data: it is what `run.json` keeps as `plan`.

use serde::{Deserialize, Serialize};
use units::Span;

/// Most connections of a run: at the shortest gap they take a minute and a half.
const MOST: u32 = 10_000;
/// The shortest time between two.
const LEAST_GAP: Span = Span::from_millis(10);

/// A run.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Plan {
    /// Connections to open, one after the other.
    pub(crate) connections: u32,
    /// From the beginning of one to that of the next.
    pub(crate) gap: Span,
}

impl Plan {
    /// What both ends refuse: the far end has only a client's word for it.
    ///
    /// # Errors
    /// In one line what cannot be.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !(1..=MOST).contains(&self.connections) {
            return Err(format!("a run has 1 to {MOST} connections"));
        }
        if self.gap < LEAST_GAP {
            return Err(format!("the gap is at least {LEAST_GAP}"));
        }
        Ok(())
    }
}
