//! CUBIC (RFC 9438), with the numbers of the Linux kernel.
//!
//! After a cut the window first returns quickly to where it was cut (concave), rests there, then probes beyond (convex):
//! `W(t) = C (t - K)^3 + W_max` (section 4.2, figure 1), where K is the time to come back. The controller says only how many
//! acknowledged segments earn one more segment; [`Window::additive_increase`] does the rest. Where Reno's window would be larger
//! (section 4.3), the window is that.
//!
//! *As the kernel:* the target is that of one least round trip ahead; it is looked at again when the window has changed or
//! 1/32 s has passed; growth is at most by half a round trip's acknowledgements (section 4.4's 1.5) and, before the first
//! loss, at least one in twenty. *Not as the kernel:* its estimate of Reno's window goes by whole segments, the window follows only
//! a window's acknowledgements later, and the estimate never grows as fast as Reno. So its CUBIC gets less than its Reno where
//! windows are small, which section 4.3 is there to prevent.

use super::hystart::HyStart;
use super::{Growing, Window};
use crate::Options;
use std::time::Duration;
use units::Instant;

/// How often the target is computed while the window stays as it is.
const REFRESH: Duration = Duration::from_nanos(1_000_000_000 / 32);
/// The least number of acknowledged segments for one more.
const LEAST_EVERY: f64 = 2.0;
/// And the most before the first loss.
const MOST_EVERY_AT_FIRST: f64 = 20.0;

/// What a congestion event changes.
#[derive(Clone, Copy, Debug, Default)]
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
    /// `W_est`: what Reno would have (section 4.3).
    w_est: f64,
    /// The latest computation: when, for which window, with which result.
    at: Instant,
    for_cwnd: u32,
    every: u32,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Cubic {
    beta: f64,
    c: f64,
    fast_convergence: bool,
    epoch: Epoch,
    /// Before the latest cut (section 4.9).
    before: Option<Box<Epoch>>,
    min_rtt: Option<Duration>,
    hystart: Option<HyStart>,
}

impl Cubic {
    pub(super) fn new(options: &Options) -> Self {
        let cubic = &options.cubic;
        Self {
            beta: cubic.beta.clamp(0.1, 0.95),
            c: if cubic.c > 0.0 { cubic.c } else { 0.4 },
            fast_convergence: cubic.fast_convergence,
            epoch: Epoch::default(),
            before: None,
            min_rtt: None,
            hystart: cubic.hystart.then(HyStart::default),
        }
    }

    /// Section 4.2: K, and where the plateau is.
    fn begin(&mut self, cwnd: u32, growing: &Growing) {
        let window = f64::from(cwnd);
        let epoch = &mut self.epoch;
        epoch.start = Some(growing.now);
        epoch.w_est = window;
        epoch.origin = epoch.w_max.max(window);
        epoch.k = ((epoch.origin - window) / self.c).cbrt();
    }

    /// Acknowledged segments that earn one more by the cubic function (sections 4.2, 4.4, 4.5).
    fn cubic_every(&self, cwnd: f64, start: Instant, now: Instant) -> f64 {
        let t = now.since(start) + self.min_rtt.unwrap_or_default();
        let from_plateau = t.as_secs_f64() - self.epoch.k;
        let target = self.epoch.origin + self.c * from_plateau.powi(3);
        let every = if target > cwnd {
            cwnd / (target - cwnd)
        } else {
            100.0 * cwnd
        };
        if self.epoch.w_max == 0.0 {
            every.min(MOST_EVERY_AT_FIRST)
        } else {
            every
        }
    }

    /// Section 4.3, figure 4: by alpha = 3 (1 - beta) / (1 + beta) a window, which with a cut by beta is Reno's mean; from
    /// `cwnd_prior` on by one, as Reno.
    fn count_as_reno(&mut self, cwnd: u32, acked: u32) {
        let epoch = &mut self.epoch;
        let alpha = if epoch.w_est < epoch.prior {
            3.0 * (1.0 - self.beta) / (1.0 + self.beta)
        } else {
            1.0
        };
        epoch.w_est += alpha * f64::from(acked) / f64::from(cwnd.max(1));
    }

    fn refresh(&mut self, cwnd: u32, growing: &Growing) {
        let is_fresh = growing.now.since(self.epoch.at) <= REFRESH;
        if self.epoch.every > 0 && self.epoch.for_cwnd == cwnd && is_fresh {
            return;
        }
        if self.epoch.start.is_none() {
            self.begin(cwnd, growing);
        }
        (self.epoch.at, self.epoch.for_cwnd) = (growing.now, cwnd);
        let window = f64::from(cwnd);
        let start = self.epoch.start.unwrap_or(growing.now);
        let every = self.cubic_every(window, start, growing.now);
        self.epoch.every = whole(every.max(LEAST_EVERY));
    }
}

impl Cubic {
    pub(super) fn avoid(&mut self, window: &mut Window, growing: &Growing) {
        self.refresh(window.cwnd, growing);
        self.count_as_reno(window.cwnd, growing.acked);
        window.additive_increase(self.epoch.every, growing.acked);
        window.raise_to(whole(self.epoch.w_est));
    }

    /// Sections 4.6 and 4.7.
    pub(super) fn ssthresh(&mut self, cwnd: u32) -> u32 {
        **self.before.get_or_insert_default() = self.epoch;
        let window = f64::from(cwnd);
        let gives_up_room = self.fast_convergence && window < self.epoch.w_max;
        let w_max = if gives_up_room {
            window * (1.0 + self.beta) / 2.0
        } else {
            window
        };
        self.epoch = Epoch {
            w_max,
            prior: window,
            ..Epoch::default()
        };
        whole(window * self.beta).max(2)
    }

    /// Section 4.8; the kernel forgets `W_max` too, and so does this.
    pub(super) fn timed_out(&mut self) {
        self.epoch = Epoch {
            prior: self.epoch.prior,
            ..Epoch::default()
        };
        self.min_rtt = None;
        self.hystart = self.hystart.as_ref().map(|_| HyStart::default());
    }

    /// Section 4.9.
    pub(super) fn undone(&mut self) {
        self.epoch = self.before.as_deref().copied().unwrap_or_default();
    }

    pub(super) fn measured(&mut self, window: &mut Window, rtt: Duration, growing: &Growing) {
        let after_recovery = |start| growing.now.since(start) < Duration::from_secs(1);
        if self.epoch.start.is_some_and(after_recovery) {
            return;
        }
        let min = self.min_rtt.map_or(rtt, |min| min.min(rtt));
        self.min_rtt = Some(min);
        let Some(hystart) = self.hystart.as_mut().filter(|_| window.in_slow_start()) else {
            return;
        };
        if hystart.should_leave(window.cwnd, rtt, min, growing) {
            window.ssthresh = window.cwnd;
        }
    }

    /// Section 4.2's t does not run while there is nothing to send.
    pub(super) fn paused(&mut self, pause: Duration) {
        self.epoch.start = self.epoch.start.map(|start| start + pause);
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
        let options = Options::default();
        let (mut cubic, mut window) = (Cubic::new(&options), Window::new(&options));
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

    #[test]
    fn a_window_that_did_not_come_back_gives_up_room_and_undoing_takes_it_back() {
        let (mut cubic, _) = cut_at(1_000);
        cubic.ssthresh(800);
        assert!((cubic.epoch.w_max - 680.0).abs() < 1e-9);
        cubic.undone();
        assert!((cubic.epoch.w_max - 1_000.0).abs() < 1e-9);
    }
}
