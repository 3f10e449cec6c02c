//! TCP load: one end sends as much as it can, the other throws it away.

use crate::secret::secret;
use crate::stream::{PATIENCE, is_timeout};
use crate::waking::Waking;
use socket2::SockRef;
use stats::random::SplitMix64;
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use sys::tcp::TcpInfo;
use sys::{clock, tcp};
use units::{Instant, Rate};

/// Octets in one write: few calls, and still many in a bin on a slow path.
const BLOCK: usize = 64 * 1_024;
/// The kernel wakes the sender when less than this is unsent. What is written but unsent says nothing about the path and
/// would have to be thrown away at the end.
const UNSENT: u32 = 128 * 1_024;
/// Octets thrown away in one call.
pub(crate) const DISCARD: usize = 4 << 20;

/// Has the kernel send no more than `rate` on a load, payload, evenly spaced; without one, as much as the path takes.
///
/// # Errors
/// When the system has no pacing.
pub fn limit(socket: &TcpStream, rate: Option<Rate>) -> Result<(), sys::Error> {
    match rate {
        None => Ok(()),
        Some(_) => tcp::set_max_pacing(socket, rate),
    }
}

/// Sends until `until`, or until `abort` says so or the other end is gone.
///
/// The last owner's closing of the socket then resets the connection: what is still unsent would otherwise go on loading
/// the path while it should be seen to calm down.
pub fn send(socket: &TcpStream, until: Instant, abort: &dyn Fn() -> bool) {
    let _ = send_counted(socket, until, abort);
}

/// The same, and tells how many octets the kernel has taken.
pub fn send_counted(socket: &TcpStream, until: Instant, abort: &dyn Fn() -> bool) -> u64 {
    let options = SockRef::from(socket);
    // Each of these only makes the end of the load less sharp where it fails.
    let _ = tcp::set_unsent_limit(socket, UNSENT);
    let _ = options.set_linger(Some(Duration::ZERO));
    let _ = socket.set_write_timeout(Some(PATIENCE));
    let block = incompressible();
    let (mut writer, mut taken) = (socket, 0);
    while clock::now() < until && !abort() {
        match writer.write(&block) {
            Ok(octets) => taken += octets as u64,
            Err(error) if is_timeout(&error) => {}
            Err(_) => break,
        }
    }
    taken
}

/// Receives until the other end is done, or `abort` says so; `read` tells meanwhile how many octets. Returns when the first one came.
pub fn receive(socket: &TcpStream, read: &AtomicU64, abort: &dyn Fn() -> bool) -> Option<Instant> {
    let _ = socket.set_read_timeout(Some(PATIENCE));
    let (mut first, mut taken) = (None, 0);
    let mut waking = Waking::new(clock::now());
    while !abort() {
        match tcp::discard(socket, DISCARD) {
            Ok(0) => break,
            Ok(count) => {
                taken += count as u64;
                // Nobody else writes it.
                read.store(taken, Ordering::Relaxed);
                let now = clock::now();
                first.get_or_insert(now);
                waking.apply(socket, count, now);
            }
            Err(error) if is_timeout(&error) => {}
            Err(_) => break,
        }
    }
    first
}

/// Octets that no middlebox compresses, and others for every stream.
pub fn incompressible() -> Vec<u8> {
    let mut chance = SplitMix64::new(secret());
    let mut block = vec![0; BLOCK];
    for octets in block.chunks_exact_mut(8) {
        octets.copy_from_slice(&chance.draw().to_be_bytes());
    }
    block
}

/// How often the acknowledgements are looked at.
const LOOK: Duration = Duration::from_micros(200);

/// Waits until what the socket has sent so far, its preamble, is acknowledged.
pub fn settled(socket: &TcpStream, abort: &dyn Fn() -> bool) -> TcpInfo {
    loop {
        let info = tcp::info(socket).unwrap_or_default();
        let is_quiet =
            info.unacked.unwrap_or_default() == 0 && info.notsent_bytes.unwrap_or_default() == 0;
        if is_quiet || abort() {
            return info;
        }
        clock::sleep_until(clock::now() + LOOK);
    }
}
