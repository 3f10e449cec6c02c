//! Distance that this host's kernel adds to a connection between two hosts.
//!
//! Linux can let every segment of a socket leave later, from its SYN on (`TCP_TX_DELAY`): no proxy is between, and TCP takes the
//! delay for the path's. But it only marks the segments; the queue of the interface must hold them back, and only `fq` does.
//! Any other lets them go at once. So it is measured before the replay whether a delay that is asked for is there.

use anyhow::{Context as _, ensure};
use socket2::{Domain, Protocol, Socket, Type};
use std::net::SocketAddr;
use std::time::Duration;
use sys::{clock, tcp};

/// What is asked for, and how much of it must be there.
const ASKED: Duration = Duration::from_millis(50);
const LEAST: Duration = Duration::from_millis(40);
/// Handshakes of each kind.
const TRIES: usize = 3;
/// How long one may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Makes sure that connections to `peer` can be delayed.
///
/// # Errors
/// When they cannot.
pub fn check(peer: SocketAddr) -> anyhow::Result<()> {
    let without = handshake(peer, Duration::ZERO)?;
    let with = handshake(peer, ASKED)?;
    ensure!(
        with.saturating_sub(without) >= LEAST,
        "this host does not delay TCP segments as asked: a handshake takes {:.1} ms, and {:.1} ms when {} ms are to be added - give the interface the qdisc fq with 'tc qdisc replace dev INTERFACE root fq', or leave out --add-rtt",
        without.as_secs_f64() * 1e3,
        with.as_secs_f64() * 1e3,
        ASKED.as_millis()
    );
    Ok(())
}

/// The shortest handshake of some whose segments are held back by `delay`.
fn handshake(peer: SocketAddr, delay: Duration) -> anyhow::Result<Duration> {
    let one = || -> anyhow::Result<Duration> {
        let socket = Socket::new(Domain::for_address(peer), Type::STREAM, Some(Protocol::TCP))?;
        tcp::set_transmit_delay(&socket, delay)?;
        let begun = clock::now();
        socket
            .connect_timeout(&peer.into(), TIMEOUT)
            .with_context(|| format!("connect to {peer}"))?;
        Ok(clock::now().since(begun))
    };
    let all = (0..TRIES)
        .map(|_| one())
        .collect::<anyhow::Result<Vec<_>>>()?;
    Ok(all.into_iter().min().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn what_is_not_there_is_found_out() {
        // Loopback has no queue at all, so nothing is held back.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let error = check(listener.local_addr().unwrap()).unwrap_err();
        assert!(error.to_string().contains("fq"), "{error}");
    }
}
