//! The right to use this machine.
//!
//! Tests that only look at what a program does run beside each other, as many as the runner starts. Tests that compare what they
//! measure with something have the machine without those: two at a time, as most of their time they wait for paths that are as slow
//! as real ones, or by themselves where a packet that leaves late spoils them. The locks are on files, so they hold among threads and
//! among processes.

use crate::support::can_make_networks;
use std::fs::File;
use std::path::Path;

/// Held as long as a test uses the machine.
pub(crate) struct Machine(#[expect(dead_code, reason = "held, not used")] Vec<File>);

impl Machine {
    /// Alone: for tests that compare what they measure with something, and whose packets must leave on time.
    pub(crate) fn whole() -> Option<Self> {
        can_make_networks().then(|| {
            let measuring = file("measuring");
            measuring.lock().unwrap();
            // Once those that were running have ended, no others begin.
            file("running").lock().unwrap();
            Self(vec![measuring])
        })
    }

    /// With one other of the same kind: for tests that compare what they measure with something.
    pub(crate) fn half() -> Option<Self> {
        can_make_networks().then(|| {
            let place = either(file("first"), file("second"));
            let measuring = file("measuring");
            measuring.lock_shared().unwrap();
            file("running").lock().unwrap();
            Self(vec![place, measuring])
        })
    }

    /// With others of the same kind: for tests that only look at what a program does.
    pub(crate) fn shared() -> Option<Self> {
        can_make_networks().then(Self::without_networks)
    }

    /// With others, for a test that makes no networks.
    pub(crate) fn without_networks() -> Self {
        let running = file("running");
        loop {
            running.lock_shared().unwrap();
            if file("measuring").try_lock().is_ok() {
                return Self(vec![running]);
            }
            running.unlock().unwrap();
            file("measuring").lock().unwrap();
        }
    }
}

/// One of the two, locked.
fn either(first: File, second: File) -> File {
    if first.try_lock().is_ok() {
        return first;
    }
    second.lock().unwrap();
    second
}

fn file(name: &str) -> File {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.lock"));
    // It may be another user's; a lock needs no more than to read.
    File::open(&path).or_else(|_| File::create(&path)).unwrap()
}
