//! The endpoint of [`super::metrics`], by HTTP: a text, or Prometheus' own format for those that would rather have it.

use super::State;
use super::metrics::{openmetrics, protobuf};
use crate::http::{self, of_kind, plain};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::ACCEPT;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use tokio::net::TcpListener;

/// How long a connection may last.
const PATIENCE: Duration = Duration::from_secs(10);
const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answers on `listener` as long as the agent lives.
pub(super) async fn serve(listener: TcpListener, state: Rc<RefCell<State>>) {
    let answer = move |request: Request<_>| {
        let answer = answer(&request, &state.borrow());
        async { answer }
    };
    http::serve(listener, PATIENCE, answer).await;
}

fn answer<T>(request: &Request<T>, state: &State) -> Response<Full<Bytes>> {
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/metrics") if wants_protobuf(request.headers()) => {
            let message = protobuf::message(&state.metrics, &state.now());
            of_kind(StatusCode::OK, protobuf::KIND, message)
        }
        (&Method::GET, "/metrics") => match openmetrics::text(&state.metrics, &state.now()) {
            Ok(text) => of_kind(StatusCode::OK, KIND, text.into()),
            Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, ""),
        },
        (_, "/metrics") => plain(StatusCode::METHOD_NOT_ALLOWED, ""),
        _ => plain(StatusCode::NOT_FOUND, "there is /metrics\n"),
    }
}

/// Whether whoever asks would rather have Prometheus' own format than any text.
fn wants_protobuf(headers: &HeaderMap) -> bool {
    let (mut protobuf, mut text) = (0.0, 0.0_f32);
    let all = headers.get_all(ACCEPT).into_iter();
    let all = all.filter_map(|value| value.to_str().ok());
    for kind in all.flat_map(|value| value.split(',')) {
        let mut parts = kind.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let quality = parts
            .clone()
            .find_map(|part| part.strip_prefix("q=")?.parse().ok());
        let quality = quality.unwrap_or(1.0);
        if name == "application/vnd.google.protobuf" {
            let is_ours = |part: &str| part == "proto=io.prometheus.client.MetricFamily";
            if parts.clone().any(is_ours) && parts.any(|part| part == "encoding=delimited") {
                protobuf = quality;
            }
        } else {
            text = text.max(quality);
        }
    }
    protobuf > text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prometheus_has_its_own_format_only_where_it_prefers_it() {
        // As 2.42 asks with and without native histograms.
        let native = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,\
                      application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        let without =
            "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        // As 3 asks when text was put before.
        let text = "text/plain;version=0.0.4;q=0.6,application/vnd.google.protobuf;\
                    proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.5,*/*;q=0.2";
        let other = "application/vnd.google.protobuf;proto=other.MetricFamily;encoding=delimited";
        for (accept, wants) in [
            (native, true),
            (without, false),
            (text, false),
            (other, false),
            ("*/*", false),
            (";q=,,", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, accept.parse().unwrap());
            assert_eq!(wants_protobuf(&headers), wants, "{accept}");
        }
        assert!(!wants_protobuf(&HeaderMap::new()));
    }
}
