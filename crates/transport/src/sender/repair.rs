//! What a sender needs once something is missing: few ever do.

use super::Sent;
use super::cut::Reduction;
use super::detect::Counted;
use super::rack::Reordering;
use super::rescue::Rescue;
use super::undo::Undo;
use crate::rarely::Rest;

/// See the module.
#[derive(Debug)]
pub(super) struct Repair {
    /// The segment that is being timed where there are no time stamps.
    pub(super) timed: Option<u64>,
    /// Where the latest cut was; unlike `high`, disorder does not move it.
    pub(super) recover: Option<u64>,
    pub(super) reduction: Reduction,
    pub(super) counted: Counted,
    pub(super) rescue: Rescue,
    pub(super) undo: Undo,
    pub(super) reordering: Reordering,
    /// What was done then; the rest is counted by [`Regular`](super::report::Regular).
    pub(super) sent: Sent,
}

impl Rest for Repair {
    const REST: Self = Self {
        timed: None,
        recover: None,
        reduction: Reduction::NONE,
        counted: Counted::NONE,
        rescue: Rescue::NONE,
        undo: Undo::NONE,
        reordering: Reordering::NONE,
        sent: Sent::NONE,
    };
    const AT_REST: &'static Self = &Self::REST;
}
