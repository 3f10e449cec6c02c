//! What became of the packets: which were lost, marked, late, doubled or out of order.
//!
//! A *mark* is what makes a transport slow down: a packet that did not arrive, or arrived with CE (RFC 8337 section 3 counts
//! both in a run length). Reordering is no mark. RFC 8337 section 7.3 wants it measured, and not punished up to a quarter of a window or 1 ms.
//! A [`Ledger`] is more patient: it waits for the late, counts them as delivered, and says how far out of order they were.
//!
//! | module | what |
//! |---|---|
//! | [`Ledger`] | arrivals in any order become outcomes in the order of sending |
//! | [`Reordering`] | RFC 4737's ratio and extents |
//! | [`Independence`] | whether losses come by themselves, as the models take it, or in bursts |
//! | [`LossReport`] | all of it in the form of a record |

mod independence;
mod ledger;
mod reorder;
mod report;

pub use independence::{Independence, LEAST_MARKS, Runs, SIGNIFICANCE};
pub use ledger::{Arrival, Fate, Ledger, MAX_OPEN};
pub use reorder::{Reordering, ReorderingReport};
pub use report::{LossReport, Share};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Packets whose fate is known.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Counts {
    /// Packets sent.
    pub packets: u64,
    /// Of these, packets that did not arrive.
    pub lost: u64,
    /// Of these, packets that arrived with congestion experienced.
    pub ce: u64,
}

impl Counts {
    /// Losses and marks together: m of the statistics.
    pub const fn marks(&self) -> u64 {
        self.lost.saturating_add(self.ce)
    }

    /// Packets that arrived.
    pub const fn delivered(&self) -> u64 {
        self.packets.saturating_sub(self.lost)
    }

    /// One packet more, of this fate.
    pub const fn add(&mut self, fate: Fate) {
        self.packets += 1;
        match fate {
            Fate::Delivered => {}
            Fate::Marked => self.ce += 1,
            Fate::Lost => self.lost += 1,
        }
    }

    /// What has been added since `earlier`.
    #[must_use]
    pub const fn since(&self, earlier: &Self) -> Self {
        Self {
            packets: self.packets.saturating_sub(earlier.packets),
            lost: self.lost.saturating_sub(earlier.lost),
            ce: self.ce.saturating_sub(earlier.ce),
        }
    }
}

#[cfg(test)]
mod tests;
