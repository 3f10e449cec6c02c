//! Connections whose requests ask for a WebSocket (RFC 6455), the upgrade, and what is sent then.

use bytes::Bytes;
use data_encoding::BASE64;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{
    CONNECTION, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::Upgraded;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::time::Duration;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

/// The version of the protocol.
const VERSION: &str = "13";
/// How long a request may take to come, and the octets that it may have.
const HEAD: Duration = Duration::from_secs(10);
const LONGEST_HEAD: usize = 16 << 10;
/// What is written and not yet sent: more than two messages, and no more however many pings are to be answered.
const MOST_UNWRITTEN: usize = 1 << 20;

/// A server's end.
pub type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// What a server requires of an upgrade.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The subprotocol that the client must offer.
    pub subprotocol: Option<&'static str>,
    /// The longest message that is accepted, octets.
    pub longest_message: usize,
    /// How long the connection lasts at most.
    pub longest: Duration,
}

/// Has the requests of a stranger on `stream` answered (HTTP/1.1), until one of them is upgraded, the stranger is gone, or it is `enough`:
/// then what is under way is finished, and the connection closed.
///
/// # Errors
/// When the stranger breaks the protocol, or takes too long for it.
pub async fn serve<F>(
    stream: impl Read + Write + Unpin + Send + 'static,
    answer: impl Fn(Request<Incoming>) -> F,
    enough: impl Future<Output = ()>,
) -> io::Result<()>
where
    F: Future<Output = Response<Full<Bytes>>>,
{
    let answers = service_fn(async |request| Ok::<_, Infallible>(answer(request).await));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(stream, answers)
        .with_upgrades();
    let mut connection = pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => return ended.map_err(io::Error::other),
        () = enough => connection.as_mut().graceful_shutdown(),
    }
    connection.await.map_err(io::Error::other)
}

/// Answers `request` (section 4.2): upgrades the connection and runs `then` on it, or says why not.
pub fn upgrade<F>(
    request: &mut Request<Incoming>,
    terms: Terms,
    then: impl FnOnce(Socket) -> F + Send + 'static,
) -> Response<Full<Bytes>>
where
    F: Future<Output = ()> + Send,
{
    let key = match key(request, terms) {
        Ok(key) => key.to_owned(),
        Err(refusal) => return refusal.answer(),
    };
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
    // Base64 is always a header's value.
    if let Ok(accept) = HeaderValue::from_str(&derive_accept_key(key.as_bytes())) {
        headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    }
    if let Some(agreed) = terms.subprotocol {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(agreed));
    }
    response
}

/// The key of a request that asks for what `terms` want, or why it does not (sections 4.2.1 and 4.2.2).
fn key(request: &Request<Incoming>, terms: Terms) -> Result<&str, Refusal> {
    let lists = |name: HeaderName, wanted: &str| {
        let all = request.headers().get_all(name);
        let all = all.iter().filter_map(|some| some.to_str().ok());
        all.flat_map(|some| some.split(','))
            .any(|one| one.trim().eq_ignore_ascii_case(wanted))
    };
    let is_missing = |wanted| !lists(SEC_WEBSOCKET_PROTOCOL, wanted);
    if !lists(UPGRADE, "websocket") || !lists(CONNECTION, "upgrade") {
        Err(Refusal::NoUpgrade)
    } else if told(request, SEC_WEBSOCKET_VERSION) != Some(VERSION) {
        Err(Refusal::Version)
    } else if terms.subprotocol.is_some_and(is_missing) {
        Err(Refusal::Subprotocol)
    } else {
        let is_key = |key: &&str| {
            BASE64
                .decode(key.as_bytes())
                .is_ok_and(|key| key.len() == 16)
        };
        let key = told(request, SEC_WEBSOCKET_KEY).filter(is_key);
        key.ok_or(Refusal::Key)
    }
}

/// Why a request is not upgraded.
#[derive(Clone, Copy, Debug)]
enum Refusal {
    NoUpgrade,
    Version,
    Subprotocol,
    Key,
}

impl Refusal {
    fn answer(self) -> Response<Full<Bytes>> {
        let text = match self {
            Self::NoUpgrade => "this server accepts only WebSocket upgrades here\n",
            Self::Version => "this server speaks version 13 of the WebSocket protocol\n",
            Self::Subprotocol => "this server speaks another subprotocol\n",
            Self::Key => "the WebSocket key is missing or wrong\n",
        };
        let mut response = Response::new(Full::from(text));
        *response.status_mut() = StatusCode::BAD_REQUEST;
        if matches!(self, Self::Version) {
            *response.status_mut() = StatusCode::UPGRADE_REQUIRED;
            let headers = response.headers_mut();
            headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static(VERSION));
        }
        response
    }
}

/// What a header of a request says.
pub fn told(request: &Request<Incoming>, name: HeaderName) -> Option<&str> {
    request.headers().get(name)?.to_str().ok()
}

/// A message leaves before the next is made. None is longer than this.
pub(crate) fn config(longest_message: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .max_message_size(Some(longest_message))
        .max_frame_size(Some(longest_message))
        .write_buffer_size(0)
        .max_write_buffer_size(MOST_UNWRITTEN)
        // A record of TLS has no more.
        .read_buffer_size(16 << 10)
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
