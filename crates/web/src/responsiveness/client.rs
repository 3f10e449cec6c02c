//! The near end.

use super::upload::Upload;
use crate::reason::{mistrust, reason};
use crate::trust::{Trust, config};
use bytes::Bytes;
use far_ends::nq::Origin;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper::header::{ACCEPT_ENCODING, CONTENT_TYPE, USER_AGENT};
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ProtocolVersion};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use sys::clock;
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use units::HttpVersion;

/// Octets that a server may send before we have read any: enough for a path of 1 Gbit/s and 100 ms.
const WINDOW: u32 = 16 << 20;
/// Octets that wait in the connection above TCP, and unsent in TCP: what waits there delays requests, and is no path's doing.
const MOST_BUFFERED: usize = 16 << 10;
const MOST_UNSENT: u32 = 16 << 10;
const AGENT: &str = concat!("isobath/", env!("CARGO_PKG_VERSION"));

/// Opens connections with one server.
#[derive(Clone, Debug)]
pub struct Dialer {
    address: SocketAddr,
    origin: Origin,
    config: Arc<ClientConfig>,
}

/// A connection, and how long each step to it took.
#[derive(Debug)]
pub struct Opened {
    /// The connection.
    pub link: Link,
    /// The TCP handshake.
    pub tcp: Duration,
    /// The TLS handshake, per round trip.
    pub tls: Duration,
}

impl Dialer {
    /// Towards the server of `origin` at `address`.
    ///
    /// # Errors
    /// One line, when nobody can be believed.
    pub fn new(address: SocketAddr, origin: Origin, trust: &Trust) -> Result<Self, String> {
        Ok(Self {
            address,
            origin,
            config: config(trust, HttpVersion::H2)?,
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
        let config = Arc::clone(&self.config);
        Self {
            address,
            origin,
            config,
        }
    }

    /// A new connection.
    ///
    /// # Errors
    /// One line.
    pub async fn open(&self) -> Result<Opened, String> {
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
            link: Link {
                sender,
                authority: self.origin.authority(),
            },
            tcp: connected.since(begun),
            tls: agreed.since(connected) / round_trips,
        })
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
        let host = self.origin.host.trim_matches(['[', ']']).to_owned();
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

/// A connection for any number of requests at once.
#[derive(Clone, Debug)]
pub struct Link {
    sender: http2::SendRequest<Upload>,
    authority: String,
}

impl Link {
    /// Asks for a small object, and waits until all of it is there: how long that took.
    ///
    /// # Errors
    /// One line.
    pub async fn ask(&self, path: &str) -> Result<Duration, String> {
        let begun = clock::now();
        self.fetch(path, 1 << 16).await?;
        Ok(clock::now().since(begun))
    }

    /// An object of at most so many octets.
    ///
    /// # Errors
    /// One line.
    pub async fn fetch(&self, path: &str, most: usize) -> Result<Vec<u8>, String> {
        let answer = self.send(Method::GET, path, Upload::default()).await?;
        let mut body = answer.into_body();
        let mut octets = Vec::new();
        while let Some(data) = next(&mut body).await? {
            if octets.len() + data.len() > most {
                return Err(format!("{path} has more than {most} octets"));
            }
            octets.extend(data);
        }
        Ok(octets)
    }

    /// Receives the object without end, and counts its octets. It ends with an error, or when it is dropped.
    ///
    /// # Errors
    /// One line.
    pub async fn download(self, path: String, counter: Arc<AtomicU64>) -> Result<(), String> {
        loop {
            let answer = self.send(Method::GET, &path, Upload::default()).await?;
            let mut body = answer.into_body();
            let mut octets = 0;
            while let Some(data) = next(&mut body).await? {
                octets += data.len();
                counter.fetch_add(data.len() as u64, Ordering::Relaxed);
            }
            // Some servers have an end; one that has none of it has no load.
            if octets < 1 << 20 {
                return Err(format!("{path} ends after {octets} octets"));
            }
        }
    }

    /// Sends an object without end, and counts its octets.
    ///
    /// # Errors
    /// One line.
    pub async fn upload(self, path: String, counter: Arc<AtomicU64>) -> Result<(), String> {
        let counter = Some(counter);
        let answer = self.send(Method::POST, &path, Upload { counter }).await?;
        Err(format!(
            "the server answered {} to an upload without end",
            answer.status()
        ))
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Upload,
    ) -> Result<Response<Incoming>, String> {
        let mut request = Request::builder()
            .method(&method)
            .uri(format!("https://{}{path}", self.authority))
            .header(USER_AGENT, AGENT)
            .header(ACCEPT_ENCODING, "identity");
        if method == Method::POST {
            request = request.header(CONTENT_TYPE, "application/octet-stream");
        }
        let request = request.body(body).map_err(|error| error.to_string())?;
        let answer = self.sender.clone().send_request(request).await;
        let answer = answer.map_err(|error| format!("{path}: {}", reason(&error)))?;
        if answer.status().is_success() {
            Ok(answer)
        } else {
            Err(format!("{path}: the server answered {}", answer.status()))
        }
    }
}

/// The next octets of a body.
async fn next(body: &mut Incoming) -> Result<Option<Bytes>, String> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| reason(&error))?;
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}
