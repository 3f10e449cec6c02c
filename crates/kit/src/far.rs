//! What a server has for its clients, and how its threads end.

use super::mailbox::Mailboxes;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// Raises a flag when it goes out of scope.
pub struct StopOnDrop<'a>(pub &'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
