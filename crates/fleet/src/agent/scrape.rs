//! The endpoint of [`super::metrics`], by HTTP.

use super::State;
use super::metrics::openmetrics;
use crate::http::{self, of_kind, plain};
use hyper::{Method, Response, StatusCode};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use tokio::net::TcpListener;

/// How long a connection may last.
const PATIENCE: Duration = Duration::from_secs(10);
const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answers on `listener` as long as the agent lives.
pub(super) async fn serve(listener: TcpListener, state: Rc<RefCell<State>>) {
    let answer = move |request: hyper::Request<_>| {
        let answer = answer(request.method(), request.uri().path(), &state.borrow());
        async { answer }
    };
    http::serve(listener, PATIENCE, answer).await;
}

fn answer(method: &Method, path: &str, state: &State) -> Response<String> {
    match (method, path) {
        (&Method::GET, "/metrics") => match openmetrics::text(&state.metrics, &state.now()) {
            Ok(text) => of_kind(StatusCode::OK, KIND, text),
            Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, ""),
        },
        (_, "/metrics") => plain(StatusCode::METHOD_NOT_ALLOWED, ""),
        _ => plain(StatusCode::NOT_FOUND, "there is /metrics\n"),
    }
}
