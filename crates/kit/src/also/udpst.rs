//! A UDPSTP server (RFC 9946): `isobath serve --also udpst`, for whoever has the key.
//!
//! The protocol has a port of its own for each test. Here that is the same port, by a socket that is connected to the client: a firewall
//! needs one rule. Each test has a thread. Whoever has no key gets a refusal as long as the request, and so many a second.

use super::TICK;
use crate::udpst::{BUFFER, End, Ended, SILENT, receive, send};
use far_ends::udpst::{
    Admitted, Direction, Search, Sender, SendingRate, Server, SharedKey, Taken, Terms, Trial,
};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, Scope};
use std::time::Duration;
use sys::udp::{BATCH, Datagram, Outgoing, RecvBatch, UdpSocket};
use sys::{Error, clock};
use units::{Instant, TrafficClass};

/// Tests at once: each takes all of the path.
const MOST_TESTS: u32 = 8;
/// How long a test lasts at most, s.
const LONGEST_S: u16 = 120;
/// Requests that are answered in a second.
const MOST_PER_SECOND: u32 = 200;
const SECOND: Duration = Duration::from_secs(1);
/// A test is stopped so long after its time, so that its last sub-interval is whole.
const MORE: Duration = Duration::from_millis(500);
/// Longest datagram of a control connection.
const LONGEST: usize = 256;

/// A server at work.
pub(super) struct Udpst {
    socket: UdpSocket,
    server: Server,
    tests: AtomicU32,
}

/// A place among the tests; free again when it is dropped.
struct Place<'a>(&'a AtomicU32);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Udpst {
    /// Listens on `address`, for whoever has one of `keys`.
    ///
    /// # Errors
    /// When the port is taken or may not be used.
    pub(super) fn bind(address: SocketAddr, keys: Vec<SharedKey>) -> Result<Self, Error> {
        Ok(Self {
            socket: UdpSocket::bind(address)?,
            server: Server::new(keys, LONGEST_S),
            tests: AtomicU32::new(0),
        })
    }

    pub(super) fn local_addr(&self) -> Option<SocketAddr> {
        self.socket.local_addr().ok()
    }

    /// Serves until `stop` is raised.
    ///
    /// # Errors
    /// When the socket cannot be used any more.
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Error> {
        let Self {
            socket,
            mut server,
            tests,
        } = self;
        let mut batch = RecvBatch::new(BATCH, LONGEST);
        let (mut left, mut ends) = (0, Instant::ZERO);
        thread::scope(|scope| {
            while !stop.load(Ordering::Relaxed) {
                let ready = socket.wait(TICK)?;
                if ready.event {
                    while socket.poll_event()?.is_some() {}
                }
                while socket.recv(&mut batch)? > 0 && !stop.load(Ordering::Relaxed) {
                    for datagram in batch.iter() {
                        let now = clock::now();
                        if now >= ends {
                            (left, ends) = (MOST_PER_SECOND, now + SECOND);
                        }
                        if left == 0 || datagram.is_truncated() {
                            continue;
                        }
                        let has_room = tests.load(Ordering::Relaxed) < MOST_TESTS;
                        let Some(taken) = server.handle(datagram.payload, now_s(), has_room) else {
                            continue;
                        };
                        left -= 1;
                        match taken {
                            Taken::Refused(pdu) => answer(&socket, &datagram, &pdu),
                            Taken::Admitted(admitted) => {
                                tests.fetch_add(1, Ordering::Relaxed);
                                let place = Place(&tests);
                                begin(scope, &socket, &datagram, admitted, place, stop);
                            }
                        }
                    }
                }
            }
            Ok(())
        })
    }
}

/// Seconds since 1970.
fn now_s() -> u64 {
    clock::stamp().wall_ns / 1_000_000_000
}

/// Sends `pdu` to whoever sent `datagram`, from where it came to.
fn answer(socket: &UdpSocket, datagram: &Datagram<'_>, pdu: &[u8]) {
    let out = Outgoing {
        payload: pdu,
        to: Some(datagram.source),
        from: datagram.local,
        class: TrafficClass::default(),
    };
    // A client without a way back is no concern of the others.
    let _ = socket.send(&[out]);
}

/// Gives a test a thread.
fn begin<'scope>(
    scope: &'scope Scope<'scope, '_>,
    socket: &UdpSocket,
    datagram: &Datagram<'_>,
    admitted: Box<Admitted>,
    place: Place<'scope>,
    stop: &'scope AtomicBool,
) {
    let Ok(own) = beside(socket, datagram.source, datagram.local) else {
        return;
    };
    let Ok(local) = own.local_addr() else { return };
    let now = now_s();
    answer(socket, datagram, &admitted.response(local.port(), now));
    say(&own, &admitted.null(now));
    let work = move || {
        let _place = place;
        // What becomes of a test the client knows.
        let _ = test(&own, &admitted, stop);
    };
    // Without a thread the closure is dropped, and its place with it.
    let _ = thread::Builder::new().spawn_scoped(scope, work);
}

fn beside(socket: &UdpSocket, peer: SocketAddr, local: Option<IpAddr>) -> Result<UdpSocket, Error> {
    let own = socket.beside(peer, local)?;
    own.set_buffers(BUFFER, BUFFER)?;
    Ok(own)
}

fn say(socket: &UdpSocket, pdu: &[u8]) {
    let out = Outgoing {
        payload: pdu,
        to: None,
        from: None,
        class: TrafficClass::default(),
    };
    let _ = socket.send(&[out]);
}

/// Waits for the activation, and has the test.
fn test(socket: &UdpSocket, admitted: &Admitted, stop: &AtomicBool) -> Result<(), Error> {
    let Some(terms) = activation(socket, admitted, stop)? else {
        return Ok(());
    };
    let end = End {
        socket,
        class: TrafficClass::from_octet(terms.dscp_ecn),
        lasts: Some(Duration::from_secs(terms.test_s.into()) + MORE),
        is_interrupted: &|| stop.load(Ordering::Relaxed),
    };
    let mut search = Search::new(terms);
    let first = SendingRate::row(search.row());
    let _: Ended = match terms.direction {
        Direction::Upstream => {
            receive(&end, &terms, |feedback, _| {
                SendingRate::row(search.adjust(&Trial::of(&terms, &feedback.status)))
            })?
            .0
        }
        Direction::Downstream => {
            let is_v6 = socket.local_addr()?.ip().to_canonical().is_ipv6();
            let sender = Sender::new(first, is_v6, clock::now(), crate::secret::secret());
            send(&end, sender, |status, _| {
                SendingRate::row(search.adjust(&Trial::of(&terms, status)))
            })?
        }
    };
    Ok(())
}

/// The terms of the test, if the client activates it in time.
fn activation(
    socket: &UdpSocket,
    admitted: &Admitted,
    stop: &AtomicBool,
) -> Result<Option<Terms>, Error> {
    let mut batch = RecvBatch::new(1, LONGEST);
    let ends = clock::now() + SILENT;
    while clock::now() < ends && !stop.load(Ordering::Relaxed) {
        let ready = socket.wait(ends.since(clock::now()).min(TICK))?;
        if ready.event {
            while socket.poll_event()?.is_some() {}
        }
        while socket.recv(&mut batch)? > 0 {
            for datagram in batch.iter() {
                if let Some((response, terms)) = admitted.handle(datagram.payload, now_s()) {
                    say(socket, &response);
                    return Ok(terms);
                }
            }
        }
    }
    Ok(None)
}
