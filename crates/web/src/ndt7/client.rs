//! The near end.

use crate::reason::reason;
use crate::trust::{Trust, config};
use crate::websocket;
use bytes::Bytes;
use far_ends::ndt7::{LONGEST_MESSAGE, Measurement, MessageSize, SUBPROTOCOL, Test};
use far_ends::nq::Origin;
use futures_util::future::{Either, join_all, select};
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
use tokio_tungstenite::tungstenite::{ClientRequestBuilder, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};
use units::{HttpVersion, Instant};

/// How long a server may take for the handshakes.
const ANSWER: Duration = Duration::from_secs(10);
/// How often it is looked whether the load goes on.
const LOOK: Duration = Duration::from_millis(100);

type Tls = TlsStream<tokio::net::TcpStream>;
type Socket = WebSocketStream<Tls>;

/// Opens connections with one server.
#[derive(Clone, Debug)]
pub struct Dialer {
    origin: Origin,
    name: ServerName<'static>,
    config: Arc<ClientConfig>,
}

/// What becomes of a connection.
#[derive(Clone, Debug)]
pub enum Event {
    /// The test has begun: the time since then is what the server calls elapsed.
    Begun,
    /// So many more octets of binary messages have come.
    Received(usize),
    /// What the server tells.
    Told(Box<Measurement>),
}

/// What a load is: until when, whether it is called off, and who hears of it by the number of the connection.
#[derive(Clone, Copy)]
pub struct Load<'a> {
    /// When it ends.
    pub until: Instant,
    /// Whether it is called off.
    pub abort: &'a dyn Fn() -> bool,
    /// Who hears of it.
    pub tell: &'a dyn Fn(usize, Event),
    /// What is sent: at least [`MessageSize::LONGEST`] octets.
    pub filler: &'a Bytes,
}

impl Dialer {
    /// Towards the server at `host`, with or without a port.
    ///
    /// # Errors
    /// One line, when it is no name of a host, or nobody can be believed.
    pub fn new(host: &str, trust: &Trust) -> Result<Self, String> {
        let (origin, _) = Origin::of(&format!("https://{host}"))?;
        let bare = origin.host.trim_matches(['[', ']']).to_owned();
        let name = ServerName::try_from(bare);
        Ok(Self {
            name: name.map_err(|_| format!("'{host}' is no name of a host"))?,
            origin,
            config: config(trust, HttpVersion::Http1)?,
        })
    }

    /// Whether a server of TLS is at the other end of `stream`.
    ///
    /// # Errors
    /// One line, when none is, or one that is not believed.
    pub fn try_out(&self, stream: TcpStream) -> Result<(), String> {
        runtime()?.block_on(self.secure(stream)).map(drop)
    }

    /// Begins a test on each of the connections, all at once, and has the load of all of them: what came of each.
    ///
    /// Connections are left open; the last owner of each closes it.
    ///
    /// # Errors
    /// One line, when the system has no event queue left.
    pub fn carry(
        &self,
        connections: Vec<(Test, TcpStream)>,
        load: Load<'_>,
    ) -> Result<Vec<Result<(), String>>, String> {
        let runtime = runtime()?;
        Ok(runtime.block_on(async {
            let secure = |(test, stream)| async move { (test, self.secure(stream).await) };
            // One handshake does not wait behind the other's load.
            let secured = join_all(connections.into_iter().map(secure)).await;
            let each = secured.into_iter().enumerate();
            let run = |(number, (test, stream)): (usize, (Test, Result<Tls, String>))| async move {
                let socket = self.begin(test, stream?).await?;
                (load.tell)(number, Event::Begun);
                match test {
                    Test::Download => receive(socket, number, load).await,
                    Test::Upload => send(socket, number, load).await,
                }
            };
            join_all(each.map(run)).await
        }))
    }

    async fn secure(&self, stream: TcpStream) -> Result<Tls, String> {
        let connector = TlsConnector::from(Arc::clone(&self.config));
        let handshake = async {
            stream.set_nonblocking(true)?;
            let stream = tokio::net::TcpStream::from_std(stream)?;
            connector.connect(self.name.clone(), stream).await
        };
        in_time(handshake)
            .await
            .map_err(|what| format!("TLS with {} failed: {what}", self.origin.authority()))
    }

    async fn begin(&self, test: Test, stream: Tls) -> Result<Socket, String> {
        let authority = self.origin.authority();
        let version = env!("CARGO_PKG_VERSION");
        let uri = format!(
            "wss://{authority}{}?client_name=isobath&client_version={version}",
            test.path()
        );
        let uri = uri.parse().map_err(|_| "the URL is none".to_owned())?;
        let request = ClientRequestBuilder::new(uri)
            .with_header("User-Agent", format!("isobath/{version}"))
            .with_sub_protocol(SUBPROTOCOL);
        let config = Some(websocket::config(LONGEST_MESSAGE));
        let opened = in_time(Box::pin(client_async_with_config(request, stream, config))).await;
        let (socket, _) = opened.map_err(|what| format!("{authority} begins no test: {what}"))?;
        Ok(socket)
    }
}

/// What comes of `work` before the server has taken too long.
async fn in_time<T, E: std::error::Error + 'static>(
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, String> {
    match timeout(ANSWER, work).await {
        Ok(done) => done.map_err(|error| reason(&error)),
        Err(_) => Err(format!("no answer within {} s", ANSWER.as_secs())),
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, String> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let built = builder.enable_all().build();
    built.map_err(|error| error.to_string())
}

/// Takes all that comes.
async fn receive(mut socket: Socket, number: usize, load: Load<'_>) -> Result<(), String> {
    while let Some(left) = left(load) {
        match timeout(left, socket.next()).await {
            Ok(Some(Ok(message))) => hear(&message, number, load),
            Ok(ended) => return Err(why(ended)),
            Err(_) => {}
        }
    }
    Ok(())
}

/// Sends messages without end, and hears what the server tells meanwhile.
async fn send(socket: Socket, number: usize, load: Load<'_>) -> Result<(), String> {
    let (mut sink, mut stream) = socket.split();
    let listen = async {
        loop {
            match stream.next().await {
                Some(Ok(message)) => hear(&message, number, load),
                ended => return why(ended),
            }
        }
    };
    let mut listen = pin!(listen);
    let mut size = MessageSize::default();
    while left(load).is_some() {
        let octets = size.grow().min(load.filler.len());
        let mut sent = pin!(sink.send(Message::Binary(load.filler.slice(..octets))));
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

/// How long may be waited before the next look; none when the load is over.
fn left(load: Load<'_>) -> Option<Duration> {
    let left = load.until.since(clock::now());
    (!left.is_zero() && !(load.abort)()).then(|| left.min(LOOK))
}

fn hear(message: &Message, number: usize, load: Load<'_>) {
    match message {
        Message::Binary(octets) => (load.tell)(number, Event::Received(octets.len())),
        Message::Text(text) => {
            if let Some(told) = Measurement::read(text.as_bytes()) {
                (load.tell)(number, Event::Told(Box::new(told)));
            }
        }
        // The library answers pings and closing by itself.
        _ => {}
    }
}

/// Why a connection is over that nobody here has ended.
fn why<T>(ended: Option<Result<T, tokio_tungstenite::tungstenite::Error>>) -> String {
    match ended {
        Some(Err(error)) => reason(&error),
        _ => "the server ended the test".to_owned(),
    }
}
