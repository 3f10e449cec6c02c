//! The far end, for any client of the draft: `/.well-known/nq`, one octet, octets without end, and a place for uploads. By HTTP/2 on a TCP
//! port, and by HTTP/3 on the UDP port of the same number.

mod http3;

use crate::content::{Content, Segment};
use crate::credentials::{Acceptor, Credentials};
use crate::guests::{self, Limits};
use crate::quic;
use crate::tls;
use bytes::Bytes;
use far_ends::nq::{Configuration, Origin, WELL_KNOWN};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{ALT_SVC, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::net::TcpStream;
use units::HttpVersion;

/// The usual port: that of Apple's and of network-quality's servers.
pub const PORT: u16 = 4_043;
/// Octets of the object without end: the draft's least.
const LARGE: u64 = 8_000_000_000;
/// A client has 16 connections that load, and one for each probe under way; no test takes longer.
const LIMITS: Limits = Limits {
    most: 512,
    most_from_one: 128,
    longest: Duration::from_secs(600),
};
/// Octets that wait above TCP, and unsent in TCP.
const MOST_BUFFERED: usize = 16 << 10;
const MOST_UNSENT: u32 = 16 << 10;
const MAX_HEADER: u32 = 16 << 10;
/// Octets that a client may send before any were read.
const RECEIVE: u32 = 1 << 20;

/// A server at work.
pub struct Server {
    listener: TcpListener,
    acceptor: Acceptor,
    socket: UdpSocket,
    credentials: Credentials,
}

impl Server {
    /// Takes connections of `listener` and, by QUIC, of `socket`, with these credentials.
    ///
    /// # Errors
    /// When the key does not fit the certificate.
    pub fn new(
        listener: TcpListener,
        socket: UdpSocket,
        credentials: &Credentials,
    ) -> io::Result<Self> {
        Ok(Self {
            listener,
            acceptor: Acceptor::new(credentials, HttpVersion::H2)?,
            socket,
            credentials: credentials.clone(),
        })
    }

    /// Where it listens.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    /// Serves until `stop` is raised.
    ///
    /// # Errors
    /// When the system has no event queue left.
    pub fn run(self, stop: &AtomicBool) -> io::Result<()> {
        std::thread::scope(|scope| {
            let quic = scope.spawn(|| {
                let mut config = tls::server_config(&self.credentials).map_err(io::Error::other)?;
                config.alpn_protocols = vec![tls::alpn(HttpVersion::H3)];
                let (windows, converse) = (http3::WINDOWS, http3::converse);
                guests::runtime()?.block_on(quic::serve(
                    self.socket,
                    config,
                    windows,
                    LIMITS,
                    stop,
                    converse,
                ))
            });
            // Where else the same is to be had (RFC 7838).
            let port = self
                .listener
                .local_addr()
                .map_or(0, |address| address.port());
            let elsewhere = HeaderValue::from_str(&format!("h3=\":{port}\""));
            let elsewhere = elsewhere.map_err(io::Error::other)?;
            let acceptor = self.acceptor;
            guests::serve(self.listener, LIMITS, stop, |stream, guest| {
                let (acceptor, elsewhere) = (acceptor.clone(), elsewhere.clone());
                async move {
                    let _guest = guest;
                    // Whoever goes away early needs no answer.
                    let _ = converse(stream, acceptor, elsewhere).await;
                }
            })?;
            quic.join()
                .unwrap_or_else(|_| Err(io::Error::other("the thread of QUIC broke")))
        })
    }
}

async fn converse(stream: TcpStream, acceptor: Acceptor, elsewhere: HeaderValue) -> io::Result<()> {
    let _ = stream.set_nodelay(true);
    let _ = sys::tcp::set_unsent_limit(&stream, MOST_UNSENT);
    let stream = acceptor.accept(stream).await?;
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(256)
        .initial_stream_window_size(RECEIVE)
        .initial_connection_window_size(RECEIVE)
        .max_send_buf_size(MOST_BUFFERED)
        .max_header_list_size(MAX_HEADER);
    let answer = service_fn(|request| {
        let elsewhere = elsewhere.clone();
        async move {
            let mut response = respond(request).await;
            response.headers_mut().insert(ALT_SVC, elsewhere);
            Ok::<_, Infallible>(response)
        }
    });
    builder
        .serve_connection(stream, answer)
        .await
        .map_err(io::Error::other)
}

/// Answers one request of HTTP/2.
async fn respond(request: Request<Incoming>) -> Response<Content> {
    let (request, mut body) = request.into_parts();
    if is_upload(&request) {
        while let Some(Ok(_)) = body.frame().await {}
        return nothing();
    }
    answer(&request)
}

/// Whether a request brings octets, all of which are to be read.
fn is_upload(request: &Parts) -> bool {
    request.method == Method::POST && request.uri.path() == "/upload"
}

/// What is answered to a request that brings none.
fn answer(request: &Parts) -> Response<Content> {
    match (&request.method, request.uri.path()) {
        (&Method::GET, WELL_KNOWN | "/config") => configuration(request),
        (&Method::GET, "/small") => octets(vec![Segment::Filler(1)]),
        (&Method::GET, "/large") => octets(vec![Segment::Filler(LARGE)]),
        _ => refusal(StatusCode::NOT_FOUND),
    }
}

/// Where everything is, by the name by which the client knows this server.
fn configuration(request: &Parts) -> Response<Content> {
    let named = request.uri.authority().cloned();
    let header = || request.headers.get(HOST)?.to_str().ok()?.parse().ok();
    let authority: Option<Authority> = named.or_else(header);
    let Some(authority) = authority else {
        return refusal(StatusCode::BAD_REQUEST);
    };
    let configuration = Configuration {
        origin: Origin {
            is_tls: true,
            host: authority.host().to_owned(),
            port: authority.port_u16().unwrap_or(443),
        },
        small: "/small".to_owned(),
        large: "/large".to_owned(),
        upload: "/upload".to_owned(),
        endpoint: None,
    };
    let mut response = octets(vec![Segment::Text(Bytes::from(configuration.write()))]);
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

fn refusal(status: StatusCode) -> Response<Content> {
    let mut response = nothing();
    *response.status_mut() = status;
    response
}

fn nothing() -> Response<Content> {
    octets(Vec::new())
}

fn octets(segments: Vec<Segment>) -> Response<Content> {
    let mut response = Response::new(Content::new(segments));
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static("application/octet-stream");
    headers.insert(CONTENT_TYPE, kind);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
