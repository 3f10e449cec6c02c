//! The endpoint of [`super::metrics`], by HTTP.

use super::State;
use super::metrics::Now;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HOST, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use kit::host::is_own_name;
use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

const MOST_CONNECTIONS: usize = 16;
/// How long a connection may last.
const PATIENCE: Duration = Duration::from_secs(10);
/// Octets of a request's head.
const LONGEST_REQUEST: usize = 8 << 10;
/// After this rest a connection is tried again for which there was no descriptor.
const AGAIN: Duration = Duration::from_millis(50);
const OTHER: &str = "ask by this host's address or name, not by another one\n";
const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answers on `listener` as long as the agent lives.
pub(super) async fn serve(listener: TcpListener, state: Rc<RefCell<State>>) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(AGAIN).await;
            continue;
        };
        let state = Rc::clone(&state);
        tokio::task::spawn_local(async move {
            // Whoever is too slow misses it.
            let _ = tokio::time::timeout(PATIENCE, connection(stream, &state)).await;
            drop(place);
        });
    }
}

async fn connection(stream: TcpStream, state: &RefCell<State>) {
    let answers = service_fn(async |request| Ok::<_, Infallible>(answer(&request, state)));
    // Whoever goes away early misses it, too.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(LONGEST_REQUEST)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), answers)
        .await;
}

fn answer(request: &Request<Incoming>, state: &RefCell<State>) -> Response<String> {
    let host = request.headers().get(HOST).map(HeaderValue::to_str);
    // HTTP/1.0, which no browser speaks, names none.
    let is_for_us = host.is_none_or(|host| host.is_ok_and(is_own_name));
    let (status, text) = match (request.method(), request.uri().path()) {
        _ if !is_for_us => (StatusCode::MISDIRECTED_REQUEST, OTHER.to_owned()),
        (&Method::GET, "/metrics") => match text(&state.borrow()) {
            Ok(text) => (StatusCode::OK, text),
            Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, String::new()),
        },
        (_, "/metrics") => (StatusCode::METHOD_NOT_ALLOWED, String::new()),
        _ => (StatusCode::NOT_FOUND, "there is /metrics\n".to_owned()),
    };
    let mut response = Response::new(text);
    *response.status_mut() = status;
    let kind = if status == StatusCode::OK {
        KIND
    } else {
        "text/plain"
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn text(state: &State) -> Result<String, std::fmt::Error> {
    state.metrics.text(&Now {
        is_connected: state.is_connected(),
        running: state.running.len(),
        unhanded: state.book.ledger().unhanded().count(),
    })
}
