//! The near end.

use crate::answer::refusal;
use crate::reason::{mistrust, reason};
use crate::trust::{Trust, config};
use crate::websocket;
use bytes::Bytes;
use far_ends::ndt7::{LONGEST_MESSAGE, Measurement, MessageSize, SUBPROTOCOL, Test};
use far_ends::nq::Origin;
use futures_util::future::{Either, select};
use futures_util::{SinkExt, StreamExt};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::net::TcpStream;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use sys::clock;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::tungstenite::{ClientRequestBuilder, Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};
use units::{HttpVersion, Instant};

/// How long a server may take for the handshakes.
const ANSWER: Duration = Duration::from_secs(10);
/// How often to check whether to stop.
const LOOK: Duration = Duration::from_millis(100);
const ENDED: &str = "the server ended the test";

type Tls = TlsStream<tokio::net::TcpStream>;
type Socket = WebSocketStream<Tls>;

/// Opens connections with one server.
#[derive(Clone, Debug)]
pub struct Dialer {
    origin: Origin,
    name: ServerName<'static>,
    config: Arc<ClientConfig>,
}

/// What happens on a connection.
#[derive(Clone, Debug)]
pub enum Event {
    /// The test has begun: the server counts its elapsed time from here.
    Begun,
    /// So many more octets of binary messages arrived.
    Received(usize),
    /// A measurement of the server's.
    Told(Box<Measurement>),
}

/// How long a load lasts, and what is sent.
#[derive(Clone, Copy)]
pub struct Load<'a> {
    /// Its end.
    pub until: Instant,
    /// Whether to stop before.
    pub abort: &'a dyn Fn() -> bool,
    /// At least [`MessageSize::LONGEST`] octets to send.
    pub filler: &'a Bytes,
}

impl Dialer {
    /// For the server at `host`, with or without a port.
    ///
    /// # Errors
    /// One line, when it is not a host name, or nobody can be trusted.
    pub fn new(host: &str, trust: &Trust) -> Result<Self, String> {
        let (origin, _) = Origin::of(&format!("https://{host}"))?;
        let bare = origin.host.trim_matches(['[', ']']).to_owned();
        let name = ServerName::try_from(bare);
        Ok(Self {
            name: name.map_err(|_| format!("'{host}' is not a host name"))?,
            origin,
            config: config(trust, HttpVersion::Http1)?,
        })
    }

    /// Begins an upload on `stream`, and ends it at once: whether an ndt7 server is there.
    ///
    /// # Errors
    /// One line, when none is, it is not trusted, or `abort` says to stop.
    pub fn try_out(&self, stream: TcpStream, abort: &dyn Fn() -> bool) -> Result<(), String> {
        let load = Load {
            until: clock::now() + ANSWER,
            abort,
            filler: &Bytes::new(),
        };
        runtime()?.block_on(async {
            let mut socket = self.begin(Test::Upload, stream, load).await?;
            // Whether the server heard it does not matter.
            let _ = timeout(LOOK, socket.close(None)).await;
            Ok(())
        })
    }

    /// Runs `test` on `stream` until the load's end, and tells what happens. The connection stays open: its last owner closes it.
    ///
    /// # Errors
    /// One line, when it ended before.
    pub fn carry(
        &self,
        test: Test,
        stream: TcpStream,
        load: Load<'_>,
        tell: &mut dyn FnMut(Event),
    ) -> Result<(), String> {
        runtime()?.block_on(async {
            let socket = self.begin(test, stream, load).await?;
            tell(Event::Begun);
            match test {
                Test::Download => receive(socket, load, tell).await,
                Test::Upload => send(socket, load, tell).await,
            }
        })
    }

    async fn begin(&self, test: Test, stream: TcpStream, load: Load<'_>) -> Result<Socket, String> {
        let authority = self.origin.authority();
        let tls = in_time(load, self.secure(stream)).await;
        let tls = tls.map_err(|what| format!("TLS with {authority} failed: {what}"))?;
        let version = env!("CARGO_PKG_VERSION");
        let uri = format!(
            "wss://{authority}{}?client_name=isobath&client_version={version}",
            test.path()
        );
        let uri = uri.parse().map_err(|_| "invalid URL".to_owned())?;
        let request = ClientRequestBuilder::new(uri)
            .with_header("User-Agent", format!("isobath/{version}"))
            .with_sub_protocol(SUBPROTOCOL);
        let config = Some(websocket::config(LONGEST_MESSAGE));
        let opened = async {
            let opened = Box::pin(client_async_with_config(request, tls, config)).await;
            opened.map_err(|error| match error {
                Error::Http(answer) => refusal(answer.status(), answer.headers()),
                other => reason(&other),
            })
        };
        let opened = in_time(load, opened).await;
        let (socket, _) = opened.map_err(|what| format!("{authority} refused the test: {what}"))?;
        Ok(socket)
    }

    async fn secure(&self, stream: TcpStream) -> Result<Tls, String> {
        let connector = TlsConnector::from(Arc::clone(&self.config));
        let handshake = async {
            stream.set_nonblocking(true)?;
            let stream = tokio::net::TcpStream::from_std(stream)?;
            connector.connect(self.name.clone(), stream).await
        };
        handshake.await.map_err(|error| {
            mistrust(&error)
                .unwrap_or_else(|| format!("{} - is an ndt7 server there?", reason(&error)))
        })
    }
}

/// The result of `work`, unless the server takes too long or the load is over.
async fn in_time<T>(
    load: Load<'_>,
    work: impl Future<Output = Result<T, String>>,
) -> Result<T, String> {
    let mut work = pin!(work);
    let late = clock::now() + ANSWER;
    while let Some(left) = left(load) {
        if let Ok(done) = timeout(left, &mut work).await {
            return done;
        }
        if clock::now() >= late {
            break;
        }
    }
    Err("no answer in time".to_owned())
}

fn runtime() -> Result<tokio::runtime::Runtime, String> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let built = builder.enable_all().build();
    built.map_err(|error| error.to_string())
}

/// Takes all that comes.
async fn receive(
    mut socket: Socket,
    load: Load<'_>,
    tell: &mut dyn FnMut(Event),
) -> Result<(), String> {
    while let Some(left) = left(load) {
        let Ok(next) = timeout(left, socket.next()).await else {
            continue;
        };
        match next {
            Some(Ok(Message::Binary(octets))) => tell(Event::Received(octets.len())),
            Some(Ok(Message::Close(_))) => {
                let _ = timeout(LOOK, socket.close(None)).await;
                return Err(ENDED.to_owned());
            }
            Some(Ok(message)) => hear(&message, tell),
            Some(Err(error)) => return Err(reason(&error)),
            None => return Err(ENDED.to_owned()),
        }
    }
    Ok(())
}

/// Sends messages without end, and hears what the server tells meanwhile.
async fn send(socket: Socket, load: Load<'_>, tell: &mut dyn FnMut(Event)) -> Result<(), String> {
    let (mut sink, mut stream) = socket.split();
    let mut listen = pin!(async {
        loop {
            match stream.next().await {
                Some(Ok(Message::Binary(_))) => {
                    return "the server sent load in an upload".to_owned();
                }
                Some(Ok(Message::Close(_))) | None => return ENDED.to_owned(),
                Some(Ok(message)) => hear(&message, tell),
                Some(Err(error)) => return reason(&error),
            }
        }
    });
    let mut size = MessageSize::default();
    while left(load).is_some() {
        let message = Message::Binary(load.filler.slice(..size.grow()));
        let mut sent = pin!(sink.send(message));
        // However long it takes, or until the load is over. What the server tells comes first: on a fast path there is always room to send.
        let done = loop {
            let Some(left) = left(load) else {
                return Ok(());
            };
            if let Ok(done) = timeout(left, select(&mut listen, &mut sent)).await {
                break done;
            }
        };
        match done {
            Either::Left((ended, _)) => return Err(ended),
            Either::Right((sent, _)) => sent.map_err(|error| reason(&error))?,
        }
    }
    Ok(())
}

/// How long to wait until the next check; none when the load is over.
fn left(load: Load<'_>) -> Option<Duration> {
    let left = load.until.since(clock::now());
    (!left.is_zero() && !(load.abort)()).then(|| left.min(LOOK))
}

/// A measurement, if it is one. The library answers pings by itself.
fn hear(message: &Message, tell: &mut dyn FnMut(Event)) {
    if let Message::Text(text) = message
        && let Some(told) = Measurement::read(text.as_bytes())
    {
        tell(Event::Told(Box::new(told)));
    }
}
