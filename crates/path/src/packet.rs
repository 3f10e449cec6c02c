//! The packet as a path sees it.

use units::{Ecn, FlowId, Instant};

/// A packet: what a path needs to know of it, and a body that the path only carries.
///
/// `B` is the world's own: a byte buffer in the lab, a segment value in sim. It is `Clone` only
/// where an element duplicates packets.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Packet<B> {
    /// Octets that the packet takes on the link.
    pub size: u32,
    /// The conversation it belongs to.
    pub flow: FlowId,
    /// The ECN field; a queue that marks sets it to [`Ecn::Ce`].
    pub ecn: Ecn,
    /// Logical time: when the packet entered the path, or left the element that it last passed.
    pub at: Instant,
    /// What the packet carries.
    pub body: B,
}
