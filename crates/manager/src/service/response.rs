//! What is answered: JSON, counters, or a line that says why not.

use super::command::Told;
use super::events::Octets;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};

pub(super) fn whole(told: &Told) -> Response<Octets> {
    let status = StatusCode::from_u16(told.status).unwrap_or(StatusCode::BAD_GATEWAY);
    spoken(status, told.body.clone())
}

pub(super) fn gone() -> Response<Octets> {
    error(
        StatusCode::SERVICE_UNAVAILABLE,
        "the manager is ending, or has too much to do",
    )
}

pub(super) fn error(status: StatusCode, line: &str) -> Response<Octets> {
    json(status, &serde_json::json!({ "error": line }))
}

pub(super) fn json(status: StatusCode, value: &impl serde::Serialize) -> Response<Octets> {
    // Strings and numbers always can be.
    spoken(status, serde_json::to_string(value).unwrap_or_default())
}

fn spoken(status: StatusCode, mut json: String) -> Response<Octets> {
    json.push('\n');
    let kind = HeaderValue::from_static("application/json");
    let mut response = response(status, kind, Octets::Whole(Full::new(Bytes::from(json))));
    if status == StatusCode::TOO_MANY_REQUESTS {
        let seconds = HeaderValue::from_static("5");
        response.headers_mut().insert(RETRY_AFTER, seconds);
    }
    response
}

pub(super) fn plain(status: StatusCode, text: String) -> Response<Octets> {
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response(status, kind, Octets::Whole(Full::new(Bytes::from(text))))
}

pub(super) fn response(status: StatusCode, kind: HeaderValue, octets: Octets) -> Response<Octets> {
    let mut response = Response::new(octets);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
