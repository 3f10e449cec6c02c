//! What this host's own interface drops of a transfer: loss that is not the path's (RFC 3148 section 3.4).
//!
//! What a queue before the interface drops the kernel tells the sender of, who sends it again. What the interface itself drops, since
//! its own queue is full or its driver cannot, no one is told of; but it is counted. The interface counts for all programs, so this is an
//! upper bound.

use std::net::IpAddr;

/// The interface of one end of a transfer.
pub(crate) struct Interface {
    address: Option<IpAddr>,
    dropped_before: Option<u64>,
}

impl Interface {
    /// The one that has `address`, as it is now.
    pub(crate) fn at(address: Option<IpAddr>) -> Self {
        Self {
            address,
            dropped_before: address.and_then(dropped),
        }
    }

    /// Packets that it was to send and dropped since then; none where that cannot be told.
    pub(crate) fn dropped(&self) -> Option<u64> {
        let now = self.address.and_then(dropped)?;
        Some(now.saturating_sub(self.dropped_before?))
    }
}

fn dropped(address: IpAddr) -> Option<u64> {
    // Who may not ask, or has an address that is no interface's, does not know.
    sys::iface::dropped(address).ok().flatten()
}
