//! Processor time that a thread and this process have used.

use std::time::Duration;

/// Of the calling thread; zero where the system does not tell.
#[cfg(unix)]
pub(crate) fn of_thread() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Of this process: in its own code, and in the kernel on its behalf.
#[cfg(unix)]
#[expect(unsafe_code, reason = "neither rustix nor std reads these figures")]
pub(crate) fn of_process() -> Option<[Duration; 2]> {
    // SAFETY: the structure is of integers, of which zeroes are a value, and the call fills one of its kind.
    let (status, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let status = libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        (status, usage)
    };
    let span = |time: libc::timeval| {
        let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
        let micros = u64::try_from(time.tv_usec).unwrap_or_default();
        Duration::from_secs(seconds) + Duration::from_micros(micros)
    };
    (status == 0).then(|| [span(usage.ru_utime), span(usage.ru_stime)])
}

#[cfg(windows)]
use windows_sys::Win32::{Foundation::FILETIME, System::Threading as threading};

/// What both calls of the system fill: creation, end, time in the kernel, time in its own code.
#[cfg(windows)]
type Times = [FILETIME; 4];

/// Of the calling thread; zero where the system does not tell.
#[cfg(windows)]
#[expect(unsafe_code, reason = "the standard library does not tell")]
pub(crate) fn of_thread() -> Duration {
    let mut times = Times::default();
    let [born, ended, kernel, user] = &mut times;
    // SAFETY: the handle is always good for the calling thread, and the four times are what the call fills.
    let done = unsafe {
        threading::GetThreadTimes(threading::GetCurrentThread(), born, ended, kernel, user)
    };
    if done == 0 {
        return Duration::ZERO;
    }
    span(times[2]) + span(times[3])
}

/// Of this process: in its own code, and in the kernel on its behalf.
#[cfg(windows)]
#[expect(unsafe_code, reason = "the standard library does not tell")]
pub(crate) fn of_process() -> Option<[Duration; 2]> {
    let mut times = Times::default();
    let [born, ended, kernel, user] = &mut times;
    // SAFETY: the handle is always good for this process, and the four times are what the call fills.
    let done = unsafe {
        threading::GetProcessTimes(threading::GetCurrentProcess(), born, ended, kernel, user)
    };
    (done != 0).then(|| [span(times[3]), span(times[2])])
}

/// A time of Windows, which counts in steps of 100 ns.
#[cfg(windows)]
fn span(time: FILETIME) -> Duration {
    let steps = u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    Duration::from_nanos(steps.saturating_mul(100))
}
