//! One request and its answer.

use super::loading::Outcome;
use super::queue::urgency;
use crate::answer::{Body, refusal};
use crate::http3::client as http3;
use crate::reason::reason;
use crate::result::Kind;
use bytes::Bytes;
use http_body_util::Empty;
use hyper::client::conn::{http1, http2};
use hyper::header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, HOST, HeaderName, USER_AGENT};
use hyper::http::request::Builder;
use hyper::{Request, Response};

/// RFC 9218 section 5.
const PRIORITY: HeaderName = HeaderName::from_static("priority");
/// Says who asks, at about the length at which browsers do: requests are part of the load.
pub(crate) const AGENT: &str = concat!(
    "Mozilla/5.0 (X11; Linux x86_64) isobath/",
    env!("CARGO_PKG_VERSION"),
    " (page load measurement; no browser)"
);

/// The near end of a connection.
pub(super) enum Sender {
    Http1(http1::SendRequest<Empty<Bytes>>),
    H2(http2::SendRequest<Empty<Bytes>>),
    H3(http3::Sender),
}

impl Sender {
    /// The same connection for another request, where requests share one.
    pub(super) fn share(&self) -> Option<Self> {
        match self {
            Self::Http1(_) => None,
            Self::H2(sender) => Some(Self::H2(sender.clone())),
            Self::H3(sender) => Some(Self::H3(sender.clone())),
        }
    }

    /// The connection, where it has to be closed at the end.
    pub(super) fn quic(&self) -> Option<quinn::Connection> {
        match self {
            Self::Http1(_) | Self::H2(_) => None,
            Self::H3(sender) => Some(sender.connection()),
        }
    }

    /// Sends the request and waits for the head of its answer.
    async fn send(&mut self, wish: &Wish) -> Result<Response<Body>, String> {
        let answer = match self {
            Self::Http1(sender) => sender.send_request(by_path(wish, Empty::new())?).await,
            Self::H2(sender) => sender.send_request(by_url(wish, Empty::new())?).await,
            Self::H3(sender) => {
                let (head, body) = sender.send(by_url(wish, ())?).await?;
                return Ok(head.map(|()| Body::Quic(body)));
            }
        };
        let answer = answer.map_err(|error| reason(&error))?;
        Ok(answer.map(Body::Tcp))
    }

    /// Whether another request can follow. After a whole answer that takes the connection's task a
    /// moment.
    async fn is_ready(&mut self) -> bool {
        match self {
            Self::Http1(sender) => sender.ready().await.is_ok(),
            Self::H2(sender) => sender.ready().await.is_ok(),
            // It takes any number at once.
            Self::H3(_) => true,
        }
    }
}

/// What to ask for.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    /// Host and port.
    pub(super) authority: String,
    pub(super) path: String,
    pub(super) kind: Kind,
    /// Octets of the answer; more are not read.
    pub(super) size: u64,
}

/// Sends the request and reads the answer to its end, with `tell` called for the octets so far.
pub(super) async fn exchange(sender: &mut Sender, wish: &Wish, tell: impl Fn(u64)) -> Outcome {
    let mut outcome = Outcome {
        sent: sys::clock::now(),
        ..Outcome::default()
    };
    let done = converse(sender, wish, &tell, &mut outcome).await;
    match done {
        Ok(()) => {
            outcome.last = Some(sys::clock::now());
            outcome.is_usable = sender.is_ready().await;
        }
        Err(why) => {
            let (authority, path) = (&wish.authority, &wish.path);
            outcome.error = Some(format!("https://{authority}{path}: {why}"));
        }
    }
    outcome
}

async fn converse(
    sender: &mut Sender,
    wish: &Wish,
    tell: &impl Fn(u64),
    outcome: &mut Outcome,
) -> Result<(), String> {
    let answer = sender.send(wish).await?;
    outcome.first = Some(sys::clock::now());
    outcome.status = Some(answer.status().as_u16());
    if !answer.status().is_success() {
        return Err(refusal(answer.status(), answer.headers()));
    }
    let mut body = answer.into_body();
    while let Some(octets) = body.next().await? {
        outcome.bytes += octets.len() as u64;
        if outcome.bytes > wish.size {
            return Err(format!("more than {} octets came", wish.size));
        }
        tell(outcome.bytes);
    }
    if outcome.bytes < wish.size {
        let (came, size) = (outcome.bytes, wish.size);
        return Err(format!("{came} octets came, not {size}"));
    }
    Ok(())
}

/// As HTTP/1.1 asks.
fn by_path<B>(wish: &Wish, body: B) -> Result<Request<B>, String> {
    let request = Request::get(&wish.path).header(HOST, &wish.authority);
    described(request, wish.kind, body)
}

/// As HTTP/2 and HTTP/3 ask.
fn by_url<B>(wish: &Wish, body: B) -> Result<Request<B>, String> {
    let request = Request::get(format!("https://{}{}", wish.authority, wish.path));
    described(request, wish.kind, body)
}

fn described<B>(request: Builder, kind: Kind, body: B) -> Result<Request<B>, String> {
    let urgency = urgency(kind);
    let priority = match kind {
        // What can be shown or used in part may be sent interleaved.
        Kind::Document | Kind::Image | Kind::Fetch => format!("u={urgency}, i"),
        _ => format!("u={urgency}"),
    };
    request
        .header(USER_AGENT, AGENT)
        .header(ACCEPT, "*/*")
        .header(ACCEPT_ENCODING, "gzip, deflate, br, zstd")
        .header(ACCEPT_LANGUAGE, "en")
        .header(PRIORITY, priority)
        .body(body)
        .map_err(|error| error.to_string())
}
