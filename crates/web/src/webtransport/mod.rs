//! Datagrams with a browser: WebTransport over HTTP/3 (draft-ietf-webtrans-http3), of which only datagrams are used (RFC 9221, RFC 9297).
//!
//! A session is one request, an extended CONNECT (RFC 9220), on a connection of its own. The server shows a certificate that the page
//! names by its hash ([`Server::certificate_hash`]), so it needs none that the browser trusts; the page itself does, since browsers have
//! WebTransport only on pages that came by HTTPS.

mod certificate;
pub(crate) mod congestion;

use crate::guests::{self, Limits};
use crate::http3::server;
use crate::quic::{self, Windows};
use crate::tls;
use bytes::{Buf, Bytes};
use certificate::Fresh;
use h3::ext::Protocol;
use h3::server::{Builder, Connection};
use h3_datagram::datagram_handler::{DatagramReader, DatagramSender, HandleDatagramsExt};
use h3_quinn::datagram::{RecvDatagramHandler, SendDatagramHandler};
use hyper::header::{HeaderValue, ORIGIN};
use hyper::{Method, Request, Response, StatusCode, Uri};
use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;
use units::HttpVersion;

/// What browsers look for in an answer: the version of the draft that the library speaks.
const DRAFT: &str = "sec-webtransport-http3-draft";
const VERSION: HeaderValue = HeaderValue::from_static("draft02");
const MAX_HEADER: u64 = 16 << 10;
/// For a session to be asked for, and for its answer to be taken.
const OPENING: Duration = Duration::from_secs(10);
/// For a client that is refused to go.
const PARTING: Duration = Duration::from_secs(1);
/// There is no data beside datagrams.
const WINDOWS: Windows = Windows {
    of_stream: 64 << 10,
    of_connection: 64 << 10,
    ahead: 16 << 10,
    has_datagrams: true,
};

type Opened = (
    Connection<h3_quinn::Connection, Bytes>,
    Request<()>,
    server::Stream,
);
static NO_BODIES: AtomicU64 = AtomicU64::new(0);

/// A server of sessions.
#[derive(Debug)]
pub struct Server {
    socket: UdpSocket,
    certificate: Arc<Fresh>,
}

/// The hash of the certificate that a server shows now.
#[derive(Clone, Debug)]
pub struct CertificateHash(Arc<Fresh>);

impl CertificateHash {
    /// SHA-256 over the certificate in DER form.
    pub fn get(&self) -> [u8; 32] {
        self.0.hash()
    }
}

/// A session: datagrams both ways until either end goes.
pub struct Session {
    /// The path that was asked for.
    pub path: String,
    reader: DatagramReader<RecvDatagramHandler>,
    /// Sends.
    pub sender: Sender,
}

/// The sending half of a session.
pub struct Sender(DatagramSender<SendDatagramHandler, Bytes>);

impl Server {
    /// Takes sessions of `socket`.
    ///
    /// # Errors
    /// When no certificate can be made.
    pub fn new(socket: UdpSocket) -> io::Result<Self> {
        let certificate = Arc::new(Fresh::new()?);
        Ok(Self {
            socket,
            certificate,
        })
    }

    /// What pages name.
    pub fn certificate_hash(&self) -> CertificateHash {
        CertificateHash(Arc::clone(&self.certificate))
    }

    /// Serves until `stop` is raised, and lets `converse` have each session.
    ///
    /// # Errors
    /// When the socket cannot be used, or the system has no event queue left.
    pub fn run<F>(
        self,
        limits: Limits,
        stop: &AtomicBool,
        converse: impl Fn(Session) -> F + Clone + Send + 'static,
    ) -> io::Result<()>
    where
        F: Future<Output = ()> + Send,
    {
        let mut config =
            tls::server_config_by(self.certificate.clone()).map_err(io::Error::other)?;
        config.alpn_protocols = vec![tls::alpn(HttpVersion::H3)];
        let take = move |connection| {
            let converse = converse.clone();
            async move {
                session(connection, converse).await;
            }
        };
        let serving = quic::serve(self.socket, config, WINDOWS, limits, stop, take);
        guests::runtime()?.block_on(serving)
    }
}

/// Has the session of a connection; `None` when that comes to nothing.
async fn session<F>(connection: quinn::Connection, converse: impl Fn(Session) -> F) -> Option<()>
where
    F: Future<Output = ()>,
{
    let mut builder = h3::server::builder();
    builder
        .max_field_section_size(MAX_HEADER)
        .enable_webtransport(true)
        .enable_extended_connect(true)
        .enable_datagram(true)
        .max_webtransport_sessions(1);
    let below = connection.clone();
    let flooded = || server::flooded(&below, &NO_BODIES);
    let opened = tokio::select! {
        opened = tokio::time::timeout(OPENING, open(connection, builder)) => opened.ok()??,
        // Of what comes nothing is the body of a request.
        () = flooded() => return None,
    };
    let (mut connection, request, mut stream) = opened;
    let status = judge(&request, stream.id().index());
    let mut response = Response::new(());
    *response.status_mut() = status;
    response.headers_mut().insert(DRAFT, VERSION);
    tokio::time::timeout(OPENING, stream.send_response(response))
        .await
        .ok()?
        .ok()?;
    if status != StatusCode::OK {
        stream.finish().await.ok()?;
        // The answer gets there, and the client goes.
        let _ = tokio::time::timeout(PARTING, below.closed()).await;
        return None;
    }
    let session = Session {
        path: request.uri().path().to_owned(),
        reader: connection.get_datagram_reader(),
        sender: Sender(connection.get_datagram_sender(stream.id())),
    };
    tokio::select! {
        () = converse(session) => {}
        () = drained(stream) => {}
        () = flooded() => {}
        // What else is asked for gets no answer.
        () = async { while let Ok(Some(_)) = connection.accept().await {} } => {}
    }
    Some(())
}

/// A connection of HTTP/3, and its first request.
async fn open(connection: quinn::Connection, builder: Builder) -> Option<Opened> {
    let connection = h3_quinn::Connection::new(connection);
    let mut connection = builder.build(connection).await.ok()?;
    let arrived = connection.accept().await.ok()??;
    let (request, stream) = arrived.resolve_request().await.ok()?;
    Some((connection, request, stream))
}

/// Whether this asks for a session, by a page of this server. The library sends datagrams of a connection's first stream only.
fn judge(request: &Request<()>, stream: u64) -> StatusCode {
    let protocol = request.extensions().get::<Protocol>();
    let is_first = stream == 0;
    let is_session = protocol == Some(&Protocol::WEB_TRANSPORT);
    if request.method() != Method::CONNECT || !is_session || !is_first {
        return StatusCode::BAD_REQUEST;
    }
    let origin = request.headers().get(ORIGIN);
    let origin = origin.and_then(|origin| origin.to_str().ok());
    let origin = origin.and_then(|origin| origin.parse::<Uri>().ok());
    let origin = origin.and_then(|origin| place(&origin));
    if origin.is_some_and(|origin| Some(origin) == place(request.uri())) {
        StatusCode::OK
    } else {
        StatusCode::FORBIDDEN
    }
}

/// Host and port.
fn place(uri: &Uri) -> Option<(String, u16)> {
    let usual = if uri.scheme_str() == Some("http") {
        80
    } else {
        443
    };
    let host = uri.host()?.to_ascii_lowercase();
    Some((host, uri.port_u16().unwrap_or(usual)))
}

/// Returns when the other end has closed the session.
async fn drained(mut stream: server::Stream) {
    while let Ok(Some(_)) = stream.recv_data().await {}
}

impl Session {
    /// The next datagram; `None` at the end.
    pub async fn next(&mut self) -> Option<Bytes> {
        let datagram = self.reader.read_datagram().await.ok()?;
        let mut payload = datagram.into_payload();
        Some(payload.copy_to_bytes(payload.remaining()))
    }
}

impl Sender {
    /// Sends a datagram; false when the session is over. One that is too long for the path is lost.
    pub fn send(&mut self, datagram: Bytes) -> bool {
        use h3_datagram::datagram_handler::SendDatagramError as Failed;
        matches!(
            self.0.send_datagram(datagram),
            Ok(()) | Err(Failed::TooLarge { .. })
        )
    }
}

#[cfg(test)]
mod tests;
