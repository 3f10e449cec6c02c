//! The receiving end: frames as they arrive, and whether they can be decoded.

use super::decoder::Decoder;
use super::global::STREAMS;
use super::news::{News, Teller};
use super::wire::Reader;
use std::io::{self, ErrorKind, Read as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::clock;

/// How often the stop flag is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// Octets that are read at once.
const CHUNK: usize = 64 << 10;

/// Takes one connection and reads frames until it ends, or `stop` is raised.
///
/// # Errors
/// When the connection breaks, or brings what is no frame of these streams.
pub(super) fn run(listener: &TcpListener, news: &Teller, stop: &AtomicBool) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let mut socket = loop {
        match listener.accept() {
            Ok((socket, _)) => break socket,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                clock::sleep_until(clock::now() + LOOK);
            }
            Err(error) => return Err(error),
        }
    };
    socket.set_nonblocking(false)?;
    socket.set_read_timeout(Some(LOOK))?;
    read(&mut socket, news, stop)
}

fn read(socket: &mut TcpStream, news: &Teller, stop: &AtomicBool) -> io::Result<()> {
    let mut reader = Reader::default();
    let mut decoders = [Decoder::default(); STREAMS];
    let mut octets = vec![0; CHUNK];
    while !stop.load(Ordering::Relaxed) {
        let count = match socket.read(&mut octets) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) =>
            {
                continue;
            }
            Err(error) => return Err(error),
        };
        let now = clock::now();
        let frames = reader.handle_octets(octets.get(..count).unwrap_or_default());
        for frame in frames.map_err(io::Error::other)? {
            let decoder = decoders.get_mut(usize::from(frame.stream));
            let decoder = decoder.ok_or_else(|| io::Error::other("there is no such stream"))?;
            let is_good = decoder.handle_frame(frame.kind, frame.number);
            news.tell(News::Arrived(frame, is_good, now));
        }
    }
    Ok(())
}
