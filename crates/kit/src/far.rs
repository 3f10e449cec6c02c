//! What a server has for its clients, and how its threads end.

use super::mailbox::Mailboxes;
use session::Session;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};
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
pub fn start<'scope, T>(
    scope: &'scope Scope<'scope, '_>,
    session: &Session,
    work: impl FnOnce() -> T + Send + 'scope,
) {
    let work = || drop(work());
    let started = sys::threads::spawn_scoped(Builder::new(), scope, work);
    started.unwrap_or_else(|error| fail(session, &error));
}

/// The same, for what is to be joined.
pub fn start_to_join<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    session: &Session,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    let thread = Builder::new().spawn_scoped(scope, work);
    thread.map_err(|error| fail(session, &error)).ok()
}

fn fail(session: &Session, error: &io::Error) {
    session.fail(format!("no thread for it: {error}"));
}

/// Raises a flag when it goes out of scope.
pub struct StopOnDrop<'a>(pub &'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
