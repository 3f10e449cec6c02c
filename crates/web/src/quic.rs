//! QUIC version 1 (RFC 9000) as HTTP/3 needs it: each connection of a client from a port of its own, as with TCP, and a server for
//! strangers.
//!
//! A connection keeps what is written to it until it is acknowledged. How much that may be decides whether a path is loaded, and how
//! long a request waits in this host: here it is the congestion window and a little more ([`keep_short`]), as a limit on what TCP keeps unsent
//! has it.

use crate::credentials::Credentials;
use crate::guests::{Guests, Limits, TICK};
use crate::reason::{reason, untrusted};
use crate::tls;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{Connection, Endpoint, EndpointConfig, TokioRuntime, TransportConfig, VarInt};
use rustls::ClientConfig;
use socket2::SockRef;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use units::HttpVersion;

/// For a handshake of a guest; on a full path one takes seconds.
const HANDSHAKE: Duration = Duration::from_secs(15);
/// Where so many connections are open, whoever opens another has to show first that it is where it says (RFC 9000 section 8.1.2).
const CROWD: usize = 64;
/// Octets of what has come and was not looked at yet, where the system lets a socket have so many.
const ROOM: usize = 4 << 20;
/// How often it is looked how large the congestion window is, while it changes and at least.
const LOOK: Duration = Duration::from_millis(5);
const SELDOM: Duration = Duration::from_millis(160);
/// No error (RFC 9114 section 8.1).
const NO_ERROR: VarInt = VarInt::from_u32(0x100);

/// How much the two ends may have under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    /// Octets that the other end may send before any were read.
    pub(crate) receive: u32,
    /// Octets that are kept beyond the congestion window.
    pub(crate) ahead: usize,
}

impl Windows {
    fn transport(self) -> Arc<TransportConfig> {
        let mut transport = TransportConfig::default();
        let receive = VarInt::from_u32(self.receive);
        transport
            .stream_receive_window(receive)
            .receive_window(receive)
            .send_window(self.ahead as u64)
            .max_concurrent_bidi_streams(VarInt::from_u32(256))
            .max_concurrent_uni_streams(VarInt::from_u32(16))
            .datagram_receive_buffer_size(None);
        Arc::new(transport)
    }
}

/// A connection that closes when this is dropped.
#[derive(Debug)]
pub(crate) struct Open(pub(crate) Connection);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.close(NO_ERROR, b"");
    }
}

/// A new connection with the server of `host` at `address`.
///
/// # Errors
/// One line.
pub(crate) async fn connect(
    address: SocketAddr,
    host: &str,
    config: &Arc<ClientConfig>,
    windows: Windows,
) -> Result<Open, String> {
    let failed = |why: String| format!("QUIC with {host} at {address} failed: {why}");
    let crypto = QuicClientConfig::try_from(Arc::clone(config));
    let crypto = crypto.map_err(|error| failed(error.to_string()))?;
    let mut config = quinn::ClientConfig::new(Arc::new(crypto));
    config.transport_config(windows.transport());
    let any = match address {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind(SocketAddr::new(any, 0));
    let endpoint = socket.and_then(|socket| endpoint(socket, None));
    let endpoint = endpoint.map_err(|error| failed(reason(&error)))?;
    let connecting = endpoint.connect_with(config, address, host);
    let connecting = connecting.map_err(|error| failed(reason(&error)))?;
    let connection = connecting.await.map_err(|error| failed(why(&error)))?;
    tokio::spawn(keep_short(connection.clone(), windows));
    Ok(Open(connection))
}

/// Why a handshake came to nothing.
fn why(error: &quinn::ConnectionError) -> String {
    match error {
        quinn::ConnectionError::TimedOut => "nobody answers".to_owned(),
        quinn::ConnectionError::TransportError(refused) => {
            // The alert of a client that does not believe the server (RFC 8446 section 6, RFC 9001 section 4.8).
            let code = u64::from(refused.code);
            let is_mistrust = (0x100 + 42..=0x100 + 48).contains(&code);
            if is_mistrust {
                untrusted(&refused.reason)
            } else {
                reason(error)
            }
        }
        _ => reason(error),
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

fn endpoint(socket: UdpSocket, server: Option<quinn::ServerConfig>) -> io::Result<Endpoint> {
    // What comes while this thread does something else has to wait there.
    let _ = SockRef::from(&socket).set_recv_buffer_size(ROOM);
    let runtime = Arc::new(TokioRuntime);
    Endpoint::new(EndpointConfig::default(), server, socket, runtime)
}

/// Takes connections of `socket` until `stop` is raised, and lets `converse` have each. Those beyond the limits are refused.
///
/// # Errors
/// When the key does not fit the certificate, or the socket cannot be used.
pub(crate) async fn serve<F>(
    socket: UdpSocket,
    credentials: &Credentials,
    windows: Windows,
    limits: Limits,
    stop: &AtomicBool,
    converse: impl Fn(Connection) -> F + Copy + Send + 'static,
) -> io::Result<()>
where
    F: Future<Output = ()> + Send,
{
    let endpoint = endpoint(socket, Some(config(credentials, windows)?))?;
    let guests = Arc::new(Guests::default());
    while !stop.load(Ordering::Relaxed) {
        let Ok(Some(incoming)) = tokio::time::timeout(TICK, endpoint.accept()).await else {
            continue;
        };
        let is_crowded = endpoint.open_connections() > CROWD;
        if is_crowded && incoming.may_retry() && !incoming.remote_address_validated() {
            let _ = incoming.retry();
            continue;
        }
        let Some(guest) = guests.enter(incoming.remote_address().ip(), limits) else {
            incoming.refuse();
            continue;
        };
        tokio::spawn(async move {
            let _guest = guest;
            let Ok(connecting) = incoming.accept() else {
                return;
            };
            let Ok(Ok(connection)) = tokio::time::timeout(HANDSHAKE, connecting).await else {
                return;
            };
            let open = Open(connection.clone());
            tokio::spawn(keep_short(connection.clone(), windows));
            // Why a conversation came to nothing the client knows.
            let _ = tokio::time::timeout(limits.longest, converse(connection)).await;
            drop(open);
        });
    }
    Ok(())
}

fn config(credentials: &Credentials, windows: Windows) -> io::Result<quinn::ServerConfig> {
    let mut config = tls::server_config(credentials).map_err(io::Error::other)?;
    config.alpn_protocols = vec![tls::alpn(HttpVersion::H3)];
    let crypto = QuicServerConfig::try_from(config).map_err(io::Error::other)?;
    let mut config = quinn::ServerConfig::with_crypto(Arc::new(crypto));
    config
        .transport_config(windows.transport())
        .migration(false)
        .max_incoming(256);
    Ok(config)
}
