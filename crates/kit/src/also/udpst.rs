//! A UDPSTP server (RFC 9946): `isobath serve --also udpst`, for whoever has the key.
//!
//! Each test has a port of its own, which the system chooses: whoever has sent a request in another's name does not know it, and cannot
//! keep the load up by made-up feedback, which the protocol does not sign. Each test has a thread. Whoever has no key gets a refusal as
//! long as the request, and so many a second.

use super::TICK;
use crate::log::{Log, Visit};
use crate::udpst::{BUFFER, End, Ended, SILENT, receive, send};
use far_ends::udpst::{
    Admitted, Direction, Search, Sender, SendingRate, Server, SharedKey, Taken, Terms, Trial,
};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
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
/// Requests that are refused in a second; beyond, nothing is said.
const MOST_REFUSED: u32 = 200;
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
    log: Arc<Log>,
}

/// So many in a second.
#[derive(Default)]
struct Refusals {
    left: u32,
    ends: Instant,
}

impl Refusals {
    fn is_allowed(&mut self) -> bool {
        let now = clock::now();
        if now >= self.ends {
            (self.left, self.ends) = (MOST_REFUSED, now + SECOND);
        }
        let is_allowed = self.left > 0;
        self.left = self.left.saturating_sub(1);
        is_allowed
    }
}

/// A place among the tests; free again when it is dropped.
struct Place<'a>(&'a AtomicU32);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Udpst {
    /// Listens on `address`, for whoever has one of `keys`; `log` is told of tests.
    ///
    /// # Errors
    /// When the port is taken or may not be used.
    pub(super) fn bind(
        address: SocketAddr,
        keys: Vec<SharedKey>,
        log: Arc<Log>,
    ) -> Result<Self, Error> {
        Ok(Self {
            socket: UdpSocket::bind(address)?,
            server: Server::new(keys, LONGEST_S),
            tests: AtomicU32::new(0),
            log,
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
            log,
        } = self;
        let mut batch = RecvBatch::new(BATCH, LONGEST);
        let mut refusals = Refusals::default();
        thread::scope(|scope| {
            while !stop.load(Ordering::Relaxed) {
                let ready = socket.wait(TICK)?;
                if ready.event {
                    while socket.poll_event()?.is_some() {}
                }
                while socket.recv(&mut batch)? > 0 && !stop.load(Ordering::Relaxed) {
                    for datagram in batch.iter() {
                        if datagram.is_truncated() {
                            continue;
                        }
                        let has_room = tests.load(Ordering::Relaxed) < MOST_TESTS;
                        match server.handle(datagram.payload, now_s(), has_room) {
                            Some(Taken::Admitted(admitted)) => {
                                tests.fetch_add(1, Ordering::Relaxed);
                                let place = Place(&tests);
                                let (client, log) = (datagram.source, Arc::clone(&log));
                                let told = move |what| log.visit(client, what);
                                begin(scope, &socket, &datagram, admitted, (place, told), stop);
                            }
                            Some(Taken::Refused(pdu)) if refusals.is_allowed() => {
                                answer(&socket, &datagram, &pdu);
                            }
                            _ => {}
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
    (place, told): (
        Place<'scope>,
        impl FnOnce(&'static str) -> Visit + Send + 'scope,
    ),
    stop: &'scope AtomicBool,
) {
    let now = now_s();
    let Ok((own, port)) = connected(datagram) else {
        answer(socket, datagram, &admitted.no_place(now));
        return;
    };
    let (response, no_place) = (admitted.response(port, now), admitted.no_place(now));
    let work = move || {
        let _place = place;
        say(&own, &admitted.null(now));
        // What becomes of a test the client knows.
        let _ = test(&own, &admitted, told, stop);
    };
    // Without a thread the closure is dropped, and its place with it.
    let begun = sys::threads::spawn_scoped(thread::Builder::new(), scope, work);
    answer(socket, datagram, begun.map_or(&no_place, |()| &response));
}

/// A socket on a port of its own, where the client of `datagram` finds it.
fn connected(datagram: &Datagram<'_>) -> Result<(UdpSocket, u16), Error> {
    let any = if datagram.source.is_ipv4() {
        Ipv4Addr::UNSPECIFIED.into()
    } else {
        Ipv6Addr::UNSPECIFIED.into()
    };
    // A link-local address is that of several interfaces.
    let is_global = |local: &IpAddr| matches!(local, IpAddr::V4(_)) || !is_link_local(*local);
    let local = datagram.local.filter(is_global).unwrap_or(any);
    let mut own = UdpSocket::bind(SocketAddr::new(local, 0))?;
    own.connect(datagram.source)?;
    own.set_buffers(BUFFER, BUFFER)?;
    let port = own.local_addr()?.port();
    Ok((own, port))
}

fn is_link_local(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local())
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

/// Waits for the activation, and has the test, of which `told` hears.
fn test(
    socket: &UdpSocket,
    admitted: &Admitted,
    told: impl FnOnce(&'static str) -> Visit,
    stop: &AtomicBool,
) -> Result<(), Error> {
    let Some(terms) = activation(socket, admitted, stop)? else {
        return Ok(());
    };
    let _visit = told(match terms.direction {
        Direction::Upstream => "udpst upload",
        Direction::Downstream => "udpst download",
    });
    let lasts = Duration::from_secs(terms.test_s.into()) + MORE;
    let end = End {
        socket,
        class: TrafficClass::from_octet(terms.dscp_ecn),
        lasts: Some(lasts),
        longest: lasts + SILENT,
        answer: &|datagram| Some(admitted.handle(datagram, now_s())?.0),
        is_interrupted: &|| stop.load(Ordering::Relaxed),
    };
    let mut search = Search::new(terms);
    let _: Ended = match terms.direction {
        Direction::Upstream => {
            receive(&end, &terms, |feedback, _| {
                SendingRate::row(search.adjust(&Trial::of(&terms, &feedback.status)))
            })?
            .0
        }
        Direction::Downstream => {
            let is_v6 = socket.local_addr()?.ip().to_canonical().is_ipv6();
            let sender = Sender::new(
                SendingRate::row(0),
                is_v6,
                clock::now(),
                crate::secret::secret(),
            );
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
        if socket.recv(&mut batch)? == 0 {
            continue;
        }
        for datagram in batch.iter() {
            if let Some((response, terms)) = admitted.handle(datagram.payload, now_s()) {
                say(socket, &response);
                return Ok(terms);
            }
        }
    }
    Ok(None)
}
