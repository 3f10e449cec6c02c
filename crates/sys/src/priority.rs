//! How urgent a thread is to the scheduler.
//!
//! An ordinary thread that wakes on a busy machine may wait until whoever has the processor has used up its share:
//! milliseconds. A real-time thread does not wait for ordinary ones (sched(7)).

use crate::Error;
use std::io;

/// The lowest priority of a real-time thread: above all ordinary threads, below the kernel's own.
const LOWEST: libc::c_int = 1;

/// Makes the calling thread a real-time thread of the lowest priority (`SCHED_FIFO`), or an ordinary one again. Threads and
/// processes that it starts are ordinary. A real-time thread that never sleeps keeps a processor from all others.
///
/// # Errors
///
/// When this user or control group may not have real-time threads.
pub fn set_realtime(on: bool) -> Result<(), Error> {
    let (policy, priority) = if on {
        (libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, LOWEST)
    } else {
        (libc::SCHED_OTHER, 0)
    };
    // The C library musl refuses its own function of this name, so the kernel is asked.
    #[expect(unsafe_code, reason = "no library wraps this call")]
    // SAFETY: the kernel reads one `struct sched_param`, which is one integer, `priority`; 0 is the calling thread.
    let status =
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) };
    if status < 0 {
        let error = io::Error::last_os_error();
        return Err(Error::io("set the priority of", "this thread", error));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> i32 {
        #[expect(unsafe_code, reason = "no library wraps this call")]
        // SAFETY: the call takes a number; 0 is the calling thread.
        let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
        i32::try_from(policy).unwrap()
    }

    #[test]
    fn a_thread_becomes_urgent_where_it_may_and_its_children_do_not() {
        if let Err(error) = set_realtime(true) {
            assert!(error.to_string().contains("priority"), "{error}");
            return;
        }
        assert_eq!(policy() & !libc::SCHED_RESET_ON_FORK, libc::SCHED_FIFO);
        let child = std::thread::spawn(policy).join().unwrap();
        assert_eq!(child, libc::SCHED_OTHER);
        set_realtime(false).unwrap();
        assert_eq!(policy(), libc::SCHED_OTHER);
    }
}
