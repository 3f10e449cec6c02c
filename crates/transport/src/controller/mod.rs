//! Congestion controllers: how the window grows, and how far it is cut.
//!
//! The window is counted as the Linux kernel counts it: whole segments, and a count of acknowledged segments on the way to
//! the next. Slow start is common to all (RFC 5681 section 3.1, with appropriate byte counting, RFC 3465).

mod cubic;
mod hystart;
mod reno;

use crate::{CongestionControl, Options};
use cubic::Cubic;
use reno::Reno;
use std::sync::Arc;
use std::time::Duration;
use units::Instant;

/// No threshold yet: as high as it can be (RFC 5681 section 3.1).
pub(crate) const NO_THRESHOLD: u32 = u32::MAX;

/// The congestion window; all in segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) cwnd: u32,
    /// Acknowledged segments (or what the controller counts) towards the next increase.
    pub(crate) count: u32,
    pub(crate) ssthresh: u32,
    /// The sender's own limit.
    pub(crate) limit: u32,
}

impl Window {
    pub(crate) fn new(options: &Options) -> Self {
        let limit = options.max_window.unwrap_or(u32::MAX).max(1);
        Self {
            cwnd: options.initial_window.clamp(1, limit),
            count: 0,
            ssthresh: options.initial_ssthresh.unwrap_or(NO_THRESHOLD),
            limit,
        }
    }

    pub(crate) const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start by `acked` segments up to the threshold; returns how many are left for congestion avoidance.
    fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let rest = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd.min(self.limit);
        rest
    }

    /// One segment more for every `every` acknowledged.
    fn additive_increase(&mut self, every: u32, acked: u32) {
        if self.count >= every {
            self.count = 0;
            self.cwnd = self.cwnd.saturating_add(1);
        }
        self.count = self.count.saturating_add(acked);
        let steps = self.count / every.max(1);
        self.count -= steps * every;
        self.cwnd = self.cwnd.saturating_add(steps).min(self.limit);
    }

    /// No less than `cwnd`; what counted towards the next increase is used up by one.
    fn raise_to(&mut self, cwnd: u32) {
        let cwnd = cwnd.min(self.limit);
        if cwnd > self.cwnd {
            (self.cwnd, self.count) = (cwnd, 0);
        }
    }
}

/// What an acknowledgement did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growing {
    /// Segments that were newly acknowledged, by SACK or in order.
    pub(crate) acked: u32,
    /// Oldest unacknowledged segment.
    pub(crate) una: u64,
    /// Next new segment.
    pub(crate) next: u64,
    /// The present.
    pub(crate) now: Instant,
}

/// The congestion control that options ask for. It is part of its sender, whose memory is read with it. Its methods say what has
/// happened; nothing here sends.
#[derive(Debug)]
pub(crate) enum Controller {
    Reno(Reno),
    Cubic(Cubic),
}

impl Controller {
    pub(crate) fn by(options: &Arc<Options>) -> Self {
        match options.congestion_control {
            CongestionControl::Reno => Self::Reno(Reno::new(options)),
            CongestionControl::Cubic => Self::Cubic(Cubic::new(Arc::clone(options))),
        }
    }

    /// Segments were acknowledged in congestion avoidance, and the window had been used up.
    fn avoid(&mut self, window: &mut Window, growing: &Growing) {
        match self {
            Self::Reno(reno) => reno.avoid(window, growing),
            Self::Cubic(cubic) => cubic.avoid(window, growing),
        }
    }

    /// Congestion with a window of `cwnd`; returns the new threshold.
    pub(crate) fn ssthresh(&mut self, cwnd: u32) -> u32 {
        match self {
            Self::Reno(reno) => reno.ssthresh(cwnd),
            Self::Cubic(cubic) => cubic.ssthresh(cwnd),
        }
    }

    /// The retransmission timer ran out.
    pub(crate) fn timed_out(&mut self) {
        match self {
            Self::Reno(_) => {}
            Self::Cubic(cubic) => cubic.timed_out(),
        }
    }

    /// The latest congestion was none.
    pub(crate) fn undone(&mut self) {
        match self {
            Self::Reno(_) => {}
            Self::Cubic(cubic) => cubic.undone(),
        }
    }

    /// A round trip was measured, without the receiver's delay.
    #[inline]
    pub(crate) fn measured(&mut self, window: &mut Window, rtt: Duration, growing: &Growing) {
        match self {
            Self::Reno(_) => {}
            Self::Cubic(cubic) => cubic.measured(window, rtt, growing),
        }
    }

    /// Nothing was in the network for `pause`.
    pub(crate) fn paused(&mut self, pause: Duration) {
        match self {
            Self::Reno(_) => {}
            Self::Cubic(cubic) => cubic.paused(pause),
        }
    }
}

/// The window grows by an acknowledgement that met a used-up window. `abc` is RFC 3465's L; none counts
/// acknowledgements (section 2.2).
pub(crate) fn grow(
    window: &mut Window,
    controller: &mut Controller,
    growing: &Growing,
    abc: Option<u32>,
) {
    let mut growing = *growing;
    if window.in_slow_start() {
        let most = abc.unwrap_or(1).max(1);
        let rest = growing.acked.saturating_sub(most);
        growing.acked = window.slow_start(growing.acked.min(most));
        if growing.acked == 0 {
            return;
        }
        growing.acked += rest;
    }
    controller.avoid(window, &growing);
}
