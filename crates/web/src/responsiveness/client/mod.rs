//! The near end.

mod link;

pub use link::Link;

use crate::http3::client as http3;
use crate::quic::{Failed, Windows};
use crate::reason::{mistrust, reason, untrusted};
use crate::trust::{Trust, config};
use far_ends::nq::Origin;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use link::Connection;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ProtocolVersion};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use sys::clock;
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use units::{Dscp, HttpVersion};

/// Octets that a server may send before we have read any: enough for a path of 1 Gbit/s and 100 ms.
const WINDOW: u32 = 16 << 20;
/// Octets that wait in the connection above TCP, and unsent in TCP: what waits there delays requests, and is no path's doing.
const MOST_BUFFERED: usize = 16 << 10;
const MOST_UNSENT: u32 = 16 << 10;
const WINDOWS: Windows = Windows {
    of_stream: WINDOW,
    of_connection: WINDOW,
    ahead: MOST_BUFFERED,
    has_datagrams: false,
};

/// Opens connections with one server.
#[derive(Clone, Debug)]
pub struct Dialer {
    address: SocketAddr,
    origin: Origin,
    http: HttpVersion,
    config: Arc<ClientConfig>,
}

/// A connection, and how long each step to it took.
pub struct Opened {
    /// The connection.
    pub link: Link,
    /// The TCP handshake; none of HTTP/3.
    pub tcp: Option<Duration>,
    /// The TLS handshake, per round trip; of HTTP/3 QUIC's, which has TLS's in it.
    pub tls: Duration,
}

impl Dialer {
    /// Towards the server of `origin` at `address`, by HTTP/2 or HTTP/3.
    ///
    /// # Errors
    /// One line, when nobody can be believed.
    pub fn new(
        address: SocketAddr,
        origin: Origin,
        trust: &Trust,
        http: HttpVersion,
    ) -> Result<Self, String> {
        Ok(Self {
            address,
            origin,
            http,
            config: config(trust, http)?,
        })
    }

    /// Towards a server of `origin` that speaks something else than HTTP over TLS.
    ///
    /// # Errors
    /// As [`Dialer::new`].
    pub fn without_http(
        address: SocketAddr,
        origin: Origin,
        trust: &Trust,
    ) -> Result<Self, String> {
        let mut config = ClientConfig::clone(&*config(trust, HttpVersion::H2)?);
        config.alpn_protocols.clear();
        Ok(Self {
            address,
            origin,
            http: HttpVersion::H2,
            config: Arc::new(config),
        })
    }

    /// Where the server is.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same for what has another origin at another address.
    #[must_use]
    pub fn towards(&self, address: SocketAddr, origin: Origin) -> Self {
        Self {
            address,
            origin,
            http: self.http,
            config: Arc::clone(&self.config),
        }
    }

    /// A new connection.
    ///
    /// # Errors
    /// One line.
    pub async fn open(&self) -> Result<Opened, String> {
        if self.http == HttpVersion::H3 {
            self.open_by_quic().await
        } else {
            self.open_by_tcp().await
        }
    }

    async fn open_by_quic(&self) -> Result<Opened, String> {
        let begun = clock::now();
        let (address, host) = (self.address, self.host());
        let sender = http3::open(address, host, &self.config, WINDOWS, Dscp::CS0).await;
        let sender = sender.map_err(|failed| {
            let why = match failed {
                Failed::Mistrusted(why) => untrusted(&why),
                Failed::Otherwise(why) => why,
            };
            format!("QUIC with {host} at {address} failed: {why}")
        })?;
        Ok(Opened {
            link: self.link(Connection::H3(sender)),
            tcp: None,
            tls: clock::now().since(begun),
        })
    }

    async fn open_by_tcp(&self) -> Result<Opened, String> {
        let begun = clock::now();
        let stream = self.connect().await?;
        let connected = clock::now();
        let stream = self.agree(stream).await?;
        let agreed = clock::now();
        if stream.get_ref().1.alpn_protocol() != Some(b"h2") {
            let Self {
                address, origin, ..
            } = self;
            return Err(format!(
                "{} at {address} does not speak HTTP/2",
                origin.host
            ));
        }
        // TLS 1.3 takes one round trip, and before it took two.
        let is_new = stream.get_ref().1.protocol_version() == Some(ProtocolVersion::TLSv1_3);
        let round_trips = if is_new { 1 } else { 2 };
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .max_send_buf_size(MOST_BUFFERED);
        let (sender, connection) = builder
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| format!("HTTP/2 with {} failed: {}", self.address, reason(&error)))?;
        tokio::spawn(connection);
        Ok(Opened {
            link: self.link(Connection::H2(sender)),
            tcp: Some(connected.since(begun)),
            tls: agreed.since(connected) / round_trips,
        })
    }

    fn link(&self, connection: Connection) -> Link {
        Link {
            connection,
            authority: self.origin.authority(),
        }
    }

    /// As a certificate has it.
    fn host(&self) -> &str {
        self.origin.host.trim_matches(['[', ']'])
    }

    /// A new connection for whatever is spoken over TLS.
    ///
    /// # Errors
    /// One line.
    pub(crate) async fn secure(&self) -> Result<TlsStream<TcpStream>, String> {
        self.agree(self.connect().await?).await
    }

    async fn connect(&self) -> Result<TcpStream, String> {
        let connected = async {
            let socket = match self.address {
                SocketAddr::V4(_) => TcpSocket::new_v4(),
                SocketAddr::V6(_) => TcpSocket::new_v6(),
            }?;
            socket.set_nodelay(true)?;
            // What waits unsent in the kernel would delay requests behind it. Where that has no limit, no load goes up.
            let _ = sys::tcp::set_unsent_limit(&socket, MOST_UNSENT);
            socket.connect(self.address).await
        };
        let connected: std::io::Result<_> = connected.await;
        connected.map_err(|error| format!("cannot connect to {}: {}", self.address, reason(&error)))
    }

    async fn agree(&self, stream: TcpStream) -> Result<TlsStream<TcpStream>, String> {
        let host = self.host().to_owned();
        let name = ServerName::try_from(host.clone())
            .map_err(|_| format!("'{host}' is no name of a host"))?;
        let connector = TlsConnector::from(Arc::clone(&self.config));
        let agreed = connector.connect(name, stream).await;
        agreed.map_err(|error| {
            let why = mistrust(&error).unwrap_or_else(|| reason(&error));
            format!("TLS with {host} at {} failed: {why}", self.address)
        })
    }
}
