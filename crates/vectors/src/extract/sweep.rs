//! When to look for what has been silent for too long.

/// Says it now and then: when time has passed, and at least one packet for each entry that is to be looked at, so that no
/// clock makes it expensive.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    /// When it was last due, and packets since then.
    at_ns: Option<u64>,
    packets: usize,
}

impl Sweep {
    /// A packet comes; `entries` are open, and `patience_ns` is the shortest that one has.
    #[inline]
    pub(super) fn is_due(&mut self, at_ns: u64, entries: usize, patience_ns: u64) -> bool {
        self.packets += 1;
        if self.packets <= entries {
            return false;
        }
        let last_ns = *self.at_ns.get_or_insert(at_ns);
        if at_ns.abs_diff(last_ns) < patience_ns / 4 {
            return false;
        }
        self.at_ns = Some(at_ns);
        self.packets = 0;
        true
    }
}
