//! When the runner takes precedence over everything else on the machine.
//!
//! A packet that the runner has not read yet waits unseen: the counters begin when it is read. On a busy machine that is as long
//! as the scheduler lets others go on, milliseconds. As a real-time thread the runner is woken at once. But a real-time
//! thread that has had 95 % of a second is stopped for the rest of it (sched(7)), 50 ms in one piece, and everybody else
//! stands still before. So the runner is urgent only as long as it is mostly at rest: what it uses is looked at in windows,
//! and after a busy one it is an ordinary thread for at least a window.

use std::time::Duration;
use units::Instant;

/// How long the runner is looked at. Being urgent in every other window at most is far from the limit.
const WINDOW: Duration = Duration::from_millis(100);
/// Processor time in a window from which on it was a busy one.
const BUSY: Duration = Duration::from_millis(60);

/// Whether the runner is urgent, and why.
#[derive(Debug)]
pub(crate) struct Urgency {
    window_ends: Instant,
    /// Processor time at the window's start.
    used: Duration,
    urgent: bool,
}

impl Urgency {
    /// A runner that is urgent from `now` on and has used `used` so far.
    pub(crate) fn new(now: Instant, used: Duration) -> Self {
        Self {
            window_ends: now + WINDOW,
            used,
            urgent: true,
        }
    }

    /// Looks at the processor time `used` by `now`: what is to change.
    pub(crate) fn look(&mut self, now: Instant, used: Duration) -> Option<bool> {
        if now < self.window_ends {
            return None;
        }
        // A window that ended late was longer, and may have been busier.
        let length = WINDOW + now.since(self.window_ends);
        let most = BUSY.mul_f64(length.as_secs_f64() / WINDOW.as_secs_f64());
        let urgent = used.saturating_sub(self.used) < most;
        let change = (urgent != self.urgent).then_some(urgent);
        *self = Self {
            window_ends: now + WINDOW,
            used,
            urgent,
        };
        change
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(10);

    /// What an urgency says of a runner that uses `share` of each tick of `ticks`.
    fn changes(urgency: &mut Urgency, from: u32, ticks: u32, share: f64) -> Vec<(u32, bool)> {
        let start = Instant::ZERO + TICK * from;
        let used = urgency.used;
        let look = |tick: u32| {
            let change = urgency.look(start + TICK * tick, used + (TICK * tick).mul_f64(share));
            change.map(|urgent| (from + tick, urgent))
        };
        (1..=ticks).filter_map(look).collect()
    }

    #[test]
    fn a_runner_at_rest_stays_urgent() {
        let mut urgency = Urgency::new(Instant::ZERO, Duration::ZERO);
        assert_eq!(changes(&mut urgency, 0, 1_000, 0.5), []);
    }

    #[test]
    fn a_busy_runner_is_ordinary_until_it_has_rested_for_a_window() {
        let mut urgency = Urgency::new(Instant::ZERO, Duration::ZERO);
        assert_eq!(changes(&mut urgency, 0, 100, 0.9), [(10, false)]);
        assert_eq!(changes(&mut urgency, 100, 100, 0.3), [(110, true)]);
    }

    /// The kernel's limit is 95 % of a second.
    #[test]
    fn no_runner_is_urgent_for_more_than_half_of_the_time_at_full_speed() {
        let mut urgency = Urgency::new(Instant::ZERO, Duration::ZERO);
        let (mut used, mut urgent, mut urgent_for) = (Duration::ZERO, true, Duration::ZERO);
        for tick in 1..=1_000_u32 {
            // As an ordinary thread it gets half of a processor, as an urgent one all of it.
            used += if urgent { TICK } else { TICK / 2 };
            urgent_for += if urgent { TICK } else { Duration::ZERO };
            urgent = urgency
                .look(Instant::ZERO + TICK * tick, used)
                .unwrap_or(urgent);
        }
        assert_eq!(urgent_for, TICK * 500);
    }
}
