//! Servers of other people's protocols, beside the one for our own clients: `isobath serve --also stamp,irtt`.
//!
//! They take no key, since their clients have none. So each is off unless asked for, says nothing of this host, answers with
//! no more octets than it was asked with, and answers so many requests a second and no more.

use crate::secret::secret;
use far_ends::{Moment, Request, Responder, irtt, stamp};
use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::udp::{BATCH, Datagram, Outgoing, RecvBatch, UdpSocket};
use sys::{Error, clock};
use units::{Instant, Stamp, TrafficClass};

/// Longest request that is answered, octets of payload.
const LONGEST: usize = 2_048;
/// How often `stop` is looked at.
const TICK: Duration = Duration::from_millis(100);
/// Requests that are answered in a second.
const MOST_PER_SECOND: u32 = 20_000;
const SECOND: Duration = Duration::from_secs(1);
/// Sessions that are known at once.
const MOST_SESSIONS: usize = 10_000;

/// A protocol, and the port that its server is to have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Also {
    protocol: Protocol,
    port: u16,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Protocol {
    Stamp,
    Irtt,
}

impl Protocol {
    const fn name(self) -> &'static str {
        match self {
            Self::Stamp => "stamp",
            Self::Irtt => "irtt",
        }
    }

    const fn port(self) -> u16 {
        match self {
            Self::Stamp => stamp::PORT,
            Self::Irtt => irtt::PORT,
        }
    }

    fn responder(self) -> Box<dyn Responder> {
        match self {
            Self::Stamp => Box::new(stamp::Reflector::new(MOST_SESSIONS)),
            Self::Irtt => Box::new(irtt::Server::new(MOST_SESSIONS, secret())),
        }
    }
}

impl FromStr for Also {
    type Err = String;

    /// A protocol, or `PROTOCOL:PORT`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is none of stamp, irtt, stamp:PORT, irtt:PORT");
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, Some(port.parse().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let all = [Protocol::Stamp, Protocol::Irtt];
        let protocol = all.into_iter().find(|protocol| protocol.name() == name);
        let protocol = protocol.ok_or_else(wrong)?;
        let port = port.unwrap_or_else(|| protocol.port());
        if port == 0 {
            Err(wrong())
        } else {
            Ok(Self { protocol, port })
        }
    }
}

/// A server at work.
pub struct Other {
    also: Also,
    socket: UdpSocket,
    responder: Box<dyn Responder>,
    /// Requests that are still answered in the second that ends then.
    left: u32,
    ends: Instant,
}

impl Other {
    /// Listens on `address`, or on all.
    ///
    /// # Errors
    /// When the port is taken or may not be used.
    pub fn bind(address: Option<IpAddr>, also: Also) -> Result<Self, Error> {
        let all = Ipv6Addr::UNSPECIFIED.into();
        let socket = UdpSocket::bind(SocketAddr::new(address.unwrap_or(all), also.port))?;
        socket.enable_hop_limits()?;
        Ok(Self {
            also,
            socket,
            responder: also.protocol.responder(),
            left: 0,
            ends: Instant::ZERO,
        })
    }

    /// Answers until `stop` is raised.
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
                for datagram in batch.iter() {
                    self.answer(&datagram, &mut reply);
                }
            }
        }
        Ok(())
    }

    fn answer(&mut self, datagram: &Datagram<'_>, reply: &mut Vec<u8>) {
        let stamp = clock::stamp();
        if stamp.mono >= self.ends {
            self.ends = stamp.mono + SECOND;
            self.left = MOST_PER_SECOND;
        }
        // What was cut would not come back as long as it was.
        if self.left == 0 || datagram.is_truncated() {
            return;
        }
        let request = Request {
            octets: datagram.payload,
            peer: datagram.source,
            received: moment(stamp, datagram.wall_ns.unwrap_or(stamp.wall_ns)),
            replied: moment(stamp, stamp.wall_at(clock::now())),
            class: datagram.class.unwrap_or_default(),
            hops_left: datagram.hops_left.unwrap_or(0),
        };
        if !self.responder.respond(&request, reply) {
            return;
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

impl fmt::Display for Other {
    /// As a client would name it, where the kernel tells the address.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.also.protocol.name();
        match self.socket.local_addr() {
            Ok(address) => write!(f, "{name}://{address}"),
            Err(_) => write!(f, "{name}://:{}", self.also.port),
        }
    }
}

/// A moment of the wall clock, by both.
fn moment(stamp: Stamp, wall_ns: u64) -> Moment {
    Moment {
        wall_ns,
        mono_ns: stamp.mono_at(wall_ns).as_nanos(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_else_is_served_is_named_with_or_without_a_port() {
        let read = |text: &str| {
            let also: Also = text.parse()?;
            Ok::<_, String>((also.protocol, also.port))
        };
        assert_eq!(read("stamp"), Ok((Protocol::Stamp, 862)));
        assert_eq!(read("irtt"), Ok((Protocol::Irtt, 2_112)));
        assert_eq!(read("stamp:8620"), Ok((Protocol::Stamp, 8_620)));
        for text in ["", "iperf", "stamp:", "stamp:0", "irtt:99999"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
