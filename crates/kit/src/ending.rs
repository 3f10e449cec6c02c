//! How a run ended.

use std::sync::atomic::{AtomicBool, Ordering};

/// How a run ended.
#[derive(Debug)]
pub enum Ending {
    /// As planned.
    Complete,
    /// By the user.
    Interrupted,
    /// The far end was lost, with the reason.
    Lost(String),
    /// This machine lacked something, in words that say what.
    Broke(String),
}

/// The user ended something before there was anything to keep: exit status [`INTERRUPTED`](crate::options::INTERRUPTED).
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

impl Interrupted {
    /// Whether all may go on.
    ///
    /// # Errors
    /// When `interrupt` is raised.
    pub fn check(interrupt: &AtomicBool) -> Result<(), Self> {
        if interrupt.load(Ordering::Relaxed) {
            Err(Self)
        } else {
            Ok(())
        }
    }
}

/// What this machine lacked, if that is why `error` came about: descriptors, memory, a right, room on a disk.
pub fn local_fault(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let chain = std::iter::successors(Some(error), |error| error.source());
    let mut codes = chain.filter_map(|error| error.downcast_ref::<std::io::Error>());
    let code = codes.find(|error| error.raw_os_error().is_some())?;
    if let Some(lack) = sys::lack(code) {
        return Some(lack.to_owned());
    }
    let is_refused = code.kind() == std::io::ErrorKind::PermissionDenied;
    is_refused.then(|| format!("this machine does not allow it ({error})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn what_this_machine_lacks_is_said_to_be_this_machines() {
        let of = |errno: rustix::io::Errno| {
            let error = sys::Error::io("open", "UDP socket", io::Error::from(errno));
            local_fault(&error)
        };
        let told = of(rustix::io::Errno::MFILE).unwrap();
        assert!(told.starts_with("this machine has no free file descriptors"));
        assert!(of(rustix::io::Errno::NOBUFS).is_some());
        assert!(
            of(rustix::io::Errno::PERM)
                .unwrap()
                .contains("open UDP socket")
        );
        // What the path or the far end did.
        assert_eq!(of(rustix::io::Errno::CONNREFUSED), None);
        assert_eq!(of(rustix::io::Errno::HOSTUNREACH), None);
    }
}
