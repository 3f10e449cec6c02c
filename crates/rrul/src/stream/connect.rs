//! Attempts to connect to a port where nobody listens: the far end's kernel answers a SYN by a reset, and no program there takes notice. For
//! hosts to which no ICMP may be sent.

use kit::stream::{prepare, wait_until};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;
use sys::clock;
use units::{Dscp, Instant};

/// The port: *discard* (RFC 863), which hardly anybody serves. Whoever does accepts, which tells the same.
const PORT: u16 = 9;
/// Attempts leave no faster.
pub(crate) const LEAST_GAP: Duration = Duration::from_millis(100);
/// What is not answered after this is lost: before it the kernel would send a second SYN.
const OVERDUE: Duration = Duration::from_millis(900);

/// Attempts to be made.
pub(crate) struct Attempts {
    pub peer: SocketAddr,
    pub class: Dscp,
    pub gap: Duration,
    pub until: Instant,
}

impl Attempts {
    /// Makes attempts until the end of the stream, one after the other, and reports of each its number, when it began, and how long the
    /// answer took, if one came.
    ///
    /// # Errors
    /// When there is no socket to be had.
    pub(crate) fn run(
        &self,
        abort: &dyn Fn() -> bool,
        mut each: impl FnMut(u64, Instant, Option<Duration>),
    ) -> Result<(), String> {
        let to = SocketAddr::new(self.peer.ip(), PORT);
        let mut sequence = 0;
        while clock::now() + OVERDUE < self.until && !abort() {
            let sent = clock::now();
            let rtt = self.attempt(to)?.then(|| clock::now().since(sent));
            each(sequence, sent, rtt);
            sequence += 1;
            let due = sent + self.gap.max(LEAST_GAP);
            wait_until(due.min(self.until), abort);
        }
        Ok(())
    }

    /// Whether an answer came in time.
    fn attempt(&self, to: SocketAddr) -> Result<bool, String> {
        let told = |error: std::io::Error| error.to_string();
        let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP));
        let socket = socket.map_err(told)?;
        prepare(&socket, self.class, None).map_err(told)?;
        Ok(match socket.connect_timeout(&to.into(), OVERDUE) {
            Ok(()) => true,
            Err(error) => error.kind() == ErrorKind::ConnectionRefused,
        })
    }
}
