//! Reno's congestion avoidance (RFC 5681 section 3.1) by one of three rules of growth, and its halving.

use super::{Growing, Window};
use crate::{Growth, Options};

/// See the module.
#[derive(Debug)]
pub(crate) struct Reno {
    growth: Growth,
    /// [`Growth::PerWindow`]: the window that is being acknowledged ends here.
    window_end: Option<u64>,
}

impl Reno {
    pub(super) const fn new(options: &Options) -> Self {
        Self {
            growth: options.growth,
            window_end: None,
        }
    }

    fn per_window(&mut self, window: &mut Window, growing: &Growing) {
        let before = growing.una.saturating_sub(u64::from(growing.acked));
        let first_end = before + u64::from(window.cwnd);
        let end = *self.window_end.get_or_insert(first_end);
        if growing.una >= end {
            window.additive_increase(1, 1);
            self.window_end = Some(growing.una + u64::from(window.cwnd));
        }
    }
}

impl Reno {
    pub(super) fn avoid(&mut self, window: &mut Window, growing: &Growing) {
        match self.growth {
            Growth::Bytes => window.additive_increase(window.cwnd, growing.acked),
            Growth::PerAck => window.additive_increase(window.cwnd, 1),
            Growth::PerWindow => self.per_window(window, growing),
        }
    }

    /// Half the window, at least two segments (RFC 5681 equation 4; of the window as the Linux kernel does it, which with a
    /// window that is used up is the flight).
    pub(super) fn ssthresh(&mut self, cwnd: u32) -> u32 {
        self.window_end = None;
        (cwnd / 2).max(2)
    }
}
