//! What is answered to a request.

use super::Page;
use crate::content::{Content, Urls, layout, media_type};
use crate::model::Object;
use crate::names::HostName;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderName, HeaderValue,
};
use hyper::http::uri::Authority;
use hyper::{Method, Request, Response, StatusCode};

/// Where a few octets are answered, on every host of a page.
pub const PROBE_PATH: &str = "/probe";
/// What is answered there.
pub const PROBE_ANSWER: &str = "isobath\n";
/// A page may read how long its objects took (Resource Timing, section 4.5).
const TIMING_ALLOW_ORIGIN: HeaderName = HeaderName::from_static("timing-allow-origin");
/// Of `https` (RFC 9110 section 4.2.2).
const HTTPS_PORT: u16 = 443;

/// Answers one request for `page`.
pub(super) async fn respond<B>(page: &Page, request: &Request<B>) -> Response<Content> {
    if request.method() != Method::GET {
        return refusal(StatusCode::METHOD_NOT_ALLOWED, "only GET\n");
    }
    let authority = authority(request);
    let host = authority
        .as_ref()
        .and_then(|authority| HostName::parse(authority.host()));
    let (Some(authority), Some(host)) = (&authority, host) else {
        return refusal(StatusCode::MISDIRECTED_REQUEST, "no page of this server\n");
    };
    if host.token != page.token {
        return refusal(StatusCode::MISDIRECTED_REQUEST, "another page\n");
    }
    let path = request.uri().path();
    if path == PROBE_PATH {
        return answer(StatusCode::OK, "text/plain", Content::text(PROBE_ANSWER));
    }
    let label = host.host.to_ascii_lowercase();
    let number = page.model.object_at(&label, path);
    let found = number.and_then(|number| Some((number, page.model.object(number)?)));
    let Some((number, object)) = found else {
        return refusal(StatusCode::NOT_FOUND, "not on this page\n");
    };
    let port = authority.port_u16().unwrap_or(HTTPS_PORT);
    serve_object(page, number, object, port).await
}

async fn serve_object(page: &Page, number: u16, object: &Object, port: u16) -> Response<Content> {
    if !object.delay.0.is_zero() {
        tokio::time::sleep(object.delay.0).await;
    }
    let token = page.token;
    let layout = layout(&page.model, number, Urls::OfHosts { token, port });
    let content = Content::new(layout.segments);
    answer(StatusCode::OK, media_type(object.kind), content)
}

/// Host and port that the client means: `:authority` in HTTP/2, `Host` in HTTP/1.1.
fn authority<B>(request: &Request<B>) -> Option<Authority> {
    let named = request.uri().authority().cloned();
    named.or_else(|| request.headers().get(HOST)?.to_str().ok()?.parse().ok())
}

fn refusal(status: StatusCode, text: &'static str) -> Response<Content> {
    answer(status, "text/plain", Content::text(text))
}

fn answer(status: StatusCode, media_type: &'static str, content: Content) -> Response<Content> {
    let mut response = Response::new(content);
    *response.status_mut() = status;
    let any = HeaderValue::from_static("*");
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, any.clone());
    headers.insert(TIMING_ALLOW_ORIGIN, any);
    response
}
