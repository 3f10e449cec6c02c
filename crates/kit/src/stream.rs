//! What all streams over sockets need: how they are marked, how long they wait, and when they end.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;
use sys::{clock, tcp};
use units::{Dscp, Ecn, Instant, TrafficClass};

/// A blocked call looks up this often to see whether the run has been called off.
pub const PATIENCE: Duration = Duration::from_millis(100);

/// Before the end of a stream of datagrams nothing more is sent for this long: what is on its way may still arrive.
pub const DRAIN: Duration = Duration::from_millis(500);

/// Marks a TCP socket with its class and gives it its congestion control; before it connects, so that the SYN is
/// marked too.
///
/// # Errors
/// When the system does not allow the class, or has no such congestion control.
pub fn prepare(socket: &socket2::Socket, class: Dscp, cc: Option<&str>) -> io::Result<()> {
    let class = TrafficClass {
        dscp: class,
        ecn: Ecn::NotEct,
    };
    tcp::set_traffic_class(socket, class).map_err(io::Error::other)?;
    if let Some(cc) = cc {
        tcp::set_congestion(socket, cc).map_err(io::Error::other)?;
    }
    Ok(())
}

/// The same for a socket that was accepted. A mark that is not permitted here shows at the near end, and a congestion control
/// was tried before: the data is worth having all the same.
pub fn prepare_accepted(socket: &TcpStream, class: Dscp, cc: Option<&str>) {
    let class = TrafficClass {
        dscp: class,
        ecn: Ecn::NotEct,
    };
    let _ = tcp::set_traffic_class(socket, class);
    if let Some(cc) = cc {
        let _ = tcp::set_congestion(socket, cc);
    }
}

/// Any address and port of this host, of the family of `peer`.
pub fn any(peer: SocketAddr) -> SocketAddr {
    match peer {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

/// Sleeps until `deadline`; false when `abort` said so before.
pub fn wait_until(deadline: Instant, abort: &dyn Fn() -> bool) -> bool {
    loop {
        if abort() {
            return false;
        }
        let now = clock::now();
        if now >= deadline {
            return true;
        }
        clock::sleep_until(deadline.min(now + PATIENCE));
    }
}

/// Whether a call on a blocking socket merely ran out of patience.
pub fn is_timeout(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

/// A span in nanoseconds, as the tables have it.
pub fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
