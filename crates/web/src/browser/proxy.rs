//! Between the browser and the path: a SOCKS 5 proxy of our own on loopback.
//!
//! The pages' hosts exist for one resolver only, the page server's own, and Chromium has no switch that
//! names a resolver. It does leave names to a SOCKS 5 proxy. So this proxy looks each name up at that
//! resolver, connects to the one peer that serves all hosts, and passes octets both ways without
//! looking at them. What Chromium takes for the time to connect then holds the real look-up and the
//! real TCP handshake over the path; TLS and HTTP go end to end between Chromium and the peer. The
//! proxy adds a copy of each octet within this host, some tens of microseconds.
//!
//! It listens on 127.0.0.1 only and connects nowhere but to that peer, whatever it is asked for: who
//! finds its port can do no more than load the same pages.

use super::lookup::look_up;
use super::socks::{self, Parsed, Refused, Reply};
use super::{Error, Proxied};
use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use sys::clock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional_with_sizes};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OnceCell, oneshot};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use units::Instant;

/// Connections of one load; a browser has some 300 at once and makes some again.
const MAX_CONNECTIONS: usize = 2048;
/// Names of one load, far more than hosts of a page.
const MAX_NAMES: usize = 512;
/// How long a client may take to say what it wants, and a peer to answer a SYN.
const PATIENCE: Duration = Duration::from_secs(30);
/// Octets on their way through a connection: upwards are requests, downwards are answers.
const BUFFERS: (usize, usize) = (8 << 10, 64 << 10);

/// A running proxy; it ends with this value.
#[derive(Debug)]
pub(super) struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// A connection that the proxy has made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Seen {
    /// To which host.
    pub(super) host: String,
    /// When the browser had connected to the proxy.
    pub(super) accepted: Instant,
    /// How long it waited for the name to be looked up; none if that had been done before.
    pub(super) dns: Option<Duration>,
}

/// What the proxy saw in one load.
#[derive(Debug, Default)]
pub(super) struct Sightings {
    /// The connections, in the order in which they were made.
    pub(super) connections: Vec<Seen>,
    /// What went wrong first, in one line.
    pub(super) failure: Option<String>,
}

#[derive(Debug)]
struct Shared {
    site: Proxied,
    load: Mutex<Load>,
}

/// What belongs to the load at hand.
#[derive(Debug, Default)]
struct Load {
    names: HashMap<String, Name>,
    sightings: Sightings,
    relays: Vec<AbortHandle>,
}

/// A name that is being looked up, or has been. All who ask for it wait for the same answer.
type Name = Arc<OnceCell<Result<(), String>>>;

impl Proxy {
    /// Starts one, in the network namespace of the calling thread.
    pub(super) fn start(site: Proxied) -> Result<Self, Error> {
        let failed = || Error::start("run a proxy on loopback");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed())?;
        let bind = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let listener = runtime.block_on(bind).map_err(failed())?;
        let port = listener.local_addr().map_err(failed())?.port();
        let (stop, stopped) = oneshot::channel();
        let load = Mutex::default();
        let shared = Arc::new(Shared { site, load });
        let serve = serve(listener, Arc::clone(&shared), stopped);
        let thread = thread::Builder::new()
            .name("proxy".to_owned())
            .spawn(move || runtime.block_on(serve))
            .map_err(failed())?;
        Ok(Self {
            port,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Where it listens, on 127.0.0.1.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Forgets names, ends connections and hands out what has been seen since the last time.
    pub(super) fn reset(&self) -> Sightings {
        let load = std::mem::take(&mut *self.shared.load());
        for relay in load.relays {
            relay.abort();
        }
        load.sightings
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn load(&self) -> MutexGuard<'_, Load> {
        self.load.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name's place in the load at hand; none when there are too many names.
    fn name(&self, host: &str) -> Option<Name> {
        let mut load = self.load();
        let is_full = load.names.len() >= MAX_NAMES && !load.names.contains_key(host);
        (!is_full).then(|| Arc::clone(load.names.entry(host.to_owned()).or_default()))
    }

    fn failed(&self, failure: String) {
        self.load().sightings.failure.get_or_insert(failure);
    }

    /// Looks `host` up, once in a load, and says how long that took; none if it had been done before.
    async fn resolve(&self, host: &str) -> Result<Option<Duration>, String> {
        let name = self.name(host).ok_or("too many names in one page")?;
        let began = (!name.initialized()).then(clock::now);
        let site = &self.site;
        let answer = name.get_or_init(|| look_up(site, host)).await;
        answer.clone()?;
        Ok(began.map(|began| clock::now().since(began)))
    }

    async fn connect(&self) -> io::Result<TcpStream> {
        let peer = self.site.peer;
        let socket = if peer.is_ipv6() {
            TcpSocket::new_v6()
        } else {
            TcpSocket::new_v4()
        }?;
        socket.set_nodelay(true)?;
        sys::tcp::adopt_congestion(&socket).map_err(io::Error::other)?;
        if let Some(class) = self.site.class {
            sys::tcp::set_traffic_class(&socket, class).map_err(io::Error::other)?;
        }
        let late = io::Error::from(io::ErrorKind::TimedOut);
        timeout(PATIENCE, socket.connect(peer))
            .await
            .unwrap_or(Err(late))
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>, stopped: oneshot::Receiver<()>) {
    let accept = async {
        loop {
            if let Ok((stream, _)) = listener.accept().await {
                admit(stream, &shared);
            } else {
                // No descriptors left: some come back when connections end.
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    };
    tokio::select! {
        () = accept => {}
        _ = stopped => {}
    }
}

fn admit(stream: TcpStream, shared: &Arc<Shared>) {
    let mut load = shared.load();
    if load.relays.len() < MAX_CONNECTIONS {
        let client = client(stream, clock::now(), Arc::clone(shared));
        load.relays.push(tokio::spawn(client).abort_handle());
    }
}

/// One connection from its first octet to its last.
async fn client(mut stream: TcpStream, accepted: Instant, shared: Arc<Shared>) {
    let Ok(Some(host)) = timeout(PATIENCE, negotiate(&mut stream)).await else {
        return;
    };
    match reach(&host, accepted, &shared).await {
        Ok(mut peer) => {
            if stream.write_all(&Reply::Succeeded.octets()).await.is_ok() {
                let (up, down) = BUFFERS;
                let _ = copy_bidirectional_with_sizes(&mut stream, &mut peer, up, down).await;
            }
        }
        Err(failure) => {
            shared.failed(failure);
            let _ = stream.write_all(&Reply::HostUnreachable.octets()).await;
        }
    }
}

/// Looks up and connects; writes down how long the look-up took.
async fn reach(host: &str, accepted: Instant, shared: &Shared) -> Result<TcpStream, String> {
    let dns = shared.resolve(host).await?;
    let connected = shared.connect().await;
    let stream =
        connected.map_err(|e| format!("connect to {host} at {}: {e}", shared.site.peer))?;
    let host = host.to_owned();
    let seen = Seen {
        host,
        accepted,
        dns,
    };
    shared.load().sightings.connections.push(seen);
    Ok(stream)
}

/// Asks the client where it wants to be connected to.
async fn negotiate(stream: &mut TcpStream) -> Option<String> {
    stream.set_nodelay(true).ok()?;
    let is_free = read(stream, socks::greeting).await?.ok()?;
    let welcome = if is_free {
        socks::WELCOME
    } else {
        socks::UNWELCOME
    };
    stream.write_all(&welcome).await.ok()?;
    match read(stream, socks::request).await? {
        Ok(request) => Some(request.host).filter(|_| is_free),
        Err(refused) => {
            let _ = stream.write_all(&refused.reply().octets()).await;
            None
        }
    }
}

/// Reads one message, which is all that a client may send before it has an answer.
async fn read<T>(
    stream: &mut TcpStream,
    parse: impl Fn(&[u8]) -> Result<Parsed<T>, Refused>,
) -> Option<Result<T, Refused>> {
    let mut message = [0; socks::MAX_MESSAGE];
    let mut filled = 0;
    while filled < message.len() {
        let length = stream.read(&mut message[filled..]).await.ok()?;
        filled += length;
        match parse(&message[..filled]) {
            Ok(Some((found, length))) if length == filled => return Some(Ok(found)),
            Ok(None) if length > 0 => {}
            Ok(_) => return None,
            Err(refused) => return Some(Err(refused)),
        }
    }
    None
}
