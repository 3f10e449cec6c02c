//! Answers by HTTP to whoever asks on a listener: few at a time, none for long, and none that a strange page made a browser ask.

use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_TYPE, HOST, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use kit::host::is_own_name;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

const MOST_CONNECTIONS: usize = 16;
/// How long a request may take to come.
const HEAD: Duration = Duration::from_secs(10);
/// Octets of a request's head.
const LONGEST_REQUEST: usize = 8 << 10;
/// After this rest a connection is tried again for which there was no descriptor.
const AGAIN: Duration = Duration::from_millis(50);
const OTHER: &str = "unexpected Host header - use this host's address or name\n";

/// Answers on `listener` until it is dropped; a connection may last for `patience`.
pub(crate) async fn serve<A, F, B>(listener: TcpListener, patience: Duration, answer: A)
where
    A: Fn(Request<Incoming>) -> F + Clone + 'static,
    F: Future<Output = Response<B>>,
    B: Body<Error = Infallible> + From<String> + 'static,
{
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(AGAIN).await;
            continue;
        };
        let answer = answer.clone();
        tokio::task::spawn_local(async move {
            // Whoever is too slow misses it.
            let _ = tokio::time::timeout(patience, connection(stream, answer)).await;
            drop(place);
        });
    }
}

async fn connection<A, F, B>(stream: TcpStream, answer: A)
where
    A: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<B>>,
    B: Body<Error = Infallible> + From<String> + 'static,
{
    let answers = service_fn(async |request: Request<Incoming>| {
        let host = request.headers().get(HOST).map(HeaderValue::to_str);
        // HTTP/1.0, which no browser speaks, names none.
        let is_for_us = host.is_none_or(|host| host.is_ok_and(is_own_name));
        Ok::<_, Infallible>(if is_for_us {
            answer(request).await
        } else {
            plain(StatusCode::MISDIRECTED_REQUEST, OTHER)
        })
    });
    // Whoever goes away early misses it, too.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(LONGEST_REQUEST)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), answers)
        .await;
}

/// An answer that is text.
pub(crate) fn plain<B: From<String>>(status: StatusCode, text: impl Into<String>) -> Response<B> {
    of_kind(status, "text/plain; charset=utf-8", text.into().into())
}

/// An answer of this kind.
pub(crate) fn of_kind<B>(status: StatusCode, kind: &'static str, body: B) -> Response<B> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
