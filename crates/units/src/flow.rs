//! Which conversation a packet belongs to.

/// A flow's identity: equal for packets of one direction of one transport conversation.
///
/// Whoever reads the packet makes it (in the lab a hash of the 5-tuple, in sim a number), so an
/// element that treats flows apart needs to know no header.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct FlowId(pub u64);
