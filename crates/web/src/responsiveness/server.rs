//! The far end, for any client of the draft: `/.well-known/nq`, one octet, octets without end, and a place for uploads.

use crate::content::{Content, Segment};
use crate::credentials::{Acceptor, Credentials};
use crate::guests::{self, Limits};
use bytes::Bytes;
use far_ends::nq::{Configuration, Origin, WELL_KNOWN};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue};
use hyper::http::uri::Authority;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
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

/// A server at work.
pub struct Server {
    listener: TcpListener,
    acceptor: Acceptor,
}

impl Server {
    /// Takes connections of `listener`, with these credentials.
    ///
    /// # Errors
    /// When the key does not fit the certificate.
    pub fn new(listener: TcpListener, credentials: &Credentials) -> io::Result<Self> {
        Ok(Self {
            listener,
            acceptor: Acceptor::new(credentials, HttpVersion::H2)?,
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
        let Self { listener, acceptor } = self;
        guests::serve(listener, LIMITS, stop, |stream, guest| {
            let acceptor = acceptor.clone();
            async move {
                let _guest = guest;
                // Whoever goes away early needs no answer.
                let _ = converse(stream, acceptor).await;
            }
        })
    }
}

async fn converse(stream: TcpStream, acceptor: Acceptor) -> io::Result<()> {
    let _ = stream.set_nodelay(true);
    let _ = sys::tcp::set_unsent_limit(&stream, MOST_UNSENT);
    let stream = acceptor.accept(stream).await?;
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(256)
        .initial_stream_window_size(1 << 20)
        .initial_connection_window_size(1 << 20)
        .max_send_buf_size(MOST_BUFFERED)
        .max_header_list_size(MAX_HEADER);
    let answer = service_fn(async |request| Ok::<_, Infallible>(respond(request).await));
    builder
        .serve_connection(stream, answer)
        .await
        .map_err(io::Error::other)
}

/// Answers one request.
async fn respond(request: Request<Incoming>) -> Response<Content> {
    match (request.method(), request.uri().path()) {
        (&Method::GET, WELL_KNOWN | "/config") => configuration(&request),
        (&Method::GET, "/small") => octets(vec![Segment::Filler(1)]),
        (&Method::GET, "/large") => octets(vec![Segment::Filler(LARGE)]),
        (&Method::POST, "/upload") => {
            let mut body = request.into_body();
            while let Some(Ok(_)) = body.frame().await {}
            octets(Vec::new())
        }
        _ => {
            let mut response = octets(Vec::new());
            *response.status_mut() = StatusCode::NOT_FOUND;
            response
        }
    }
}

/// Where everything is, by the name by which the client knows this server.
fn configuration(request: &Request<Incoming>) -> Response<Content> {
    let named = request.uri().authority().cloned();
    let header = || request.headers().get(HOST)?.to_str().ok()?.parse().ok();
    let authority: Option<Authority> = named.or_else(header);
    let Some(authority) = authority else {
        let mut response = octets(Vec::new());
        *response.status_mut() = StatusCode::BAD_REQUEST;
        return response;
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

fn octets(segments: Vec<Segment>) -> Response<Content> {
    let mut response = Response::new(Content::new(segments));
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static("application/octet-stream");
    headers.insert(CONTENT_TYPE, kind);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
