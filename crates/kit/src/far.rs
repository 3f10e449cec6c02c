//! What a server has for its clients, and how its threads end.

use super::mailbox::Mailboxes;
use session::Session;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};
use sys::udp::UdpSocket;

/// What a server has for the runs of its clients.
pub struct Equipment {
    /// Where datagrams that want no reply wait.
    pub mailboxes: Mailboxes,
    /// The server's UDP socket.
    pub socket: Arc<UdpSocket>,
    /// Serves pages.
    pub site: web::Site,
}

/// Starts a thread for a run of `session`. Where the system gives none the session ends with that reason.
pub fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    session: &Session,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    let thread = thread::Builder::new().spawn_scoped(scope, work);
    let thread = thread.map_err(|error| session.fail(format!("no thread for it: {error}")));
    thread.ok()
}

/// Raises a flag when it goes out of scope.
pub struct StopOnDrop<'a>(pub &'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
