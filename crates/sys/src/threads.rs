//! Threads that nobody waits for.
//!
//! To drop a thread's handle is to detach the thread, and glibc's `pthread_detach` (seen in 2.36) looks at it once more when that is done. A
//! thread that ends in this very moment has taken its memory with it, and the process dies of a segmentation fault: seen once in a server
//! on a busy machine, at the end of a stranger's connection. So such a thread begins only when its handle is gone.

use std::convert::Infallible;
use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{Builder, Scope};

/// Has a thread do `work`.
///
/// # Errors
/// When the system gives none; `work` is dropped then.
pub fn spawn(builder: Builder, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let (gone, gate) = channel();
    drop(builder.spawn(move || after(&gate, work))?);
    drop(gone);
    Ok(())
}

/// Has a thread do `work` before `scope` ends.
///
/// # Errors
/// When the system gives none; `work` is dropped then.
pub fn spawn_scoped<'scope>(
    builder: Builder,
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() + Send + 'scope,
) -> io::Result<()> {
    let (gone, gate) = channel();
    drop(builder.spawn_scoped(scope, move || after(&gate, work))?);
    drop(gone);
    Ok(())
}

/// Nothing is ever sent: it waits for the other end to be dropped.
fn after(gate: &Receiver<Infallible>, work: impl FnOnce()) {
    let _ = gate.recv();
    work();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    #[test]
    fn all_work_is_done_by_threads_with_their_names() {
        let done = Arc::new(AtomicUsize::new(0));
        let named = || Builder::new().name("worker".to_owned());
        thread::scope(|scope| {
            for _ in 0..100 {
                let work = || {
                    assert_eq!(thread::current().name(), Some("worker"));
                    done.fetch_add(1, Ordering::Relaxed);
                };
                spawn_scoped(named(), scope, work).unwrap();
            }
        });
        assert_eq!(done.load(Ordering::Relaxed), 100);
        let (over, wait) = channel::<Infallible>();
        for _ in 0..100 {
            let (done, over) = (Arc::clone(&done), over.clone());
            let work = move || {
                done.fetch_add(1, Ordering::Relaxed);
                drop(over);
            };
            spawn(named(), work).unwrap();
        }
        drop(over);
        assert!(wait.recv().is_err());
        assert_eq!(done.load(Ordering::Relaxed), 200);
    }
}
