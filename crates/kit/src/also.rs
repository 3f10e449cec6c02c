//! Servers of other people's protocols, beside the one for our own clients: `isobath serve --also stamp`.
//!
//! They take no key, since their clients have none. So each is off unless asked for, says nothing of this host, answers with
//! no more octets than it was asked with, and answers so many requests a second and no more.

use far_ends::stamp::{self, Reflector};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::udp::{BATCH, Outgoing, RecvBatch, UdpSocket};
use sys::{Error, clock};
use units::{Instant, TrafficClass};

/// Longest request that is answered, octets of payload.
const LONGEST: usize = 2_048;
/// How often `stop` is looked at.
const TICK: Duration = Duration::from_millis(100);
/// Requests that are answered in a second.
const MOST_PER_SECOND: u32 = 20_000;
const SECOND: Duration = Duration::from_secs(1);
/// Sessions whose requests are numbered.
const MOST_SESSIONS: usize = 10_000;

/// A server of another protocol, and the port that it is to have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Also {
    /// STAMP is the only one so far.
    port: u16,
}

impl FromStr for Also {
    type Err = String;

    /// `stamp`, or `stamp:PORT`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is none of: stamp, stamp:PORT");
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, port.parse().map_err(|_| wrong())?),
            None => (text, stamp::PORT),
        };
        if name == "stamp" && port != 0 {
            Ok(Self { port })
        } else {
            Err(wrong())
        }
    }
}

/// A Session-Reflector at work.
pub struct Stamps {
    socket: UdpSocket,
    reflector: Reflector,
    /// Requests that are still answered in the second that ends then.
    left: u32,
    ends: Instant,
}

impl Stamps {
    /// Listens on `address`, or on all.
    ///
    /// # Errors
    /// When the port is taken or may not be used.
    pub fn bind(address: Option<IpAddr>, also: Also) -> Result<Self, Error> {
        let all = Ipv6Addr::UNSPECIFIED.into();
        let socket = UdpSocket::bind(SocketAddr::new(address.unwrap_or(all), also.port))?;
        socket.enable_hop_limits()?;
        Ok(Self {
            socket,
            reflector: Reflector::new(MOST_SESSIONS),
            left: 0,
            ends: Instant::ZERO,
        })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn local_addr(&self) -> Result<SocketAddr, Error> {
        self.socket.local_addr()
    }

    /// Reflects until `stop` is raised.
    ///
    /// # Errors
    /// When the socket cannot be used any more.
    pub fn run(mut self, stop: &AtomicBool) -> Result<(), Error> {
        let mut batch = RecvBatch::new(BATCH, LONGEST);
        let mut reply = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let ready = self.socket.wait(TICK)?;
            if ready.event {
                while self.socket.poll_event()?.is_some() {}
            }
            while self.socket.recv(&mut batch)? > 0 && !stop.load(Ordering::Relaxed) {
                self.reflect(&batch, &mut reply);
            }
        }
        Ok(())
    }

    fn reflect(&mut self, batch: &RecvBatch, reply: &mut Vec<u8>) {
        for datagram in batch.iter() {
            let stamp = clock::stamp();
            if stamp.mono >= self.ends {
                self.ends = stamp.mono + SECOND;
                self.left = MOST_PER_SECOND;
            }
            // What was cut would not come back as long as it was.
            if self.left == 0 || datagram.is_truncated() {
                continue;
            }
            let class = datagram.class.unwrap_or_default();
            let received = datagram.wall_ns.unwrap_or(stamp.wall_ns);
            let times = (received, stamp.wall_at(clock::now()));
            let marks = (class, datagram.hops_left.unwrap_or(0));
            if !self
                .reflector
                .reflect(datagram.payload, datagram.source, times, marks, reply)
            {
                continue;
            }
            self.left -= 1;
            let out = Outgoing {
                payload: reply,
                to: Some(datagram.source),
                from: datagram.local,
                class: TrafficClass::default(),
            };
            // A client without a way back is no concern of the others.
            let _ = self.socket.send(&[out]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_else_is_served_is_named_with_or_without_a_port() {
        let port = |text: &str| Ok::<_, String>(text.parse::<Also>()?.port);
        assert_eq!(port("stamp"), Ok(862));
        assert_eq!(port("stamp:8620"), Ok(8_620));
        for text in ["", "iperf", "stamp:", "stamp:0", "stamp:99999"] {
            assert!(port(text).is_err(), "{text}");
        }
    }
}
