//! A server's answer to who asks for a WebSocket (RFC 6455), and what is sent over it.

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{
    CONNECTION, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::upgrade::Upgraded;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

/// A server's end.
pub type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// What a server makes a WebSocket of.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// What the client must offer to speak over it.
    pub subprotocol: Option<&'static str>,
    /// The longest message that is taken, octets.
    pub longest_message: usize,
    /// How long it lasts at most.
    pub longest: Duration,
}

/// Answers a request for a WebSocket (section 4.2), and has `then` with it; none where no such WebSocket is asked for.
pub fn upgrade<F>(
    request: &mut Request<Incoming>,
    terms: Terms,
    then: impl FnOnce(Socket) -> F + Send + 'static,
) -> Option<Response<Full<Bytes>>>
where
    F: Future<Output = ()> + Send,
{
    let is = |name, value: &str| told(request, name).is_some_and(|t| t.eq_ignore_ascii_case(value));
    let offers = |wanted: &str| {
        let all = request.headers().get_all(SEC_WEBSOCKET_PROTOCOL);
        let all = all.iter().filter_map(|some| some.to_str().ok());
        all.flat_map(|some| some.split(','))
            .any(|one| one.trim() == wanted)
    };
    let is_meant = is(UPGRADE, "websocket")
        && is(SEC_WEBSOCKET_VERSION, "13")
        && terms.subprotocol.is_none_or(offers);
    let key = request.headers().get(SEC_WEBSOCKET_KEY);
    let key = key.filter(|_| is_meant)?;
    let accept = HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok()?;
    let upgraded = hyper::upgrade::on(request);
    tokio::spawn(async move {
        let Ok(upgraded) = upgraded.await else { return };
        let stream = TokioIo::new(upgraded);
        let config = Some(config(terms.longest_message));
        let socket = WebSocketStream::from_raw_socket(stream, Role::Server, config).await;
        let _ = tokio::time::timeout(terms.longest, then(socket)).await;
    });
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    if let Some(agreed) = terms.subprotocol {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(agreed));
    }
    Some(response)
}

/// What a header of a request says.
pub fn told(request: &Request<Incoming>, name: HeaderName) -> Option<&str> {
    request.headers().get(name)?.to_str().ok()
}

/// A message is on its way before the next is made, and none is longer than this.
pub(crate) fn config(longest_message: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .max_message_size(Some(longest_message))
        .max_frame_size(Some(longest_message))
        .write_buffer_size(0)
}

/// Octets that nothing on the way can make fewer; others for every seed.
pub fn filler(seed: u64, octets: usize) -> Bytes {
    let mut state = seed;
    let mut next = || {
        // A linear congruential generator (Knuth's MMIX), of which the upper half looks random enough.
        state = state.wrapping_mul(6_364_136_223_846_793_005);
        state = state.wrapping_add(1_442_695_040_888_963_407);
        (state >> 32).to_le_bytes()
    };
    let words = (0..octets / 4).flat_map(|_| next().into_iter().take(4));
    words.collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    #[test]
    fn filler_cannot_be_compressed() {
        let filler = super::filler(7, 1 << 18);
        let mut counts = [0_usize; 256];
        filler
            .iter()
            .for_each(|octet| counts[usize::from(*octet)] += 1);
        let fair = filler.len() / 256;
        let is_fair = |count: &usize| (fair * 3 / 4..fair * 5 / 4).contains(count);
        assert!(counts.iter().all(is_fair), "{counts:?}");
    }
}
