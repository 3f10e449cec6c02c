//! Network namespaces: hosts of their own inside this machine.
//!
//! A namespace here has no name and no file: it lives as long as somebody holds its descriptor or runs in
//! it. So there is nothing to clean up: when this process ends, however it ends, its namespaces
//! and the interfaces in them are gone.
//!
//! Making one needs `CAP_SYS_ADMIN` and `CAP_NET_ADMIN`. Without them [`gain_privilege`] moves the
//! process into a *user namespace* where it has both, as far as networks of its own go.

use crate::Error;
use rustix::thread::{CapabilitySet, LinkNameSpaceType, UnshareFlags};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread;

/// A network namespace, held open.
#[derive(Debug)]
pub struct Netns {
    fd: OwnedFd,
}

impl Netns {
    /// Makes a new network namespace with its loopback interface up.
    ///
    /// # Errors
    ///
    /// When the process may not make one (see [`gain_privilege`]).
    pub fn create() -> Result<Self, Error> {
        in_thread(|| {
            unshare(UnshareFlags::NEWNET, "make", "a network namespace")?;
            crate::iface::up("lo", None, None)?;
            let path = "/proc/thread-self/ns/net";
            let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
            Ok(Self { fd: file.into() })
        })
    }

    /// Moves the calling thread into the namespace, for good.
    ///
    /// Sockets made before stay where they were made; threads started after are inside as well.
    ///
    /// # Errors
    ///
    /// When the process may not enter it.
    pub fn enter(&self) -> Result<(), Error> {
        rustix::thread::move_into_link_name_space(self.fd.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|e| Error::io("enter", "a network namespace", e))
    }

    /// Runs `work` inside the namespace, on a thread of its own, and waits for it.
    ///
    /// # Errors
    ///
    /// Those of [`Netns::enter`] and of `work`.
    pub fn run<T, E>(&self, work: impl FnOnce() -> Result<T, E> + Send) -> Result<T, E>
    where
        T: Send,
        E: From<Error> + Send,
    {
        in_thread(|| {
            self.enter()?;
            work()
        })
    }
}

impl AsFd for Netns {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Namespaces belong to threads, so a change that must not last is made on a thread that does not.
fn in_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| match scope.spawn(work).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// Makes sure that this process may make network namespaces, if need be by moving it into a user namespace of
/// its own. Must be called before any other thread is started.
///
/// # Errors
///
/// When it lacks the capabilities and the system forbids user namespaces; the message says what to do.
pub fn gain_privilege() -> Result<(), Error> {
    if has_privilege() {
        return Ok(());
    }
    let (uid, gid) = (rustix::process::getuid(), rustix::process::getgid());
    unshare(UnshareFlags::NEWUSER, "make", "a user namespace").map_err(|error| match error {
        Error::Io { source, .. } => Error::NoUserNamespace { source },
        other => other,
    })?;
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("0 {} 1", uid.as_raw()))?;
    write("/proc/self/gid_map", &format!("0 {} 1", gid.as_raw()))?;
    if has_privilege() {
        return Ok(());
    }
    // Some systems (AppArmor's restriction in Ubuntu 24.04) allow the namespace and take the capabilities.
    Err(Error::NoUserNamespace {
        source: rustix::io::Errno::PERM.into(),
    })
}

fn has_privilege() -> bool {
    let wanted = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN;
    rustix::thread::capabilities(None).is_ok_and(|sets| sets.effective.contains(wanted))
}

fn unshare(flags: UnshareFlags, operation: &str, object: &str) -> Result<(), Error> {
    // SAFETY: `unshare` is unsafe only for `CLONE_FILES`, which takes descriptors away from other
    // threads; the callers pass only namespaces.
    #[expect(
        unsafe_code,
        reason = "the safe form is deprecated; no descriptor table is unshared"
    )]
    let done = unsafe { rustix::thread::unshare_unsafe(flags) };
    done.map_err(|e| Error::io(operation, object, e))
}

/// Sets a kernel parameter (a path below `/proc/sys`, with dots or slashes) in this thread's network namespace.
///
/// # Errors
///
/// When there is no such parameter or it may not be set.
pub fn set_sysctl(name: &str, value: &str) -> Result<(), Error> {
    write(&format!("/proc/sys/{}", name.replace('.', "/")), value)
}

fn write(path: &str, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(|e| {
        let advice = match e.kind() {
            io::ErrorKind::ReadOnlyFilesystem => {
                "kernel parameters are read-only here: in a container, start it with --privileged"
            }
            _ => "",
        };
        Error::io("write", path, e).advise(advice)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_has_its_own_loopback_and_nothing_else() {
        let ns = Netns::create().unwrap();
        let interfaces = ns
            .run(|| {
                fs::read_to_string("/proc/thread-self/net/dev")
                    .map_err(|e| Error::io("read", "/proc/thread-self/net/dev", e))
            })
            .unwrap();
        let names: Vec<_> = interfaces
            .lines()
            .filter_map(|l| l.split_once(':'))
            .collect();
        assert_eq!(names.len(), 1, "{interfaces}");
        assert_eq!(names[0].0.trim(), "lo");
    }

    #[test]
    fn two_namespaces_can_use_the_same_port() {
        let (one, two) = (Netns::create().unwrap(), Netns::create().unwrap());
        let bind = || {
            std::net::UdpSocket::bind("127.0.0.1:4890")
                .map_err(|e| Error::io("bind", "127.0.0.1:4890", e))
        };
        let first = one.run(bind).unwrap();
        let second = two.run(bind).unwrap();
        assert_eq!(first.local_addr().unwrap(), second.local_addr().unwrap());
    }
}
