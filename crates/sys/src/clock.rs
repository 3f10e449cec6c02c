//! The clocks of this host.
//!
//! Two of them matter. `CLOCK_MONOTONIC` never jumps, so every span is measured on it; the wall
//! clock (`CLOCK_REALTIME`) is what the kernel stamps packets with and what two hosts can compare.
//! [`stamp`] reads both at one moment, so that a packet stamp can be moved onto the monotonic clock
//! ([`Stamp::mono_at`]). The two drift apart when the wall clock is slewed (at most 500 ppm, so
//! 50 us in 100 ms): whoever converts for long takes a fresh stamp now and then.
//!
//! Reading a clock is no system call (vDSO): 20 to 40 ns.

use crate::Error;
use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::num::NonZeroU64;
use std::time::Duration;
use units::{Instant, Stamp};

/// How many times [`stamp`] reads the clocks to find a reading that nothing interrupted.
const STAMP_TRIES: usize = 5;

/// The monotonic clock.
pub fn now() -> Instant {
    Instant::from_nanos(nanos(clock_gettime(ClockId::Monotonic)))
}

/// Both clocks at the same moment, to about the time of one clock reading (some tens of
/// nanoseconds).
///
/// The wall clock is read between two readings of the monotonic clock; of a few tries the
/// tightest counts, because the others were interrupted.
pub fn stamp() -> Stamp {
    let (mut tightest, mut stamp) = (u64::MAX, Stamp::default());
    for _ in 0..STAMP_TRIES {
        let before = now().as_nanos();
        let wall_ns = nanos(clock_gettime(ClockId::Realtime));
        let width = now().as_nanos().saturating_sub(before);
        if width < tightest {
            tightest = width;
            stamp = Stamp {
                wall_ns,
                mono: Instant::from_nanos(before + width / 2),
            };
        }
    }
    stamp
}

/// Lets the kernel delay the sleeps of this thread by at most `ns` nanoseconds in order to wake for
/// several timers at once; 0 restores the default (50 us).
///
/// # Errors
/// When the system forbids `prctl`.
pub fn timer_slack(ns: u64) -> Result<(), Error> {
    rustix::thread::set_current_timer_slack(NonZeroU64::new(ns))
        .map_err(|e| Error::io("set timer slack of", "this thread", e))
}

/// Sleeps until `deadline`; returns at once when it has passed. The kernel wakes a thread some tens
/// of microseconds late: [`crate::pacer`] hides that.
pub fn sleep_until(deadline: Instant) {
    let request = timespec(deadline);
    while clock_nanosleep_absolute(ClockId::Monotonic, &request) == Err(Errno::INTR) {}
}

/// Processor time that this thread has used, user and system together.
pub fn thread_cpu() -> Duration {
    Duration::from_nanos(nanos(clock_gettime(ClockId::ThreadCPUTime)))
}

/// Processor time that this process has used, user and system, all threads together.
pub fn process_cpu() -> Duration {
    Duration::from_nanos(nanos(clock_gettime(ClockId::ProcessCPUTime)))
}

/// A time of the kernel in nanoseconds. No clock here is ever negative.
fn nanos(time: Timespec) -> u64 {
    time.tv_sec
        .cast_unsigned()
        .wrapping_mul(1_000_000_000)
        .wrapping_add(time.tv_nsec.cast_unsigned())
}

fn timespec(instant: Instant) -> Timespec {
    Timespec {
        tv_sec: (instant.as_nanos() / 1_000_000_000).cast_signed(),
        tv_nsec: (instant.as_nanos() % 1_000_000_000).cast_signed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_monotonic_clock_never_goes_back() {
        let mut last = now();
        for _ in 0..10_000 {
            let next = now();
            assert!(next >= last);
            last = next;
        }
    }

    #[test]
    fn a_stamp_lies_between_the_readings_around_it() {
        let before = now();
        let stamp = stamp();
        let after = now();
        assert!(before <= stamp.mono && stamp.mono <= after);
        let wall = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
        assert!(u128::from(stamp.wall_ns) <= wall);
    }

    #[test]
    fn sleep_ends_after_its_deadline_and_a_past_one_costs_nothing() {
        let deadline = now() + Duration::from_millis(2);
        sleep_until(deadline);
        assert!(now() >= deadline);
        sleep_until(Instant::ZERO);
    }

    #[test]
    fn timer_slack_is_set_and_restored() {
        let slack = || rustix::thread::current_timer_slack().unwrap();
        timer_slack(1).unwrap();
        assert_eq!(slack(), 1);
        timer_slack(0).unwrap();
        assert!(slack() > 1);
    }

    #[test]
    fn work_shows_in_the_processor_time_of_thread_and_process() {
        let (process, thread) = (process_cpu(), thread_cpu());
        while thread_cpu().saturating_sub(thread) < Duration::from_millis(1) {
            std::hint::spin_loop();
        }
        assert!(process_cpu().saturating_sub(process) >= Duration::from_millis(1));
    }
}
