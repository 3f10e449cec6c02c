//! QUIC version 1 (RFC 9000) as HTTP/3 and loads need it: each connection of a client from a port of its own, as with TCP, and a server for
//! strangers.
//!
//! A connection keeps what is written to it until it is acknowledged. How much that may be decides whether a path is loaded, and how
//! long a request waits in this host: here it is the congestion window and a little more ([`keep_short`]), as a limit on what TCP keeps unsent
//! has it.

#[cfg(target_os = "linux")]
mod marked;
#[cfg(not(target_os = "linux"))]
#[path = "unmarked.rs"]
mod marked;
mod marks;

pub(crate) use marked::gate;

use crate::credentials::Credentials;
use crate::guests::{Guests, Limits, TICK};
use crate::reason::reason;
use crate::tls;
use crate::webtransport::congestion::Constant;
use marks::{Kept, Marks};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{
    AsyncUdpSocket, Connection, Endpoint, EndpointConfig, Incoming, Runtime, TokioRuntime,
    TransportConfig, VarInt,
};
use rustls::ClientConfig;
use socket2::SockRef;
use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use units::Dscp;

/// For a handshake of a guest; on a full path one takes seconds.
const HANDSHAKE: Duration = Duration::from_secs(15);
/// Without a packet in either direction, in milliseconds; as with TCP.
const IDLE: VarInt = VarInt::from_u32(60_000);
/// Where so many connections are open, whoever opens another has to show first that it is where it says (RFC 9000 section 8.1.2).
const CROWD: usize = 64;
/// Octets of what has come and was not looked at yet, where the system lets a socket have so many.
const ROOM: usize = 4 << 20;
/// Octets of datagrams that wait at each end.
const DATAGRAMS: usize = 64 << 10;
/// How often it is looked how large the congestion window is, while it changes and at least.
const LOOK: Duration = Duration::from_millis(5);
const SELDOM: Duration = Duration::from_millis(160);
/// For a packet to leave.
const FLUSH: Duration = Duration::from_millis(1);
/// TLS's alerts about certificates, as errors of QUIC.
const MISTRUST: RangeInclusive<u64> = 0x100 + 42..=0x100 + 49;
/// No error (RFC 9114 section 8.1).
pub(crate) const NO_ERROR: VarInt = VarInt::from_u32(0x100);

/// How much the two ends may have under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    /// Octets that the other end may send on a stream before any were read.
    pub(crate) of_stream: u32,
    /// The same of all streams together.
    pub(crate) of_connection: u32,
    /// Octets that are kept beyond the congestion window.
    pub(crate) ahead: usize,
    /// Whether there are datagrams (RFC 9221): an even stream of probes.
    pub(crate) has_datagrams: bool,
}

impl Windows {
    fn transport(self) -> Arc<TransportConfig> {
        let mut transport = TransportConfig::default();
        transport
            .stream_receive_window(VarInt::from_u32(self.of_stream))
            .receive_window(VarInt::from_u32(self.of_connection))
            .send_window(self.ahead as u64)
            .max_concurrent_bidi_streams(VarInt::from_u32(256))
            .max_concurrent_uni_streams(VarInt::from_u32(16))
            .max_idle_timeout(Some(IDLE.into()))
            .datagram_receive_buffer_size(self.has_datagrams.then_some(DATAGRAMS))
            .datagram_send_buffer_size(DATAGRAMS);
        if self.has_datagrams {
            transport.congestion_controller_factory(Arc::new(Constant));
        }
        Arc::new(transport)
    }
}

/// A connection that closes when this is dropped.
#[derive(Debug)]
pub(crate) struct Open(pub(crate) Connection, Option<Kept>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.close(NO_ERROR, b"");
    }
}

/// Closes connections, and lets them say so: what runs them ends with this thread's runtime.
pub(crate) async fn close(connections: Vec<Connection>) {
    if connections.is_empty() {
        return;
    }
    for connection in connections {
        connection.close(NO_ERROR, b"");
    }
    flush().await;
}

/// Lets what was handed to a connection leave, where nothing runs it for a while.
pub(crate) async fn flush() {
    tokio::time::sleep(FLUSH).await;
}

/// A new connection with the server of `host` at `address`, from a port of its own. Its packets have this DSCP where the system lets them.
///
/// # Errors
/// [`Failed`].
pub(crate) async fn connect(
    address: SocketAddr,
    host: &str,
    config: &Arc<ClientConfig>,
    windows: Windows,
    dscp: Dscp,
) -> Result<Open, Failed> {
    let failed = |error: &(dyn Error + 'static)| Failed::Otherwise(reason(error));
    let crypto = QuicClientConfig::try_from(Arc::clone(config)).map_err(|error| failed(&error))?;
    let mut config = quinn::ClientConfig::new(Arc::new(crypto));
    config.transport_config(windows.transport());
    // As the socket says where packets come from.
    let address = SocketAddr::new(address.ip().to_canonical(), address.port());
    let any = match address {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = marked::bind(SocketAddr::new(any, 0), dscp);
    let endpoint = socket.and_then(|socket| endpoint(socket, None));
    let endpoint = endpoint.map_err(|error| failed(&error))?;
    let connecting = endpoint.connect_with(config, address, host);
    let connecting = connecting.map_err(|error| failed(&error))?;
    let connection = connecting.await.map_err(|error| Failed::from(&error))?;
    tokio::spawn(keep_short(connection.clone(), windows));
    Ok(Open(connection, None))
}

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The server's certificate is not believed, for this reason.
    Mistrusted(String),
    /// Anything else.
    Otherwise(String),
}

impl From<&quinn::ConnectionError> for Failed {
    fn from(error: &quinn::ConnectionError) -> Self {
        match error {
            quinn::ConnectionError::TimedOut => Self::Otherwise("nobody answers".to_owned()),
            // The alert of a client that does not believe the server (RFC 8446 section 6, RFC 9001 section 4.8).
            quinn::ConnectionError::TransportError(refused)
                if MISTRUST.contains(&u64::from(refused.code)) =>
            {
                Self::Mistrusted(refused.reason.clone())
            }
            _ => Self::Otherwise(reason(error)),
        }
    }
}

/// Has `connection` keep as much as its congestion window and `windows.ahead` octets more, until it ends.
async fn keep_short(connection: Connection, windows: Windows) {
    let (mut known, mut pause) = (0, LOOK);
    loop {
        let window = connection.stats().path.cwnd;
        // An idle connection, of which a server may have many, costs next to nothing.
        pause = if window == known {
            (pause * 2).min(SELDOM)
        } else {
            LOOK
        };
        known = window;
        connection.set_send_window(window + windows.ahead as u64);
        tokio::select! {
            _ = connection.closed() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

fn endpoint(
    socket: Arc<dyn AsyncUdpSocket>,
    server: Option<quinn::ServerConfig>,
) -> io::Result<Endpoint> {
    let mut config = EndpointConfig::default();
    // Without this transport parameter (RFC 9287) no peer may clear the bit by which packets of QUIC are known on a port that has other
    // datagrams, too.
    config.grease_quic_bit(false);
    Endpoint::new_with_abstract_socket(config, server, socket, Arc::new(TokioRuntime))
}

/// A server that answers each client with the marks with which its handshake came.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) endpoint: Endpoint,
    marks: Arc<Marks>,
    windows: Windows,
}

impl Server {
    /// A server of `protocols`, by their names (RFC 7301), on `socket`.
    ///
    /// # Errors
    /// When the key does not fit the certificate, or the socket cannot be used: on systems other than Linux.
    pub(crate) fn new(
        socket: Arc<sys::udp::UdpSocket>,
        credentials: &Credentials,
        windows: Windows,
        protocols: Vec<Vec<u8>>,
    ) -> io::Result<Self> {
        let mut tls = tls::server_config(credentials).map_err(io::Error::other)?;
        tls.alpn_protocols = protocols;
        let config = config(tls, windows)?;
        let marks = Arc::new(Marks::default());
        let socket = marked::server(socket, Arc::clone(&marks))?;
        Ok(Self {
            endpoint: endpoint(socket, Some(config))?,
            marks,
            windows,
        })
    }

    /// Agrees with a client; `None` when that comes to nothing.
    pub(crate) async fn accept(&self, incoming: Incoming) -> Option<Open> {
        let kept = self.marks.keep(incoming.remote_address());
        let mut open = accept(incoming, self.windows).await?;
        open.1 = Some(kept);
        Some(open)
    }
}

/// Takes connections of `socket` until `stop` is raised, and lets `converse` have each. Those beyond the limits are refused.
///
/// # Errors
/// When the socket cannot be used.
pub(crate) async fn serve<F>(
    socket: std::net::UdpSocket,
    tls: rustls::ServerConfig,
    windows: Windows,
    limits: Limits,
    stop: &AtomicBool,
    converse: impl Fn(Connection) -> F + Clone + Send + 'static,
) -> io::Result<()>
where
    F: Future<Output = ()> + Send,
{
    // What comes while this thread does something else has to wait there.
    let _ = SockRef::from(&socket).set_recv_buffer_size(ROOM);
    let socket = TokioRuntime.wrap_udp_socket(socket)?;
    let endpoint = endpoint(socket, Some(config(tls, windows)?))?;
    let guests = Arc::new(Guests::default());
    // Long before those who are not where they say have all places.
    let crowd = CROWD.min(limits.most / 4);
    while !stop.load(Ordering::Relaxed) {
        let Ok(Some(incoming)) = tokio::time::timeout(TICK, endpoint.accept()).await else {
            continue;
        };
        let is_crowded = endpoint.open_connections() > crowd;
        if is_crowded && incoming.may_retry() && !incoming.remote_address_validated() {
            let _ = incoming.retry();
            continue;
        }
        let Some(guest) = guests.enter(incoming.remote_address().ip(), limits) else {
            incoming.refuse();
            continue;
        };
        let converse = converse.clone();
        tokio::spawn(async move {
            let _guest = guest;
            let Some(open) = accept(incoming, windows).await else {
                return;
            };
            // Why a conversation came to nothing the client knows.
            let _ = tokio::time::timeout(limits.longest, converse(open.0.clone())).await;
        });
    }
    Ok(())
}

/// Agrees with a client; `None` when that comes to nothing.
async fn accept(incoming: Incoming, windows: Windows) -> Option<Open> {
    let connecting = incoming.accept().ok()?;
    let connection = tokio::time::timeout(HANDSHAKE, connecting)
        .await
        .ok()?
        .ok()?;
    tokio::spawn(keep_short(connection.clone(), windows));
    Some(Open(connection, None))
}

fn config(tls: rustls::ServerConfig, windows: Windows) -> io::Result<quinn::ServerConfig> {
    let crypto = QuicServerConfig::try_from(tls).map_err(io::Error::other)?;
    let mut config = quinn::ServerConfig::with_crypto(Arc::new(crypto));
    config
        .transport_config(windows.transport())
        .migration(false)
        .max_incoming(256);
    Ok(config)
}
