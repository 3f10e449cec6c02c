//! An iperf3 server for many clients at once: `isobath serve --also iperf3`.
//!
//! Each connection shows a cookie first. One that a test waits for is a stream of that test; any other is a new client, which gets a test
//! of its own: a thread for the conversation ([`mod@test`]), and one for each stream ([`streams`]). Streams of datagrams have no cookie: they
//! belong to the test that waits for one from that address. Who waits for what, and how many there are, is kept in the [`hall`].
//!
//! Nobody has shown a key, so there are limits: tests at once, all told and from one address; connections a second; the time of a test.
//! Datagrams are sent to no address but that of the control connection.

mod hall;
mod streams;
mod test;

use super::TICK;
use crate::log::Log;
use crate::stream::is_timeout;
use far_ends::iperf3::{BUSY, CONNECTED, COOKIE, is_connect};
use hall::Hall;
use socket2::SockRef;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Scope};
use std::time::Duration;
use streams::Connection;
use sys::udp::{BATCH, Datagram, Outgoing, RecvBatch, UdpSocket};
use sys::{Error, clock, tcp};
use test::Test;
use units::{Instant, TrafficClass};

/// Connections that are taken in a second; those beyond are closed.
const MOST_PER_SECOND: u32 = 500;
const SECOND: Duration = Duration::from_secs(1);
/// How long a connection may take to show its cookie.
const GREETING: Duration = Duration::from_secs(5);
/// Longest datagram that may open a stream.
const LONGEST_CONNECT: usize = 64;

/// A server at work.
pub(super) struct Iperf3 {
    listener: TcpListener,
    socket: UdpSocket,
    hall: Hall,
    log: Arc<Log>,
}

impl Iperf3 {
    /// Listens on `address`, by TCP and UDP; `log` is told of tests.
    ///
    /// # Errors
    /// When the port is taken or may not be used.
    pub(super) fn bind(address: SocketAddr, log: Arc<Log>) -> Result<Self, Error> {
        let failed = |error| {
            Error::io("listen on", format!("TCP port {address}"), error)
                .advise("choose a free port and an address of this host")
        };
        let listener = tcp::listen(address).map_err(failed)?;
        // It also holds for accept (socket(7)).
        let options = SockRef::from(&listener);
        options.set_read_timeout(Some(TICK)).map_err(failed)?;
        Ok(Self {
            listener,
            socket: UdpSocket::bind(address)?,
            hall: Hall::default(),
            log,
        })
    }

    pub(super) fn local_addr(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    /// Serves until `stop` is raised.
    ///
    /// # Errors
    /// When the UDP socket cannot be used any more.
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Error> {
        thread::scope(|scope| {
            let datagrams = scope.spawn(|| self.answer(stop));
            let (mut left, mut ends) = (0, Instant::ZERO);
            let mut number = 0;
            while !stop.load(Ordering::Relaxed) && !datagrams.is_finished() {
                let accepted = self.listener.accept();
                let now = clock::now();
                if now >= ends {
                    (left, ends) = (MOST_PER_SECOND, now + SECOND);
                }
                match accepted {
                    Ok((socket, peer)) if left > 0 => {
                        left -= 1;
                        number += 1;
                        self.take(scope, socket, peer, number, stop);
                    }
                    Ok(_) => {}
                    Err(error) if is_quiet(&error) => {}
                    // No descriptors, or no memory: it may get better.
                    Err(_) => clock::sleep_until(now + TICK),
                }
            }
            let ended = datagrams.join();
            ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Gives a connection a thread.
    fn take<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        socket: TcpStream,
        peer: SocketAddr,
        number: u64,
        stop: &'scope AtomicBool,
    ) {
        let Some(pending) = self.hall.greet(peer.ip().to_canonical()) else {
            return;
        };
        let work = move || {
            let cookie = cookie(&socket);
            drop(pending);
            let Some(cookie) = cookie else { return };
            let Some(socket) = self.hall.join(&cookie, number, socket) else {
                return;
            };
            match self.hall.enter(peer.ip().to_canonical()) {
                Some(seat) => {
                    let _visit = self.log.visit(peer, "iperf3");
                    Test::new(&self.hall, &seat, socket, stop).run(&cookie);
                }
                None => drop((&socket).write_all(&[BUSY])),
            }
        };
        // Without a thread the closure is dropped, and the connection with it.
        let _ = sys::threads::spawn_scoped(thread::Builder::new(), scope, work);
    }

    /// Opens streams of datagrams.
    fn answer(&self, stop: &AtomicBool) -> Result<(), Error> {
        let mut batch = RecvBatch::new(BATCH, LONGEST_CONNECT);
        let mut number = 0;
        while !stop.load(Ordering::Relaxed) {
            let ready = self.socket.wait(TICK)?;
            if ready.event {
                while self.socket.poll_event()?.is_some() {}
            }
            while self.socket.recv(&mut batch)? > 0 {
                for datagram in batch.iter().filter(|d| is_connect(d.payload)) {
                    number += 1;
                    self.connect(&datagram, number);
                }
            }
        }
        Ok(())
    }

    /// A stream of datagrams, if somebody waits for one from there.
    fn connect(&self, datagram: &Datagram<'_>, number: u64) {
        let open = || {
            let socket = self.socket.beside(datagram.source, datagram.local).ok()?;
            let reply = Outgoing {
                payload: &CONNECTED,
                to: None,
                from: None,
                class: TrafficClass::default(),
            };
            socket.send(&[reply]).ok()?;
            Some(Connection::Udp(socket))
        };
        let source = datagram.source.ip().to_canonical();
        self.hall.join_by_address(source, number, open);
    }
}

/// What a connection shows first.
fn cookie(mut socket: &TcpStream) -> Option<[u8; COOKIE]> {
    let (mut cookie, mut read) = ([0; COOKIE], 0);
    let ends = clock::now() + GREETING;
    socket.set_write_timeout(Some(GREETING)).ok()?;
    while read < COOKIE {
        // All of it within the time: not each octet.
        let left = ends.since(clock::now());
        socket.set_read_timeout(Some(left)).ok()?;
        match socket.read(&mut cookie[read..]) {
            Ok(0) | Err(_) => return None,
            Ok(count) => read += count,
        }
    }
    Some(cookie)
}

/// Nobody came within the tick, or whoever came has left again.
fn is_quiet(error: &io::Error) -> bool {
    is_timeout(error) || error.kind() == ErrorKind::ConnectionAborted
}
