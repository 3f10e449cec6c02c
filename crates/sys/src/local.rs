//! Sockets between programs of one machine (unix(7)): by one, tools and questions reach a manager. Managers need Linux, so Windows has
//! them in name only.

#[cfg(unix)]
pub use std::os::unix::net::{UnixListener, UnixStream};

#[cfg(windows)]
#[path = "elsewhere/local.rs"]
mod nowhere;
#[cfg(windows)]
pub use nowhere::{UnixListener, UnixStream};

use std::io;
use std::path::Path;

/// Listens at `path`, which only its owner may open, from the beginning: what connects before a mode is changed stays connected.
///
/// # Errors
/// When something is there, or it cannot be made.
pub fn listen_for_owner(path: &Path) -> io::Result<UnixListener> {
    #[cfg(unix)]
    {
        use rustix::fs::Mode;
        use rustix::process::umask;
        // A file that another thread makes meanwhile has fewer rights, never more.
        let before = umask(Mode::RWXG | Mode::RWXO | Mode::XUSR);
        let listener = UnixListener::bind(path);
        umask(before);
        listener
    }
    #[cfg(not(unix))]
    UnixListener::bind(path)
}
