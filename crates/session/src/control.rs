//! The control connection: JSON lines inside TLS.
//!
//! A value is one line. Reading has a time-out and loses nothing by it: what has arrived of a line,
//! or of a TLS record, waits for the next call. A result that is longer than one line may be goes as
//! many lines.
//!
//! Clock questions ([`Control::measure_clock`]) are answered inside `recv` by whichever end is asked,
//! so they can come at any time and no caller sees them.

use crate::deadline::Deadline;
use crate::error::HANDSHAKE;
use crate::lines::{Lines, MAX_LINE};
use crate::{ClockOffset, Error};
use rustls::Connection;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;
use units::Instant;

/// How long the other end may take to make room for what we send.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// A call with no time at all still looks at what has already arrived.
const LEAST_TIMEOUT: Duration = Duration::from_millis(1);
/// Clock questions are short: no longer line is looked at as one.
const CLOCK_LINE: usize = 128;
const CHUNK: usize = 4_096;

/// One end of a control connection.
#[derive(Debug)]
pub struct Control {
    peer: String,
    connection: Connection,
    socket: Deadline,
    lines: Lines,
}

/// The lines that [`Control::measure_clock`] exchanges; all times in nanoseconds.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Clock {
    /// "What does your clock say?", with the asker's own.
    ClockQuestion(u64),
    /// The question's time, and when it arrived and was answered on the other clock.
    ClockAnswer([u64; 3]),
}

impl Clock {
    /// `line`, if it is about clocks.
    fn parse(line: &[u8]) -> Option<Self> {
        (line.len() <= CLOCK_LINE).then(|| serde_json::from_slice(line).ok())?
    }
}

impl Control {
    /// Completes the TLS handshake over `socket` by `deadline`. `peer` is the other host's name in
    /// messages.
    pub(crate) fn handshake(
        peer: String,
        mut connection: Connection,
        socket: Arc<TcpStream>,
        deadline: Instant,
    ) -> Result<Self, Error> {
        let mut socket = Deadline::new(socket, deadline);
        while connection.is_handshaking() {
            connection
                .complete_io(&mut socket)
                .map_err(|error| Error::from_tls(HANDSHAKE, &peer, error))?;
        }
        Ok(Self {
            peer,
            connection,
            socket,
            lines: Lines::default(),
        })
    }

    /// The other host as the user named it, with the port.
    pub fn peer(&self) -> &str {
        &self.peer
    }

    pub(crate) const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Sends `value` as one line.
    ///
    /// # Errors
    /// [`Error::LineTooLong`] above 64 KiB, with nothing sent; [`Error::Closed`] or
    /// [`Error::Timeout`] when the other end is gone, after which the connection is of no use.
    pub fn send(&mut self, value: &impl Serialize) -> Result<(), Error> {
        self.send_by(value, sys::clock::now() + SEND_TIMEOUT)
    }

    /// Sends `rows` in their order, at most `per_line` to a line, each line as `line` makes it.
    ///
    /// # Errors
    /// As [`Control::send`].
    pub fn send_rows<T, L: Serialize>(
        &mut self,
        rows: impl IntoIterator<Item = T>,
        per_line: usize,
        mut line: impl FnMut(Vec<T>) -> L,
    ) -> Result<(), Error> {
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            let these = rows.by_ref().take(per_line.max(1)).collect();
            self.send(&line(these))?;
        }
        Ok(())
    }

    pub(crate) fn send_by(
        &mut self,
        value: &impl Serialize,
        deadline: Instant,
    ) -> Result<(), Error> {
        let mut line = serde_json::to_vec(value).map_err(|error| self.malformed(&error))?;
        line.push(b'\n');
        if line.len() > MAX_LINE {
            return Err(Error::LineTooLong {
                peer: self.peer.clone(),
            });
        }
        self.socket.at = deadline;
        self.write(&line)
            .map_err(|error| Error::from_tls("write to", &self.peer, error))
    }

    /// The next value, waiting for it at most `timeout`. After [`Error::Timeout`] and
    /// [`Error::Malformed`] the connection can be read on.
    ///
    /// # Errors
    /// [`Error::Timeout`]; [`Error::Closed`]; [`Error::Malformed`] when the line is not a `T`;
    /// [`Error::LineTooLong`], after which the connection is of no use.
    pub fn recv<T: DeserializeOwned>(&mut self, timeout: Duration) -> Result<T, Error> {
        self.recv_by(sys::clock::now() + timeout.max(LEAST_TIMEOUT))
    }

    /// The very first value, from somebody who has not yet proven anything: no other question is answered.
    pub(crate) fn recv_first_by<T: DeserializeOwned>(
        &mut self,
        deadline: Instant,
    ) -> Result<T, Error> {
        let line = self.line(deadline)?;
        serde_json::from_slice(&line).map_err(|error| self.malformed(&error))
    }

    pub(crate) fn recv_by<T: DeserializeOwned>(&mut self, deadline: Instant) -> Result<T, Error> {
        loop {
            let line = self.line(deadline)?;
            match Clock::parse(&line) {
                Some(Clock::ClockQuestion(asked)) => self.answer_clock(asked)?,
                // Too late: whoever asked has given up.
                Some(Clock::ClockAnswer(_)) => {}
                None => {
                    return serde_json::from_slice(&line).map_err(|error| self.malformed(&error));
                }
            }
        }
    }

    /// How far the other end's monotonic clock is from ours: the best of `rounds` exchanges, all of
    /// them within `timeout`. The other end must be in `recv`, with nothing to send meanwhile.
    ///
    /// # Errors
    /// As [`Control::recv`]; with some exchanges done, the best of those is the result all the same.
    pub fn measure_clock(&mut self, rounds: u32, timeout: Duration) -> Result<ClockOffset, Error> {
        let deadline = sys::clock::now() + timeout;
        let mut best = self.clock_exchange(deadline)?;
        for _ in 1..rounds {
            match self.clock_exchange(deadline) {
                Ok(offset) => best = best.or(offset),
                Err(_) => break,
            }
        }
        Ok(best)
    }

    fn clock_exchange(&mut self, deadline: Instant) -> Result<ClockOffset, Error> {
        let sent = sys::clock::now();
        self.send(&Clock::ClockQuestion(sent.as_nanos()))?;
        loop {
            let line = self.line(deadline)?;
            let arrived = sys::clock::now();
            match Clock::parse(&line) {
                Some(Clock::ClockAnswer([asked, received, replied])) => {
                    if asked == sent.as_nanos() {
                        let [received, replied] = [received, replied].map(Instant::from_nanos);
                        let offset = ClockOffset::from_exchange(sent, received, replied, arrived);
                        return Ok(offset);
                    }
                }
                Some(Clock::ClockQuestion(asked)) => self.answer_clock(asked)?,
                None => return Err(self.unexpected("no clock answer")),
            }
        }
    }

    fn answer_clock(&mut self, asked: u64) -> Result<(), Error> {
        let received = sys::clock::now().as_nanos();
        let replied = sys::clock::now().as_nanos();
        self.send(&Clock::ClockAnswer([asked, received, replied]))
    }

    /// The next line as octets, by `deadline`.
    fn line(&mut self, deadline: Instant) -> Result<Vec<u8>, Error> {
        loop {
            match self.lines.next_line() {
                Ok(Some(line)) => return Ok(line),
                Ok(None) => self.fill(deadline)?,
                Err(_) => {
                    return Err(Error::LineTooLong {
                        peer: self.peer.clone(),
                    });
                }
            }
        }
    }

    /// Adds what comes next to `lines`; returns with at least one octet more.
    fn fill(&mut self, deadline: Instant) -> Result<(), Error> {
        self.socket.at = deadline;
        let mut chunk = [0; CHUNK];
        match self.read(&mut chunk) {
            Ok(0) => Err(Error::Closed {
                peer: self.peer.clone(),
            }),
            Ok(count) => {
                self.lines.push(&chunk[..count]);
                Ok(())
            }
            Err(error) => Err(Error::from_tls("read from", &self.peer, error)),
        }
    }

    /// Plaintext; 0 at the end of the stream. A time-out loses nothing: what has arrived of a record
    /// stays in the TLS buffers.
    fn read(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.connection.reader().read(chunk) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.connection.complete_io(&mut self.socket)?;
                }
                done => return done,
            }
        }
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let mut rest = line;
        while !rest.is_empty() {
            let taken = self.connection.writer().write(rest)?;
            rest = &rest[taken..];
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.connection.wants_write() {
            if self.connection.write_tls(&mut self.socket)? == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
        }
        Ok(())
    }

    /// The other end said something of a form that it should not have.
    pub fn malformed(&self, error: &serde_json::Error) -> Error {
        self.unexpected(&error.to_string())
    }

    fn unexpected(&self, reason: &str) -> Error {
        Error::Malformed {
            peer: self.peer.clone(),
            // It may quote the other end, and end up on a terminal.
            reason: reason
                .chars()
                .filter(|c| !c.is_control())
                .take(120)
                .collect(),
        }
    }
}
