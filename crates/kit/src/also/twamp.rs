//! A TWAMP server (RFC 5357): `isobath serve --also twamp`.
//!
//! Sessions are agreed on by TCP, so it is known of each client that it is where it says. Each has a thread for its conversation; all test
//! packets come to one socket, the UDP port of the same number, or another where that is taken.

use super::TICK;
use super::datagrams::Datagrams;
use crate::far::StopOnDrop;
use crate::log::Log;
use crate::secret::secret;
use crate::stream::is_timeout;
use far_ends::twamp::{Agreed, Conversation, Reflector};
use socket2::SockRef;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use sys::{Error, clock, tcp};
use web::guests::{Guests, Limits};

/// Clients at once; how long each may stay is told by [`HURRY`] and [`IDLE`].
const LIMITS: Limits = Limits {
    most: 64,
    most_from_one: 8,
    longest: Duration::MAX,
};
/// Until the first session is agreed on; and without a word or a test packet after (RFC 5357 section 3.1: SERVWAIT).
const HURRY: Duration = Duration::from_secs(30);
const IDLE: Duration = Duration::from_secs(900);
/// Octets that are read at once.
const PIECE: usize = 1_024;

/// A server at work.
pub(super) struct Twamp {
    listener: TcpListener,
    agreed: Arc<Agreed>,
    reflector: Datagrams,
    /// Where test packets go.
    port: u16,
    log: Arc<Log>,
}

impl Twamp {
    /// Listens on `address`; `log` is told of clients.
    ///
    /// # Errors
    /// When the port is taken or may not be used.
    pub(super) fn bind(address: SocketAddr, log: Arc<Log>) -> Result<Self, Error> {
        let failed = |error| super::unusable(address, error);
        let listener = tcp::listen(address).map_err(failed)?;
        // It also holds for accept (socket(7)).
        let options = SockRef::from(&listener);
        options.set_read_timeout(Some(TICK)).map_err(failed)?;
        let agreed = Arc::new(Agreed::default());
        let reflector = || Box::new(Reflector::new(Arc::clone(&agreed)));
        let any = SocketAddr::new(address.ip(), 0);
        let reflector =
            Datagrams::bind(address, reflector()).or_else(|_| Datagrams::bind(any, reflector()))?;
        let port = reflector.local_addr().map_or(0, |address| address.port());
        Ok(Self {
            listener,
            agreed,
            reflector,
            port,
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
        let Self {
            listener,
            agreed,
            reflector,
            port,
            log,
        } = self;
        let guests = Arc::new(Guests::default());
        thread::scope(|scope| {
            // What is started here ends with it, however it ends.
            let _stop = StopOnDrop(stop);
            let reflecting = scope.spawn(|| reflector.run(stop));
            while !stop.load(Ordering::Relaxed) && !reflecting.is_finished() {
                let (socket, peer) = match listener.accept() {
                    Ok(accepted) => accepted,
                    Err(error) if is_timeout(&error) => continue,
                    // No descriptors, or no memory: it may get better.
                    Err(_) => {
                        clock::sleep_until(clock::now() + TICK);
                        continue;
                    }
                };
                let Some(guest) = guests.enter(peer.ip(), LIMITS) else {
                    continue;
                };
                let (agreed, log) = (Arc::clone(&agreed), Arc::clone(&log));
                let work = move || {
                    let _guest = guest;
                    let _visit = log.visit(peer, "twamp");
                    // Whoever goes away early needs no answer.
                    let _ = converse(&socket, peer, port, agreed, stop);
                };
                // Without a thread the closure is dropped, and the connection with it.
                let _ = sys::threads::spawn_scoped(thread::Builder::new(), scope, work);
            }
            stop.store(true, Ordering::Relaxed);
            let ended = reflecting.join();
            ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

/// Has the conversation with a client until it has nothing more to say, or the server is over.
fn converse(
    mut socket: &TcpStream,
    peer: SocketAddr,
    port: u16,
    agreed: Arc<Agreed>,
    stop: &AtomicBool,
) -> io::Result<()> {
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(TICK))?;
    socket.set_write_timeout(Some(TICK))?;
    let (mut out, mut piece) = (Vec::new(), [0; PIECE]);
    let mut conversation = Conversation::new(peer.ip(), port, agreed, secret(), &mut out);
    socket.write_all(&out)?;
    let mut heard_ns = clock::stamp().wall_ns;
    while !stop.load(Ordering::Relaxed) {
        let latest = conversation.latest_ns();
        let patience = latest.map_or(HURRY, |_| IDLE);
        let since = clock::stamp()
            .wall_ns
            .saturating_sub(heard_ns.max(latest.unwrap_or(0)));
        if Duration::from_nanos(since) > patience {
            break;
        }
        let count = match socket.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if is_timeout(&error) => continue,
            Err(error) => return Err(error),
        };
        heard_ns = clock::stamp().wall_ns;
        out.clear();
        let ended = conversation.handle(&piece[..count], heard_ns, &mut out);
        socket.write_all(&out)?;
        if ended.is_err() {
            break;
        }
    }
    Ok(())
}
