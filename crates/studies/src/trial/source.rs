//! The application: constant octets in constant time, by the kernel's TCP.
//!
//! It writes a piece at even intervals. When TCP takes no more it waits, and writes what has become due meanwhile as soon as it can: what is
//! late is late, and nothing is left out, as of a stream of a live source. What counts is what the other end *reads*.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use sys::{clock, tcp};
use units::{Instant, Rate};

/// Octets of a piece: a segment is not waited for, and TCP is not called for every millisecond.
pub(super) const PIECE: usize = 1_250;
/// How often an end is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// How long a connection may take to come about.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most seconds that are counted one by one.
const MOST_SECONDS: usize = 3_700;

/// Octets that were read in each second.
#[derive(Default)]
pub(super) struct Seconds(Mutex<Vec<u64>>);

impl Seconds {
    /// So many in this second.
    pub(super) fn add(&self, second: u64, octets: usize) {
        let mut seconds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let second = usize::try_from(second).unwrap_or(usize::MAX);
        if second >= seconds.len() && second < MOST_SECONDS {
            seconds.resize(second + 1, 0);
        }
        if let Some(count) = seconds.get_mut(second) {
            *count += octets as u64;
        }
    }

    /// The octets of each second in this range, zero where nothing came.
    pub(super) fn of(&self, range: std::ops::Range<u64>) -> Vec<(u64, u64)> {
        let seconds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |second: u64| {
            usize::try_from(second)
                .ok()
                .and_then(|at| seconds.get(at).copied())
        };
        range
            .map(|second| (second, of(second).unwrap_or(0)))
            .collect()
    }
}

/// Waits for connections on the calling thread's host.
pub(super) fn listen(port: u16) -> Result<TcpListener, sys::Error> {
    let bind = || -> std::io::Result<TcpListener> {
        let listener = tcp::listen((Ipv4Addr::UNSPECIFIED, port).into())?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    bind().map_err(|error| sys::Error::io("listen on", format!("port {port}"), error))
}

/// Takes the next connection; none once `over` is raised.
pub(super) fn accept(listener: &TcpListener, over: &AtomicBool) -> Option<TcpStream> {
    while !over.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, _)) => {
                let is_set = stream
                    .set_nonblocking(false)
                    .and_then(|()| stream.set_read_timeout(Some(LOOK)));
                return is_set.is_ok().then_some(stream);
            }
            Err(_) => clock::sleep_until(clock::now() + LOOK / 10),
        }
    }
    None
}

/// Reads all of a connection, and tells `got` of every read.
pub(super) fn drain(mut stream: TcpStream, over: &AtomicBool, got: impl Fn(usize)) {
    let mut buffer = vec![0; 64 << 10];
    while !over.load(Ordering::Relaxed) {
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => got(count),
            Err(error) if is_patience(error.kind()) => {}
            Err(_) => return,
        }
    }
}

pub(super) fn is_patience(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

/// The receiving end: counts what is read after `origin`.
pub(super) fn receive(
    listener: &TcpListener,
    origin: Instant,
    seconds: &Seconds,
    over: &AtomicBool,
) {
    if let Some(stream) = accept(listener, over) {
        drain(stream, over, |count| {
            seconds.add(clock::now().since(origin).as_secs(), count);
        });
    }
}

/// The sending end: writes to `address` at `rate` from `origin` to `end`.
///
/// # Errors
/// When there is no connection, or it breaks.
pub(super) fn send(
    address: SocketAddr,
    rate: Rate,
    [origin, end]: [Instant; 2],
    over: &AtomicBool,
) -> std::io::Result<()> {
    let mut stream = tcp::connect(address, PATIENCE)?;
    stream.set_write_timeout(Some(LOOK))?;
    let mut written = 0;
    while clock::now() < end && !over.load(Ordering::Relaxed) {
        clock::sleep_until(origin + rate.time_for(written));
        // What is left of the piece that TCP has taken a part of.
        let rest = PIECE - usize::try_from(written % PIECE as u64).unwrap_or(0);
        match stream.write(&[0; PIECE][..rest]) {
            Ok(count) => written += count as u64,
            Err(error) if is_patience(error.kind()) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_counted_in_its_second() {
        let seconds = Seconds::default();
        for (second, octets) in [(0, 5), (2, 7), (2, 1), (u64::MAX, 9)] {
            seconds.add(second, octets);
        }
        assert_eq!(seconds.of(0..4), [(0, 5), (1, 0), (2, 8), (3, 0)]);
    }
}
