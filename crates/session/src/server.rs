//! The far end: one port, and what a connection to it goes through.
//!
//! 1. The accept loop takes it. Where too many are pending already, all told or from its source, another one is closed
//!    for it ([`gate`](crate::gate)).
//! 2. A thread of its own looks at the first octet: TLS, a data stream, or nothing of ours.
//! 3. A data stream shows its preamble and goes to its session; the thread ends.
//! 4. A control connection does its handshake and says hello; both by the one deadline that began at
//!    step 1, however slowly the octets come.
//! 5. A TLS connection whose first message asks for a web page of a session goes, still unread, to whoever
//!    serves those ([`Service::web`]); the thread ends.
//! 6. Whoever is welcome gets a session, stops being pending, and is served by the same thread.
//!
//! Whatever goes wrong on the way ends in closing the connection; a stranger who completes TLS learns the program's
//! version and that a key is needed, and no more.

use crate::admit::{Shared, receive};
use crate::control::Control;
use crate::gate::Gate;
use crate::hello::Refusal;
use crate::key::Secret;
use crate::limits::{Admission, Limits};
use crate::registry::{Session, Sessions, Slot};
use crate::{Error, Identity, tls};
use serde_json::Value;
use socket2::{Domain, Protocol, Socket, Type};
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

/// How often the accept loop looks whether it is to stop and which sessions' time is up.
const TICK: Duration = Duration::from_millis(100);
/// How long `run` waits for its threads when it is told to stop.
const GRACE: Duration = Duration::from_secs(5);
/// Connections that the kernel keeps until they are accepted.
const BACKLOG: i32 = 512;
/// How long the accept loop rests when the system has no more descriptors or memory.
const REST: Duration = Duration::from_millis(50);

/// How to be the far end.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// The address to listen on; `None` for all, IPv6 and IPv4.
    pub address: Option<IpAddr>,
    /// The port; 0 lets the system choose.
    pub port: u16,
    /// Who the server is.
    pub identity: Identity,
    /// What a client must know: one of these. Which one it was is told ([`Session::proven`]), so that clients with a key
    /// each are told apart.
    pub secrets: Vec<Secret>,
    /// What one session may do.
    pub limits: Limits,
    /// How many are let in.
    pub admission: Admission,
    /// Whether strangers without a key are let in.
    pub open: bool,
}

impl ServerConfig {
    /// On `port`, for whoever has the key of `identity`.
    pub fn keyed(identity: Identity, port: u16) -> Self {
        Self {
            secrets: vec![identity.secret()],
            address: None,
            port,
            identity,
            limits: Limits::KEYED,
            admission: Admission::KEYED,
            open: false,
        }
    }

    /// On `port`, for everybody, with tighter limits.
    pub fn open(identity: Identity, port: u16) -> Self {
        Self {
            limits: Limits::OPEN,
            admission: Admission::OPEN,
            open: true,
            ..Self::keyed(identity, port)
        }
    }
}

/// What happens at a server before there is a session.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A client was refused.
    Refused {
        /// Where it comes from.
        peer: SocketAddr,
        /// What it was told.
        refusal: &'a Refusal,
    },
    /// Too many connections were pending, and one was closed for a new one.
    Full {
        /// Whose it was: an IPv4 address, or the first of an IPv6 /64.
        source: IpAddr,
    },
    /// The system had no descriptor, thread or memory for a connection.
    Lack {
        /// Its reason.
        error: &'a io::Error,
    },
}

/// What a server does for its clients.
pub trait Service: Send + Sync + 'static {
    /// Serves one client; the session ends when this returns. Runs in a thread of its own.
    fn serve(&self, control: Control, session: Arc<Session>);

    /// Takes a connection on which a web page of `session` is asked for: TLS, of which nothing has
    /// been read, with the name `HOST.TOKEN.isobath.test` (the session's number in 16 hexadecimal digits) and ALPN
    /// `h2` or `http/1.1`. The socket blocks. Keep `slot` as long as the connection, and return soon; without
    /// this method such connections are closed.
    fn web(&self, socket: TcpStream, session: Arc<Session>, slot: Slot) {
        drop((socket, session, slot));
    }

    /// Is told what happens; called by the accept loop among others, so it returns at once.
    fn note(&self, event: &Event<'_>) {
        let _ = event;
    }

    /// What clients are told of this host when they are welcomed: a JSON object.
    fn host_facts(&self) -> Value;
}

/// The far end, listening.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    local: SocketAddr,
    shared: Arc<Shared>,
}

impl Server {
    /// Listens as `config` says. Without an address that is all of this host's, by both protocols
    /// where there is IPv6.
    ///
    /// # Errors
    /// [`Error::Bind`] when the port is taken or may not be used; [`Error::Tls`] for an identity
    /// that TLS does not take.
    pub fn bind(config: ServerConfig) -> Result<Self, Error> {
        let tls = tls::server_config(&config.identity)?;
        let (listener, local) = match config.address {
            Some(address) => listen(SocketAddr::new(address, config.port)),
            None => listen_everywhere(config.port),
        }?;
        let shared = Arc::new(Shared {
            tls,
            gate: Gate::new(
                config.admission.pending,
                config.admission.pending_per_source,
            ),
            sessions: Sessions::default(),
            config,
        });
        Ok(Self {
            listener,
            local,
            shared,
        })
    }

    /// What is listened on; the UDP socket belongs on the same address and port.
    pub const fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// The register of sessions, for whoever has the UDP socket.
    pub fn sessions(&self) -> Sessions {
        self.shared.sessions.clone()
    }

    /// Connections that have not yet shown what they are.
    pub fn pending(&self) -> usize {
        self.shared.gate.pending()
    }

    /// Serves until `stop` is set; then ends all sessions, and returns when their threads are done,
    /// or after 5 seconds.
    pub fn run(&self, service: &Arc<impl Service>, stop: &AtomicBool) {
        // Every thread holds a sender; the channel closes when the last of them ends.
        let (alive, ended) = mpsc::channel();
        self.shared.sessions.start();
        while !stop.load(Ordering::Relaxed) {
            match self.listener.accept() {
                Ok((socket, peer)) => self.take(socket, peer, service, &alive),
                Err(error) if is_quiet(&error) => {}
                Err(error) => {
                    service.note(&Event::Lack { error: &error });
                    thread::park_timeout(REST);
                }
            }
            self.shared.sessions.expire(sys::clock::now());
        }
        self.shared.sessions.stop();
        drop(alive);
        // Nothing is ever sent: this waits for the channel to close, or for the grace to pass.
        let _ = ended.recv_timeout(GRACE);
    }

    /// Gives a new connection a thread.
    fn take(
        &self,
        socket: TcpStream,
        peer: SocketAddr,
        service: &Arc<impl Service>,
        alive: &Sender<Infallible>,
    ) {
        let socket = Arc::new(socket);
        let is_known = self.shared.sessions.has_source(&peer);
        let (pending, closed) = self.shared.gate.enter(&peer, is_known, &socket);
        if let Some(source) = closed {
            service.note(&Event::Full { source });
        }
        let (shared, alive) = (Arc::clone(&self.shared), alive.clone());
        let its_service = Arc::clone(service);
        let work = move || {
            receive(&shared, socket, peer, pending, &*its_service);
            drop(alive);
        };
        let thread = thread::Builder::new().name("session".to_owned());
        // Without a thread the closure is dropped, and the connection with it.
        if let Err(error) = sys::threads::spawn(thread, work) {
            service.note(&Event::Lack { error: &error });
        }
    }
}

/// Nobody came within the tick, or whoever came has left again.
fn is_quiet(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock
            | io::ErrorKind::TimedOut
            | io::ErrorKind::Interrupted
            | io::ErrorKind::ConnectionAborted
    )
}

/// All addresses by IPv6 and IPv4; IPv4 alone on a host without IPv6.
fn listen_everywhere(port: u16) -> Result<(TcpListener, SocketAddr), Error> {
    match listen(SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), port)) {
        Err(Error::Bind { source, .. }) if is_without_v6(&source) => {
            listen(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), port))
        }
        done => done,
    }
}

/// Anything but a port that is taken or not allowed, which IPv4 would only run into again.
fn is_without_v6(error: &io::Error) -> bool {
    !matches!(
        error.kind(),
        io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied
    )
}

/// A listening socket whose `accept` returns at least once a tick (socket(7): `SO_RCVTIMEO` also
/// holds for accept), and where it really listens.
fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Error> {
    let open = || {
        let socket = Socket::new(
            Domain::for_address(address),
            Type::STREAM,
            Some(Protocol::TCP),
        )?;
        if address.is_ipv6() {
            socket.set_only_v6(!address.ip().is_unspecified())?;
        }
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        sys::tcp::adopt_congestion(&socket).map_err(io::Error::other)?;
        socket.set_read_timeout(Some(TICK))?;
        socket.listen(BACKLOG)?;
        let listener = TcpListener::from(socket);
        let local = listener.local_addr()?;
        Ok((listener, local))
    };
    open().map_err(|source| Error::Bind { address, source })
}
