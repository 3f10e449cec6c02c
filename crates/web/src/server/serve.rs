//! A connection to a page, from its handshake to its end.

use super::idle::{Activity, Watched};
use super::respond::respond;
use super::{Page, Place};
use crate::names::HostName;
use crate::tls;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use units::HttpVersion;

/// For a handshake; on a full path one takes seconds.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Without an octet in either direction. Browsers keep idle connections longer, and cope.
pub(super) const IDLE: Duration = Duration::from_secs(60);
/// Browsers send about 1 KiB.
pub(super) const MAX_HEADER: u32 = 16 * 1024;
const MAX_FIELDS: usize = 64;
/// As many as all connections of HTTP/1.1 to one page together.
const MAX_STREAMS: u32 = 256;

/// A connection that was handed over.
pub(super) struct Arrival {
    pub(super) socket: std::net::TcpStream,
    pub(super) place: Place,
    /// What ends with the connection.
    pub(super) held: Box<dyn Any + Send>,
}

/// Serves until the client has had enough, the page is withdrawn, or nothing happens any more.
pub(super) async fn serve(arrival: Arrival, acceptor: TlsAcceptor) {
    let page = Arc::clone(arrival.place.page());
    let mut ended = page.ended.subscribe();
    let activity = Activity::new();
    tokio::select! {
        // An error is the end of the page, too.
        _ = ended.wait_for(|ended| *ended) => {}
        () = activity.idle_for(IDLE) => {}
        // Why a conversation came to nothing the client knows.
        _ = converse(arrival.socket, acceptor, &page, activity.clone()) => {}
    }
    drop(arrival.held);
}

async fn converse(
    socket: std::net::TcpStream,
    acceptor: TlsAcceptor,
    page: &Arc<Page>,
    activity: Activity,
) -> Option<()> {
    let stream = TcpStream::from_std(socket).ok()?;
    let handshake = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream));
    let stream = handshake.await.ok()?.ok()?;
    let (_, connection) = stream.get_ref();
    let name = HostName::parse(connection.server_name()?)?;
    let protocol = tls::agreed(connection.alpn_protocol())?;
    (name.token == page.token).then_some(())?;
    let stream = Watched { stream, activity };
    exchange(protocol, stream, Arc::clone(page)).await
}

async fn exchange(
    protocol: HttpVersion,
    stream: Watched<TlsStream<TcpStream>>,
    page: Arc<Page>,
) -> Option<()> {
    let answer = move |request: Request<Incoming>| {
        let page = Arc::clone(&page);
        async move { Ok::<_, std::convert::Infallible>(respond(&page, &request).await) }
    };
    let (stream, answer) = (TokioIo::new(stream), service_fn(answer));
    match protocol {
        HttpVersion::Http1 => {
            let mut builder = http1::Builder::new();
            builder
                .timer(TokioTimer::new())
                .header_read_timeout(IDLE)
                .max_headers(MAX_FIELDS)
                .max_buf_size(MAX_HEADER as usize);
            builder.serve_connection(stream, answer).await.ok()
        }
        HttpVersion::H2 => {
            let mut builder = http2::Builder::new(TokioExecutor::new());
            builder
                .timer(TokioTimer::new())
                .max_concurrent_streams(MAX_STREAMS)
                .max_header_list_size(MAX_HEADER);
            builder.serve_connection(stream, answer).await.ok()
        }
        // Not over TCP, and not on offer there.
        HttpVersion::H3 => None,
    }
}
