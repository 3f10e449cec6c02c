//! The counters for Prometheus: `GET /metrics` in its text format, version 0.0.4.

use super::counters::Count;
use super::engine::Handle;
use super::snapshot::{PeerSnapshot, Snapshot};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::fmt::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// Connections at once.
const MOST_CONNECTIONS: usize = 8;
/// Octets of a request's head.
const LONGEST_REQUEST: usize = 8 << 10;
/// How long a connection may last.
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves at `address` in a thread that ends with the program; where it listens.
///
/// # Errors
///
/// When the address is taken, or not of this host.
pub(crate) fn serve(address: SocketAddr, engine: Handle) -> Result<SocketAddr, String> {
    let failed = |error| format!("listen on {address} for metrics: {error} - choose a free port");
    let listener = TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(failed)?;
    let work = move || runtime.block_on(accept(listener, engine));
    let thread = thread::Builder::new().name("metrics".to_owned());
    thread.spawn(work).map_err(failed)?;
    Ok(bound)
}

async fn accept(listener: TcpListener, engine: Handle) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        // The semaphore is never closed.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let engine = engine.clone();
        tokio::spawn(async move {
            // A connection's troubles are its own.
            let _ = tokio::time::timeout(PATIENCE, connection(stream, engine)).await;
            drop(place);
        });
    }
}

async fn connection(stream: TcpStream, engine: Handle) -> hyper::Result<()> {
    let service = service_fn(move |request| {
        let engine = engine.clone();
        async move { Ok::<_, Infallible>(answer(request, engine).await) }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(false)
        .max_buf_size(LONGEST_REQUEST)
        .serve_connection(TokioIo::new(stream), service)
        .await
}

async fn answer(request: Request<Incoming>, engine: Handle) -> Response<Full<Bytes>> {
    let is_right = request.method() == Method::GET && request.uri().path() == "/metrics";
    if !is_right {
        return said(StatusCode::NOT_FOUND, "GET /metrics\n".to_owned());
    }
    // The engine answers when it comes to it.
    match tokio::task::spawn_blocking(move || engine.ask()).await {
        Ok(Some(snapshot)) => said(StatusCode::OK, text(&snapshot)),
        _ => said(StatusCode::SERVICE_UNAVAILABLE, String::new()),
    }
}

fn said(status: StatusCode, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    let kind = hyper::header::HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// All counters; those of peers bear the peer's name, which has no character that would have to be escaped.
fn text(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    for (name, help, count) in &snapshot.counts {
        head(&mut text, name, help, "counter");
        line(&mut text, name, "", *count);
    }
    head(
        &mut text,
        "peer_linked",
        "Whether there is a session with the peer",
        "gauge",
    );
    for peer in &snapshot.peers {
        let linked = u64::from(peer.address.is_some());
        line(&mut text, "peer_linked", &label(peer), linked);
    }
    for (place, (name, help, _)) in first(snapshot).iter().enumerate() {
        let name = format!("peer_{name}");
        head(&mut text, &name, help, "counter");
        for peer in &snapshot.peers {
            // All peers have the same counters.
            let count = peer.counts.get(place).map_or(0, |count| count.2);
            line(&mut text, &name, &label(peer), count);
        }
    }
    text
}

fn first(snapshot: &Snapshot) -> &[Count] {
    let first = snapshot.peers.first();
    first.map_or(&[], |peer| peer.counts.as_slice())
}

fn label(peer: &PeerSnapshot) -> String {
    format!("{{peer=\"{}\"}}", peer.name)
}

fn head(text: &mut String, name: &str, help: &str, kind: &str) {
    let name = full(name, kind);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "# HELP {name} {help}.\n# TYPE {name} {kind}");
}

fn line(text: &mut String, name: &str, label: &str, count: u64) {
    let kind = if name == "peer_linked" {
        "gauge"
    } else {
        "counter"
    };
    let _ = writeln!(text, "{}{label} {count}", full(name, kind));
}

fn full(name: &str, kind: &str) -> String {
    let end = if kind == "counter" { "_total" } else { "" };
    format!("isobath_manager_{name}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_told_as_prometheus_reads_them() {
        let peer = PeerSnapshot {
            name: "m5".to_owned(),
            source: [10, 99, 0, 2].into(),
            marked: Vec::new(),
            address: None,
            linked_s: None,
            note: None,
            counts: vec![("riders".to_owned(), "Probes that carried", 7)],
            buckets: Vec::new(),
        };
        let snapshot = Snapshot {
            name: "m3".to_owned(),
            running_s: 1.0,
            clients: 0,
            counts: vec![("read".to_owned(), "Packets", 3)],
            peers: vec![peer],
        };
        let told = text(&snapshot);
        let lines: Vec<_> = told.lines().collect();
        assert_eq!(
            lines,
            [
                "# HELP isobath_manager_read_total Packets.",
                "# TYPE isobath_manager_read_total counter",
                "isobath_manager_read_total 3",
                "# HELP isobath_manager_peer_linked Whether there is a session with the peer.",
                "# TYPE isobath_manager_peer_linked gauge",
                "isobath_manager_peer_linked{peer=\"m5\"} 0",
                "# HELP isobath_manager_peer_riders_total Probes that carried.",
                "# TYPE isobath_manager_peer_riders_total counter",
                "isobath_manager_peer_riders_total{peer=\"m5\"} 7",
            ]
        );
    }
}
