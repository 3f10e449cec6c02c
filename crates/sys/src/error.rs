//! What can go wrong at the border to the operating system.

use std::io;

/// A datagram is too long: `EMSGSIZE`, `WSAEMSGSIZE`.
#[cfg(unix)]
const TOO_LONG: i32 = libc::EMSGSIZE;
#[cfg(windows)]
const TOO_LONG: i32 = 10_040;

/// An operating system call failed, or its answer could not be understood.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The kernel's policy keeps this congestion control from processes without `CAP_NET_ADMIN`.
    #[error(
        "congestion control '{name}' is not allowed here - run as root, add it to \
         net.ipv4.tcp_allowed_congestion_control, or choose one of: {allowed}"
    )]
    CongestionNotAllowed {
        /// What was asked for.
        name: String,
        /// What this process may use, separated by spaces.
        allowed: String,
    },

    /// The kernel's answer had a form that this program does not know.
    #[error("read {object}: {problem} - please report it with the output of 'uname -a'")]
    Format {
        /// What was read: `/proc/stat`.
        object: &'static str,
        /// What was wrong with it.
        problem: &'static str,
    },

    /// A call failed: what was being done, to what, why it could not be, and what may help.
    #[error("{operation} {object}: {source}{}", dash(advice))]
    Io {
        /// What was being done, as an imperative: `set DSCP of`.
        operation: String,
        /// What it was done to: `UDP socket 10.0.0.1:4890`.
        object: String,
        /// The operating system's reason.
        source: io::Error,
        /// What to do about it; empty when nothing general can be said.
        advice: &'static str,
    },

    /// A network of its own needs capabilities that this process lacks and could not get.
    #[error(
        "make a network namespace: this user may not, and user namespaces are forbidden here ({source}) - \
         run as root, or allow them (sysctl kernel.unprivileged_userns_clone=1, or \
         kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu; in a container --privileged --device /dev/net/tun)"
    )]
    NoUserNamespace {
        /// The operating system's reason.
        source: io::Error,
    },

    /// The TUN driver is missing or closed to this user.
    #[error("open /dev/net/tun: {source} - {advice}")]
    NoTun {
        /// The operating system's reason.
        source: io::Error,
        /// What to do about it.
        advice: &'static str,
    },

    /// What only Linux has was asked for on another system.
    #[error("{what} needs Linux - run it on a machine with Linux")]
    OnlyLinux {
        /// What was asked for: `an emulated network`.
        what: &'static str,
    },

    /// The kernel has no such congestion control.
    #[error("congestion control '{name}' is unknown to this kernel - it has: {available}")]
    UnknownCongestion {
        /// What was asked for.
        name: String,
        /// What the kernel has loaded, separated by spaces.
        available: String,
    },
}

/// Refuses `what` (`'isobath serve'`) where this is not Linux, before anything is begun that could not be ended.
///
/// # Errors
/// [`Error::OnlyLinux`] on other systems.
pub const fn require_linux(what: &'static str) -> Result<(), Error> {
    if cfg!(target_os = "linux") {
        Ok(())
    } else {
        Err(Error::OnlyLinux { what })
    }
}

impl Error {
    /// `operation` on `object` failed because of `source`.
    pub fn io(
        operation: impl Into<String>,
        object: impl Into<String>,
        source: impl Into<io::Error>,
    ) -> Self {
        Self::Io {
            operation: operation.into(),
            object: object.into(),
            source: source.into(),
            advice: "",
        }
    }

    /// `what` is asked for where only Linux has it.
    #[cfg(not(target_os = "linux"))]
    pub(crate) const fn only_linux(what: &'static str) -> Self {
        Self::OnlyLinux { what }
    }

    /// The same error with a word on what to do; only [`Error::Io`] takes one.
    #[must_use]
    pub fn advise(mut self, words: &'static str) -> Self {
        if let Self::Io { advice, .. } = &mut self {
            *advice = words;
        }
        self
    }

    /// Whether a datagram was too long for the path (`EMSGSIZE`).
    pub fn is_too_long(&self) -> bool {
        match self {
            Self::Io { source, .. } => source.raw_os_error() == Some(TOO_LONG),
            _ => false,
        }
    }

    /// The operating system's error kind, where there is one.
    pub fn kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Io { source, .. } => Some(source.kind()),
            _ => None,
        }
    }
}

/// Advice as it follows an error, or nothing.
fn dash(advice: &str) -> String {
    match advice {
        "" => String::new(),
        words => format!(" - {words}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_was_done_to_what_and_what_to_do() {
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let error = Error::io("set DSCP of", "UDP socket 10.0.0.1:4890", denied);
        assert_eq!(
            error.to_string(),
            "set DSCP of UDP socket 10.0.0.1:4890: permission denied"
        );
        assert_eq!(
            error.advise("run as root").to_string(),
            "set DSCP of UDP socket 10.0.0.1:4890: permission denied - run as root"
        );
    }
}
