//! Work that takes long, beside a Python that goes on.

use crate::errors::failed;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often is looked whether the user has interrupted.
const PATIENCE: Duration = Duration::from_millis(50);

/// Does `work` in a thread of its own without Python's lock, and `look`s on meanwhile. A signal, or an error of `look`, raises the
/// flag that `work` is given; then its end is waited for, and the exception is raised.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
    mut look: impl FnMut() -> PyResult<()>,
) -> PyResult<T> {
    let interrupt = AtomicBool::new(false);
    // A thread that has woken this one is not finished yet: who asks only for that waits once more.
    let ended = AtomicBool::new(false);
    let waiting = thread::current();
    thread::scope(|scope| {
        let running = scope.spawn(|| {
            let done = work(&interrupt);
            ended.store(true, Ordering::Release);
            waiting.unpark();
            done
        });
        let mut told = Ok(());
        // One that ends in a panic wakes nobody.
        let is_over = || ended.load(Ordering::Acquire) || running.is_finished();
        while !is_over() && told.is_ok() {
            py.detach(|| thread::park_timeout(PATIENCE));
            told = py.check_signals().and_then(|()| look());
        }
        if told.is_err() {
            interrupt.store(true, Ordering::Relaxed);
        }
        let done = py.detach(|| running.join());
        told?;
        done.map_err(|_| failed("the work ended in a panic - please report this"))
    })
}

/// A value that is reached by one thread at a time. What a class holds must be [`Sync`], and the elements of a path are not.
pub(crate) struct Own<T>(Mutex<T>);

impl<T> Own<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// The value itself: Python has seen to it that nobody else has it.
    pub(crate) fn get(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}
