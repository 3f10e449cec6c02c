//! Doing something at a given time, to a fraction of a microsecond.
//!
//! A sleeping thread wakes 20 to 100 us late, a spinning one is exact but burns a processor. The
//! [`Pacer`] does both: it sleeps until a *margin* before the deadline and spins on the clock for the
//! rest. How late a sleep ends depends on the machine, on what else runs there, and on how long the
//! sleep was. So the margin is measured when the pacer is made, and follows what it meets: a sleep
//! that ended after the deadline widens it by 10 us, every other wait narrows it by 5 ns.
//! It settles where one sleep in two thousand ends late, in other words at a running estimate of the
//! 99.95th percentile (a stochastic approximation as Robbins and Monro describe it, 1951). It is
//! bounded, and what no margin would have caught does not widen it: on a machine whose processors
//! are wanted by others, a thread that spins more is only preempted more.
//!
//! An instrument must know how well it kept time: [`GapAudit`] compares what was planned with what
//! was done.

mod audit;

pub use audit::GapAudit;

use crate::{Error, clock};
use std::marker::PhantomData;
use std::time::Duration;
use units::Instant;

/// Sleeps that are measured to choose the first margin; at [`PROBE`] each, about 10 ms.
const PROBES: usize = 64;
/// Length of a measured sleep: of the size of the gaps that matter.
const PROBE: Duration = Duration::from_micros(100);
/// The bounds of the margin. Below the lower one nothing is saved; above the upper one a core is
/// burnt for the sake of rare outliers, which are better reported than hidden.
const MARGIN: [Duration; 2] = [Duration::from_micros(20), Duration::from_micros(100)];
/// What a sleep that ended too late adds to the margin.
const WIDER: Duration = Duration::from_micros(10);
/// What every other wait takes from it. Five times as much saves a quarter of the processor time at gaps of 100 us and
/// doubles the 99th percentile of their error (bench/README.md).
const NARROWER: Duration = Duration::from_nanos(5);

/// Waits for deadlines, first asleep, then spinning.
///
/// It belongs to the thread that made it, whose timer slack it has set to 1 ns.
#[derive(Debug)]
pub struct Pacer {
    margin: Duration,
    /// Timer slack belongs to a thread, so the pacer does not leave it.
    thread: PhantomData<*const ()>,
}

impl Pacer {
    /// A pacer for this thread, its first margin measured: 95 of 100 sleeps end within it. Takes
    /// about 10 ms.
    ///
    /// # Errors
    /// When the thread's timer slack cannot be set.
    pub fn calibrate() -> Result<Self, Error> {
        clock::timer_slack(1)?;
        let mut overshoots = [Duration::ZERO; PROBES];
        for overshoot in &mut overshoots {
            let deadline = clock::now() + PROBE;
            clock::sleep_until(deadline);
            *overshoot = clock::now().since(deadline);
        }
        Ok(Self {
            margin: first_margin(&mut overshoots),
            thread: PhantomData,
        })
    }

    /// How long before a deadline the pacer stops sleeping.
    pub fn margin(&self) -> Duration {
        self.margin
    }

    /// Waits until `deadline` and returns the time that it is then: the deadline or a little later;
    /// at once when the deadline has passed.
    pub fn wait_until(&mut self, deadline: Instant) -> Instant {
        let mut now = clock::now();
        let mut late = false;
        if now + self.margin < deadline {
            clock::sleep_until(deadline - self.margin);
            now = clock::now();
            // Later than this, even the widest margin would not have caught it.
            late = (deadline..deadline - self.margin + MARGIN[1]).contains(&now);
        }
        self.margin = next_margin(self.margin, late);
        while now < deadline {
            std::hint::spin_loop();
            now = clock::now();
        }
        now
    }
}

/// The margin for a thread that overslept so: the 95th percentile within [`MARGIN`].
fn first_margin(overshoots: &mut [Duration; PROBES]) -> Duration {
    overshoots.sort_unstable();
    overshoots[PROBES * 95 / 100].clamp(MARGIN[0], MARGIN[1])
}

/// The margin after a wait. A wait without a sleep narrows it too: a margin that is wider than the
/// gaps would otherwise stay so for ever.
fn next_margin(margin: Duration, late: bool) -> Duration {
    let next = if late {
        margin + WIDER
    } else {
        margin.saturating_sub(NARROWER)
    };
    next.clamp(MARGIN[0], MARGIN[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds manager/calibration.
    #[test]
    fn the_first_margin_covers_nearly_all_sleeps_and_ignores_outliers() {
        let mut steady = [Duration::from_micros(60); PROBES];
        steady[3] = Duration::from_millis(9);
        assert_eq!(first_margin(&mut steady), Duration::from_micros(60));
    }

    #[test]
    fn the_margin_is_bounded_on_perfect_and_on_hopeless_machines() {
        assert_eq!(first_margin(&mut [Duration::ZERO; PROBES]), MARGIN[0]);
        assert_eq!(
            first_margin(&mut [Duration::from_secs(1); PROBES]),
            MARGIN[1]
        );
        assert_eq!(next_margin(MARGIN[0], false), MARGIN[0]);
        assert_eq!(next_margin(MARGIN[1], true), MARGIN[1]);
    }

    /// Holds manager/gaps, manager/calibration.
    #[test]
    fn the_margin_settles_where_one_sleep_in_two_thousand_is_late() {
        // Sleeps overshoot by 0 to 80 us, all lengths alike: the 99.95th percentile is 79.9 us. The
        // multiplier walks through all 1,000 lengths in a scattered order.
        let mut margin = MARGIN[0];
        let mut late = 0;
        for n in 0..100_000_u64 {
            let overshoot = Duration::from_nanos(80 * (n * 387 % 1_000));
            late += u64::from(n >= 50_000 && overshoot > margin);
            margin = next_margin(margin, overshoot > margin);
        }
        assert!((20..=30).contains(&late), "{late} of 50000");
        assert!(margin > Duration::from_micros(70), "{margin:?}");
    }

    /// Holds manager/gaps.
    #[test]
    fn waiting_never_ends_early_whether_asleep_or_spinning() {
        let mut pacer = Pacer::calibrate().unwrap();
        for span in [Duration::from_micros(5), Duration::from_millis(2)] {
            let deadline = clock::now() + span;
            let actual = pacer.wait_until(deadline);
            assert!(actual >= deadline && clock::now() >= actual);
        }
    }

    #[test]
    fn a_deadline_in_the_past_returns_at_once_with_the_present() {
        let mut pacer = Pacer::calibrate().unwrap();
        let before = clock::now();
        assert!(pacer.wait_until(Instant::ZERO) >= before);
    }
}
