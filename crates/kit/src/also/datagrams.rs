//! Servers that answer one datagram by another.

use super::TICK;
use far_ends::{Moment, Request, Responder};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::udp::{BATCH, Datagram, Outgoing, RecvBatch, UdpSocket};
use sys::{Error, clock};
use units::{Instant, Stamp, TrafficClass};

/// Longest request that is answered, octets of payload.
const LONGEST: usize = 2_048;
/// Requests that are answered in a second.
const MOST_PER_SECOND: u32 = 20_000;
const SECOND: Duration = Duration::from_secs(1);

/// A server at work.
pub(super) struct Datagrams {
    socket: UdpSocket,
    responder: Box<dyn Responder>,
    /// Requests that are still answered in the second that ends then.
    left: u32,
    ends: Instant,
}

impl Datagrams {
    /// Listens on `address`.
    ///
    /// # Errors
    /// When the port is taken or may not be used.
    pub(super) fn bind(address: SocketAddr, responder: Box<dyn Responder>) -> Result<Self, Error> {
        let socket = UdpSocket::bind(address)?;
        socket.enable_hop_limits()?;
        // From it senders of STAMP and TWAMP learn how many hops there were on the way back.
        socket.set_hop_limit(u8::MAX)?;
        Ok(Self {
            socket,
            responder,
            left: 0,
            ends: Instant::ZERO,
        })
    }

    /// Answers until `stop` is raised.
    ///
    /// # Errors
    /// When the socket cannot be used any more.
    pub(super) fn run(mut self, stop: &AtomicBool) -> Result<(), Error> {
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
            class: TrafficClass {
                dscp: self.responder.dscp(datagram.source),
                ..TrafficClass::default()
            },
        };
        // A client without a way back is no concern of the others.
        let _ = self.socket.send(&[out]);
    }
}

impl Datagrams {
    /// Where it listens, as far as the kernel tells.
    pub(super) fn local_addr(&self) -> Option<SocketAddr> {
        self.socket.local_addr().ok()
    }
}

/// A moment of the wall clock, by both.
fn moment(stamp: Stamp, wall_ns: u64) -> Moment {
    Moment {
        wall_ns,
        mono_ns: stamp.mono_at(wall_ns).as_nanos(),
    }
}
