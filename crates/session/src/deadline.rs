//! A socket whose every call ends by one moment.
//!
//! A time-out per call would let a peer that sends one octet a second hold a connection for ever.
//! Here the time left shrinks with each call, so a handshake has a bound as a whole.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;
use units::Instant;

/// A TCP socket and the moment by which reads and writes are to be done.
#[derive(Debug)]
pub(crate) struct Deadline {
    socket: Arc<TcpStream>,
    pub(crate) at: Instant,
}

impl Deadline {
    pub(crate) const fn new(socket: Arc<TcpStream>, at: Instant) -> Self {
        Self { socket, at }
    }

    /// The time left.
    ///
    /// # Errors
    /// `TimedOut` when there is none.
    fn left(&self) -> io::Result<Duration> {
        match self.at.since(sys::clock::now()) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            left => Ok(left.max(Duration::from_micros(1))),
        }
    }

    /// The first octet, left in the socket for whoever reads next; `None` at the end of the stream.
    pub(crate) fn first_octet(&self) -> io::Result<Option<u8>> {
        self.socket.set_read_timeout(Some(self.left()?))?;
        let mut octet = [0];
        let count = self.socket.peek(&mut octet)?;
        Ok((count == 1).then_some(octet[0]))
    }
}

impl Read for Deadline {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(Some(self.left()?))?;
        (&*self.socket).read(buffer).map_err(timed_out)
    }
}

impl Write for Deadline {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(Some(self.left()?))?;
        (&*self.socket).write(octets).map_err(timed_out)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A blocking socket's time-out is reported as `WouldBlock`; say what it is.
fn timed_out(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
        _ => error,
    }
}
