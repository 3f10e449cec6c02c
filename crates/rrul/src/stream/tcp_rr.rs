//! `TCP_RR`: a message, its echo, and the next message when the echo is complete.

use kit::stream::{PATIENCE, is_timeout, wait_until};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use sys::{clock, tcp};
use units::Instant;

/// One completed exchange.
pub(crate) struct Exchange {
    pub sequence: u64,
    pub sent: Instant,
    pub rtt: Duration,
}

/// Exchanges messages of `size` octets until `until`, no sooner than `gap` after one another.
///
/// # Errors
///
/// When the connection breaks.
pub(crate) fn ask(
    socket: &TcpStream,
    size: usize,
    gap: Duration,
    until: Instant,
    abort: &dyn Fn() -> bool,
    mut each: impl FnMut(Exchange),
) -> io::Result<()> {
    prepare(socket)?;
    let mut message = vec![0; size];
    let mut sequence = 0;
    while clock::now() < until && !abort() {
        let sent = clock::now();
        let stop = || abort() || clock::now() >= until;
        if !(write_all(socket, &message, &stop)? && read_all(socket, &mut message, &stop)?) {
            return Ok(());
        }
        let arrived = clock::now();
        each(Exchange {
            sequence,
            sent,
            rtt: arrived.since(sent),
        });
        sequence += 1;
        wait_until((sent + gap).min(until), abort);
    }
    Ok(())
}

/// Sends each message of `size` octets back when it is complete, until the other end is done or `abort` says so.
///
/// # Errors
///
/// When the connection breaks.
pub(crate) fn echo(socket: &TcpStream, size: usize, abort: &dyn Fn() -> bool) -> io::Result<()> {
    prepare(socket)?;
    let mut message = vec![0; size];
    while !abort() && read_all(socket, &mut message, abort)? && write_all(socket, &message, abort)?
    {
    }
    Ok(())
}

fn prepare(socket: &TcpStream) -> io::Result<()> {
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    tcp::set_nodelay(socket, true).map_err(io::Error::other)
}

/// Fills `message`; false when the other end is done or `stop` says so.
fn read_all(
    mut socket: &TcpStream,
    message: &mut [u8],
    stop: &dyn Fn() -> bool,
) -> io::Result<bool> {
    let mut done = 0;
    while done < message.len() {
        match socket.read(&mut message[done..]) {
            Ok(0) => return Ok(false),
            Ok(count) => done += count,
            Err(error) if is_timeout(&error) && !stop() => {}
            Err(error) if is_timeout(&error) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Writes all of `message`; false when `stop` says so.
fn write_all(mut socket: &TcpStream, message: &[u8], stop: &dyn Fn() -> bool) -> io::Result<bool> {
    let mut done = 0;
    while done < message.len() {
        match socket.write(&message[done..]) {
            Ok(count) => done += count,
            Err(error) if is_timeout(&error) && !stop() => {}
            Err(error) if is_timeout(&error) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
