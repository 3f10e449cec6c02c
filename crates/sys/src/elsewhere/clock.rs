//! The clocks of systems that are not Linux, through the standard library. Here [`now`] counts from the first time it was asked.

use crate::{Error, cpu};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};
use units::{Instant, Stamp};

static ORIGIN: OnceLock<std::time::Instant> = OnceLock::new();

/// The monotonic clock.
pub fn now() -> Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads it"
    )]
    let now = std::time::Instant::now();
    let span = now.saturating_duration_since(*ORIGIN.get_or_init(|| now));
    // A run at zero would look like none.
    Instant::from_nanos(1 + nanos(span))
}

/// Both clocks at the same moment, to about the time of one clock reading.
pub fn stamp() -> Stamp {
    let before = now().as_nanos();
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads it"
    )]
    let wall = SystemTime::now();
    let width = now().as_nanos().saturating_sub(before);
    let since = wall.duration_since(SystemTime::UNIX_EPOCH);
    Stamp {
        wall_ns: nanos(since.unwrap_or_default()),
        mono: Instant::from_nanos(before + width / 2),
    }
}

/// Lets the kernel delay the sleeps of this thread by so much: these systems do not ask.
///
/// # Errors
/// None.
pub const fn timer_slack(_ns: u64) -> Result<(), Error> {
    Ok(())
}

/// Sleeps until `deadline`; returns at once when it has passed.
pub fn sleep_until(deadline: Instant) {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that sleeps"
    )]
    std::thread::sleep(deadline.since(now()));
}

/// Processor time that this thread has used; Windows counts it in steps of some milliseconds.
pub fn thread_cpu() -> Duration {
    cpu::of_thread()
}

/// Processor time that this process has used.
pub fn process_cpu() -> Duration {
    let [user, system] = cpu::of_process().unwrap_or_default();
    user + system
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
