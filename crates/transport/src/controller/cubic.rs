//! CUBIC (RFC 9438), with the numbers of the Linux kernel.
//!
//! After a cut the window first returns quickly to where it was cut (concave), rests there, then probes beyond (convex):
//! `W(t) = C (t - K)^3 + W_max` (section 4.2, figure 1), where K is the time to come back. The controller says only how many
//! acknowledged segments earn one more segment; [`Window::additive_increase`] does the rest. Where Reno's window would be larger
//! (section 4.3), the window is that.
//!
//! *As the kernel:* the target is that of one least round trip ahead; it is looked at again when the window has changed or
//! 1/32 s has passed; growth is at most by half a round trip's acknowledgements (section 4.4's 1.5) and, before the first
//! loss, at least one in twenty. *Not as the kernel,* unless `reno_estimate` is `linux`: the kernel's estimate of Reno's window goes by whole
//! segments, the window follows only a window's acknowledgements later, and the estimate never grows as fast as Reno. So its CUBIC gets
//! less than its Reno where windows are small, which section 4.3 is there to prevent.

use super::hystart::HyStart;
use super::{Growing, Window};
use crate::rarely::{Rarely, Rest};
use crate::{Options, RenoEstimate};
use std::sync::Arc;
use std::time::Duration;
use units::{Instant, nanos};

/// How often the target is computed while the window stays as it is.
const REFRESH: Duration = Duration::from_nanos(1_000_000_000 / 32);
/// The least number of acknowledged segments for one more.
const LEAST_EVERY: u32 = 2;
/// And the most before the first loss.
const MOST_EVERY_AT_FIRST: f64 = 20.0;

/// What a congestion event changes; none of it matters before the end of slow start.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Beginning of this congestion avoidance.
    start: Option<Instant>,
    /// `W_max` (section 4.1.2): the window before the last cut, less what fast convergence takes.
    w_max: f64,
    /// Seconds from `start` to the plateau.
    k: f64,
    /// The plateau.
    origin: f64,
    /// `cwnd_prior`: the window before the last cut.
    prior: f64,
    /// `W_est`: what Reno would have (section 4.3). And segments acknowledged since it grew, where it goes by whole ones.
    w_est: f64,
    counted: u32,
    /// The latest computation: when, for which window, with which result.
    at: Instant,
    for_cwnd: u32,
    every: u32,
}

impl Epoch {
    const NONE: Self = Self {
        start: None,
        w_max: 0.0,
        k: 0.0,
        origin: 0.0,
        prior: 0.0,
        w_est: 0.0,
        counted: 0,
        at: Instant::ZERO,
        for_cwnd: 0,
        every: 0,
    };
}

/// The epoch since the latest cut, and the one before it (section 4.9).
#[derive(Debug)]
struct Epochs {
    now: Epoch,
    before: Epoch,
}

impl Rest for Epochs {
    const REST: Self = Self {
        now: Epoch::NONE,
        before: Epoch::NONE,
    };
    const AT_REST: &'static Self = &Self::REST;
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Cubic {
    options: Arc<Options>,
    epochs: Rarely<Epochs>,
    /// Nanoseconds; `u64::MAX` before the first.
    min_rtt: u64,
    hystart: HyStart,
}

impl Cubic {
    pub(super) fn new(options: Arc<Options>) -> Self {
        Self {
            options,
            epochs: Rarely::new(),
            min_rtt: u64::MAX,
            hystart: HyStart::default(),
        }
    }

    fn beta(&self) -> f64 {
        self.options.cubic.beta.clamp(0.1, 0.95)
    }

    fn c(&self) -> f64 {
        let c = self.options.cubic.c;
        if c > 0.0 { c } else { 0.4 }
    }

    fn min_rtt(&self) -> Option<Duration> {
        (self.min_rtt < u64::MAX).then(|| Duration::from_nanos(self.min_rtt))
    }

    /// Section 4.2: K, and where the plateau is.
    fn begin(&mut self, cwnd: u32, growing: &Growing) {
        let window = f64::from(cwnd);
        let c = self.c();
        let epoch = &mut self.epochs.now;
        epoch.start = Some(growing.now);
        (epoch.w_est, epoch.counted) = (window, growing.acked);
        epoch.origin = epoch.w_max.max(window);
        epoch.k = ((epoch.origin - window) / c).cbrt();
    }

    /// Acknowledged segments that earn one more by the cubic function (sections 4.2, 4.4, 4.5).
    fn cubic_every(&self, cwnd: f64, start: Instant, now: Instant) -> f64 {
        let epoch = &self.epochs.now;
        let t = now.since(start) + self.min_rtt().unwrap_or_default();
        let from_plateau = t.as_secs_f64() - epoch.k;
        let mut beyond = self.c() * from_plateau.powi(3);
        if self.counts_whole_segments() {
            beyond = beyond.trunc();
        }
        let target = epoch.origin + beyond;
        let every = if target > cwnd {
            cwnd / (target - cwnd)
        } else {
            100.0 * cwnd
        };
        if epoch.w_max == 0.0 {
            every.min(MOST_EVERY_AT_FIRST)
        } else {
            every
        }
    }

    /// Section 4.3, figure 4: by alpha = 3 (1 - beta) / (1 + beta) a window, which with a cut by beta is Reno's mean; from
    /// `cwnd_prior` on by one, as Reno.
    fn count_as_reno(&mut self, cwnd: u32, acked: u32) {
        let beta = self.beta();
        let epoch = &mut self.epochs.now;
        let alpha = if epoch.w_est < epoch.prior {
            3.0 * (1.0 - beta) / (1.0 + beta)
        } else {
            1.0
        };
        epoch.w_est += alpha * f64::from(acked) / f64::from(cwnd.max(1));
    }

    fn counts_whole_segments(&self) -> bool {
        self.options.cubic.reno_estimate == RenoEstimate::Linux
    }

    /// The same as the kernel counts it (`bictcp_update`): acknowledged segments that earn one more at most, so that the window follows the
    /// estimate.
    fn follow_reno(&mut self, cwnd: u32) -> u32 {
        let beta = self.beta();
        let eighths = whole(8.0 * (1.0 + beta) / 3.0 / (1.0 - beta));
        let epoch = &mut self.epochs.now;
        let each = (cwnd.saturating_mul(eighths) / 8).max(1);
        // A segment acknowledged is one more only when the next one is.
        let steps = epoch.counted.saturating_sub(1) / each;
        epoch.counted -= steps * each;
        epoch.w_est += f64::from(steps);
        match whole(epoch.w_est).saturating_sub(cwnd) {
            0 => u32::MAX,
            behind => cwnd / behind,
        }
    }

    fn refresh(&mut self, cwnd: u32, growing: &Growing) {
        let epoch = &mut self.epochs.now;
        epoch.counted = epoch.counted.saturating_add(growing.acked);
        let is_fresh = growing.now.since(epoch.at) <= REFRESH;
        if epoch.every > 0 && epoch.for_cwnd == cwnd && is_fresh {
            return;
        }
        if epoch.start.is_none() {
            self.begin(cwnd, growing);
        }
        (self.epochs.now.at, self.epochs.now.for_cwnd) = (growing.now, cwnd);
        let window = f64::from(cwnd);
        let start = self.epochs.now.start.unwrap_or(growing.now);
        let every = whole(self.cubic_every(window, start, growing.now));
        let most = if self.counts_whole_segments() {
            self.follow_reno(cwnd)
        } else {
            u32::MAX
        };
        self.epochs.now.every = every.min(most).max(LEAST_EVERY);
    }
}

impl Cubic {
    pub(super) fn avoid(&mut self, window: &mut Window, growing: &Growing) {
        self.refresh(window.cwnd, growing);
        if self.counts_whole_segments() {
            window.additive_increase(self.epochs.now.every, growing.acked);
        } else {
            self.count_as_reno(window.cwnd, growing.acked);
            window.additive_increase(self.epochs.now.every, growing.acked);
            window.raise_to(whole(self.epochs.now.w_est));
        }
    }

    /// Sections 4.6 and 4.7.
    pub(super) fn ssthresh(&mut self, cwnd: u32) -> u32 {
        let before = self.epochs.now;
        let (window, beta) = (f64::from(cwnd), self.beta());
        let gives_up_room = self.options.cubic.fast_convergence && window < before.w_max;
        let w_max = if gives_up_room {
            let w_max = window * (1.0 + beta) / 2.0;
            if self.counts_whole_segments() {
                w_max.trunc()
            } else {
                w_max
            }
        } else {
            window
        };
        let now = Epoch {
            w_max,
            prior: window,
            ..Epoch::NONE
        };
        *self.epochs = Epochs { now, before };
        whole(window * beta).max(2)
    }

    /// Section 4.8; the kernel forgets `W_max` too, and so does this.
    pub(super) fn timed_out(&mut self) {
        self.epochs.now = Epoch {
            prior: self.epochs.now.prior,
            ..Epoch::NONE
        };
        self.min_rtt = u64::MAX;
        self.hystart = HyStart::default();
    }

    /// Section 4.9.
    pub(super) fn undone(&mut self) {
        self.epochs.now = self.epochs.before;
    }

    pub(super) fn measured(&mut self, window: &mut Window, rtt: Duration, growing: &Growing) {
        let after_recovery = |start| growing.now.since(start) < Duration::from_secs(1);
        if self.epochs.now.start.is_some_and(after_recovery) {
            return;
        }
        self.min_rtt = self.min_rtt.min(nanos(rtt));
        if !self.options.cubic.hystart || !window.in_slow_start() {
            return;
        }
        let min = Duration::from_nanos(self.min_rtt);
        if self.hystart.should_leave(window.cwnd, rtt, min, growing) {
            window.ssthresh = window.cwnd;
        }
    }

    /// Section 4.2's t does not run while there is nothing to send.
    pub(super) fn paused(&mut self, pause: Duration) {
        if let Some(start) = self.epochs.now.start {
            self.epochs.now.start = Some(start + pause);
        }
    }
}

/// Rounded down to a whole number of segments.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and that is what is meant"
)]
const fn whole(segments: f64) -> u32 {
    segments as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    /// One round trip a step; returns the window after each.
    fn rounds(cubic: &mut Cubic, window: &mut Window, now: &mut Instant, count: u32) -> Vec<u32> {
        let mut windows = Vec::new();
        for _ in 0..count {
            let growing = |now| Growing {
                acked: 1,
                una: 0,
                next: 0,
                now,
            };
            cubic.measured(window, RTT, &growing(*now));
            let acks = window.cwnd;
            for _ in 0..acks {
                *now += RTT / acks;
                cubic.avoid(window, &growing(*now));
            }
            windows.push(window.cwnd);
        }
        windows
    }

    fn cut_at(cwnd: u32) -> (Cubic, Window) {
        cut_by(RenoEstimate::Rfc9438, cwnd)
    }

    fn cut_by(estimate: RenoEstimate, cwnd: u32) -> (Cubic, Window) {
        let mut options = Options::default();
        options.cubic.reno_estimate = estimate;
        let (mut cubic, mut window) =
            (Cubic::new(Arc::new(options.clone())), Window::new(&options));
        window.ssthresh = cubic.ssthresh(cwnd);
        window.cwnd = window.ssthresh;
        (cubic, window)
    }

    #[test]
    fn the_window_comes_back_after_k_rests_and_goes_on() {
        let (mut cubic, mut window) = cut_at(1_000);
        assert_eq!(window.cwnd, 700);
        // K = cbrt(1,000 0.3 / 0.4) = 9.09 s: 91 round trips.
        let windows = rounds(&mut cubic, &mut window, &mut Instant::from_millis(1), 182);
        assert!((990..=1_000).contains(&windows[90]), "{}", windows[90]);
        assert!(windows[70] > 980 && windows[110] < 1_012, "it rests");
        assert!(
            (1_260..=1_310).contains(&windows[181]),
            "as far beyond as it came from: {}",
            windows[181]
        );
    }

    #[test]
    fn a_small_window_grows_no_slower_than_renos_would() {
        let (mut cubic, mut window) = cut_at(20);
        assert_eq!(window.cwnd, 14);
        // alpha = 3 0.3 / 1.7 = 0.53 segments a round trip up to 20, which takes 11, then one.
        let windows = rounds(&mut cubic, &mut window, &mut Instant::from_millis(1), 20);
        assert!((17..=18).contains(&windows[6]), "{windows:?}");
        assert!((28..=29).contains(&windows[19]), "{windows:?}");
    }

    /// Linux 6.18's `bictcp_update` and `tcp_cong_avoid_ai`, computed apart.
    #[test]
    fn the_kernels_small_window_grows_slower() {
        let (mut cubic, mut window) = cut_by(RenoEstimate::Linux, 20);
        let windows = rounds(&mut cubic, &mut window, &mut Instant::from_millis(1), 20);
        let expected = [
            15, 16, 17, 17, 18, 18, 19, 19, 19, 19, 20, 20, 20, 21, 21, 22, 22, 23, 23, 24,
        ];
        assert_eq!(windows, expected);
    }

    #[test]
    fn a_window_that_did_not_come_back_gives_up_room_and_undoing_takes_it_back() {
        let (mut cubic, _) = cut_at(1_000);
        cubic.ssthresh(800);
        assert!((cubic.epochs.now.w_max - 680.0).abs() < 1e-9);
        cubic.undone();
        assert!((cubic.epochs.now.w_max - 1_000.0).abs() < 1e-9);
    }
}
