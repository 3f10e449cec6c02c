//! Doing something at a given time, to a fraction of a microsecond.
//!
//! A sleeping thread wakes 20 to 100 us late, a spinning one is exact but burns a processor. The
//! [`Pacer`] does both: it sleeps until a *margin* before the deadline and spins on the clock for the
//! rest. The margin is measured when the pacer is made: long enough that the sleep nearly always
//! ends before the deadline, bounded so that a noisy machine does not make it spin all the time.
//!
//! An instrument must know how well it kept time: [`GapAudit`] compares what was planned with what
//! was done.

mod audit;

pub use audit::GapAudit;

use crate::{Error, clock};
use std::marker::PhantomData;
use std::time::Duration;
use units::Instant;

/// Sleeps that are measured to choose the margin; at [`PROBE`] each, about 10 ms.
const PROBES: usize = 64;
/// Length of a measured sleep: of the size of the gaps that matter.
const PROBE: Duration = Duration::from_micros(100);
/// The bounds of the margin. Below the lower one nothing is saved; above the upper one a core is
/// burnt for the sake of rare outliers, which are better reported than hidden.
const MARGIN: [Duration; 2] = [Duration::from_micros(20), Duration::from_micros(500)];

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
    /// A pacer for this thread, its margin measured: 95 of 100 sleeps end within it. Takes about
    /// 10 ms.
    ///
    /// # Errors
    /// When the thread's timer slack cannot be set.
    pub fn calibrate() -> Result<Self, Error> {
        let mut overshoots = [Duration::ZERO; PROBES];
        let pacer = Self::with_margin(Duration::ZERO)?;
        for overshoot in &mut overshoots {
            let deadline = clock::now() + PROBE;
            clock::sleep_until(deadline);
            *overshoot = clock::now().since(deadline);
        }
        Ok(Self {
            margin: margin(&mut overshoots),
            ..pacer
        })
    }

    /// A pacer for this thread that spins for the last `margin` before a deadline: zero only
    /// sleeps.
    ///
    /// # Errors
    /// When the thread's timer slack cannot be set.
    pub fn with_margin(margin: Duration) -> Result<Self, Error> {
        clock::timer_slack(1)?;
        Ok(Self {
            margin,
            thread: PhantomData,
        })
    }

    /// How long before a deadline the pacer stops sleeping.
    pub fn margin(&self) -> Duration {
        self.margin
    }

    /// Waits until `deadline` and returns the time that it is then: the deadline or a little later;
    /// at once when the deadline has passed.
    pub fn wait_until(&self, deadline: Instant) -> Instant {
        let mut now = clock::now();
        if now + self.margin < deadline {
            clock::sleep_until(deadline - self.margin);
            now = clock::now();
        }
        while now < deadline {
            std::hint::spin_loop();
            now = clock::now();
        }
        now
    }
}

/// The margin for a thread that overslept so: the 95th percentile within [`MARGIN`].
fn margin(overshoots: &mut [Duration; PROBES]) -> Duration {
    overshoots.sort_unstable();
    overshoots[PROBES * 95 / 100].clamp(MARGIN[0], MARGIN[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_covers_nearly_all_sleeps_and_ignores_outliers() {
        let mut steady = [Duration::from_micros(60); PROBES];
        steady[3] = Duration::from_millis(9);
        assert_eq!(margin(&mut steady), Duration::from_micros(60));
    }

    #[test]
    fn the_margin_is_bounded_on_perfect_and_on_hopeless_machines() {
        assert_eq!(margin(&mut [Duration::ZERO; PROBES]), MARGIN[0]);
        assert_eq!(margin(&mut [Duration::from_secs(1); PROBES]), MARGIN[1]);
    }

    #[test]
    fn waiting_never_ends_early_whether_asleep_or_spinning() {
        for margin in [Duration::ZERO, Duration::from_millis(10)] {
            let pacer = Pacer::with_margin(margin).unwrap();
            let deadline = clock::now() + Duration::from_millis(1);
            let actual = pacer.wait_until(deadline);
            assert!(actual >= deadline && clock::now() >= actual);
        }
    }

    #[test]
    fn a_deadline_in_the_past_returns_at_once_with_the_present() {
        let pacer = Pacer::calibrate().unwrap();
        let before = clock::now();
        assert!(pacer.wait_until(Instant::ZERO) >= before);
    }
}
