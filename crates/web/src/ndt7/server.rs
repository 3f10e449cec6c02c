//! The far end, for any client of ndt7: `/ndt/v7/download` and `/ndt/v7/upload`.

use crate::credentials::{Acceptor, Credentials};
use crate::guests::{self, Guest, Guests, Limits};
use crate::websocket::{self, Socket, Terms};
use bytes::Bytes;
use far_ends::ndt7::{
    AppInfo, ConnectionInfo, LASTS, LONGEST, LONGEST_MESSAGE, Measurement, MessageSize,
    SUBPROTOCOL, TcpInfo, Test,
};
use futures_util::future::select;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioTimer;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use sys::clock;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use units::{HttpVersion, Instant};

/// The usual port of a server that is not the operator's only one.
pub const PORT: u16 = 4_443;
/// Connections, also those that have not asked for a test yet.
const LIMITS: Limits = Limits {
    most: 64,
    most_from_one: 16,
    longest: Duration::from_secs(30),
};
/// Tests: each takes all of the path, and may take 32 MiB of memory.
const TESTS: Limits = Limits {
    most: 8,
    most_from_one: 4,
    longest: LONGEST,
};
/// The longest query, octets.
const LONGEST_QUERY: usize = 4_096;
const TERMS: Terms = Terms {
    subprotocol: Some(SUBPROTOCOL),
    longest_message: LONGEST_MESSAGE,
    longest: TESTS.longest,
};
/// How often the client is told what is counted here: at most ten times a second, says the specification.
const TELL: Duration = Duration::from_millis(250);
/// How long a request may take to come.
const HEAD: Duration = Duration::from_secs(10);
const LONGEST_HEAD: usize = 16 << 10;
/// Octets that wait unsent in TCP: enough for a path of 1 Gbit/s, and gone soon when the load ends.
const MOST_UNSENT: u32 = 256 << 10;

/// A server at work.
pub struct Server {
    listener: TcpListener,
    acceptor: Acceptor,
    filler: Bytes,
}

impl Server {
    /// A server that takes connections of `listener`, and shows these credentials. What it sends depends on `seed`.
    ///
    /// # Errors
    /// When the key does not fit the certificate.
    pub fn new(listener: TcpListener, credentials: &Credentials, seed: u64) -> io::Result<Self> {
        Ok(Self {
            listener,
            acceptor: Acceptor::new(credentials, HttpVersion::Http1)?,
            filler: websocket::filler(seed, MessageSize::LONGEST),
        })
    }

    /// Where it listens.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    /// Serves until `stop` is raised.
    ///
    /// # Errors
    /// When the system has no event queue left.
    pub fn run(self, stop: &AtomicBool) -> io::Result<()> {
        let Self {
            listener,
            acceptor,
            filler,
        } = self;
        let tests = Arc::new(Guests::default());
        guests::serve(listener, LIMITS, stop, |stream, guest| {
            let (acceptor, filler, tests) = (acceptor.clone(), filler.clone(), Arc::clone(&tests));
            async move {
                let _guest = guest;
                // Whoever goes away early needs no answer.
                let _ = connection(stream, acceptor, filler, tests).await;
            }
        })
    }
}

/// A connection with a client.
#[derive(Clone)]
struct Connection {
    tcp: Arc<TcpStream>,
    source: IpAddr,
    ends: ConnectionInfo,
    filler: Bytes,
    tests: Arc<Guests>,
}

async fn connection(
    stream: tokio::net::TcpStream,
    acceptor: Acceptor,
    filler: Bytes,
    tests: Arc<Guests>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    // Where the kernel does not know it, more is left over at the end.
    let _ = sys::tcp::set_unsent_limit(&stream, MOST_UNSENT);
    let shown = |address: SocketAddr| {
        SocketAddr::new(address.ip().to_canonical(), address.port()).to_string()
    };
    let source = stream.peer_addr()?.ip().to_canonical();
    let ends = ConnectionInfo {
        client: shown(stream.peer_addr()?),
        server: shown(stream.local_addr()?),
    };
    // A second handle, for what the kernel tells of the connection.
    let stream = stream.into_std()?;
    let tcp = Arc::new(stream.try_clone()?);
    let stream = acceptor
        .accept(tokio::net::TcpStream::from_std(stream)?)
        .await?;
    let connection = Connection {
        tcp,
        source,
        ends,
        filler,
        tests,
    };
    let answers = service_fn(async |request| Ok::<_, Infallible>(connection.answer(request)));
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(stream, answers)
        .with_upgrades()
        .await
        .map_err(io::Error::other)
}

impl Connection {
    fn answer(&self, mut request: Request<Incoming>) -> Response<Full<Bytes>> {
        let test = Test::at(request.uri().path());
        let Some(test) = test.filter(|_| request.method() == Method::GET) else {
            return plain(
                StatusCode::NOT_FOUND,
                "the tests are /ndt/v7/download and upload\n",
            );
        };
        if !is_query(request.uri().query().unwrap_or_default()) {
            return plain(
                StatusCode::BAD_REQUEST,
                "the query is too long, or not URL-encoded\n",
            );
        }
        let Some(guest) = self.tests.enter(self.source, TESTS) else {
            return plain(
                StatusCode::SERVICE_UNAVAILABLE,
                "all tests of this server are taken - try again later\n",
            );
        };
        let connection = self.clone();
        let carry = async move |socket| connection.carry(socket, test, guest).await;
        websocket::upgrade(&mut request, TERMS, carry)
    }

    /// Runs the test until the client closes the connection; this end closes the WebSocket after ten seconds.
    async fn carry(self, socket: Socket, test: Test, _guest: Guest) {
        let (sink, stream) = socket.split();
        let received = AtomicU64::new(0);
        let listen = listen(stream, test, &received);
        // First, because on a fast path there is always something to listen to.
        let speak = async {
            self.speak(sink, test, &received).await;
            // Now it is the client's to close.
            std::future::pending::<()>().await;
        };
        select(pin!(speak), pin!(listen)).await;
    }

    /// Sends what there is to send of the test, and closes the WebSocket when its time is over.
    async fn speak(
        &self,
        mut sink: SplitSink<Socket, Message>,
        test: Test,
        received: &AtomicU64,
    ) -> Option<()> {
        let begun = clock::now();
        let (mut size, mut sent, mut tell_at) = (MessageSize::default(), 0_u64, begun + TELL);
        loop {
            let left = (begun + LASTS).since(clock::now());
            if left.is_zero() {
                break;
            }
            if clock::now() >= tell_at {
                tell_at = clock::now() + TELL;
                let octets = match test {
                    Test::Download => sent,
                    Test::Upload => received.load(Ordering::Relaxed),
                };
                let told = self.measurement(test, begun, octets).write();
                sink.send(Message::text(told)).await.ok()?;
            }
            match test {
                Test::Download => {
                    let octets = size.grow();
                    let message = Message::Binary(self.filler.slice(..octets));
                    // What is not sent in time is sent before the WebSocket is closed.
                    if let Ok(done) = timeout(left, sink.send(message)).await {
                        done.ok()?;
                    }
                    sent += octets as u64;
                }
                Test::Upload => tokio::time::sleep(TELL.min(left)).await,
            }
        }
        sink.close().await.ok()
    }

    fn measurement(&self, test: Test, begun: Instant, num_bytes: u64) -> Measurement {
        let elapsed_time = micros(clock::now().since(begun));
        Measurement {
            app_info: Some(AppInfo {
                elapsed_time,
                num_bytes,
            }),
            connection_info: Some(self.ends.clone()),
            origin: Some("server".to_owned()),
            test: Some(test),
            tcp_info: sys::tcp::info(&*self.tcp)
                .ok()
                .map(|info| told(&info, elapsed_time)),
        }
    }
}

/// Counts what comes until the client closes the connection, or sends what it must not.
async fn listen(mut stream: SplitStream<Socket>, test: Test, received: &AtomicU64) {
    while let Some(Ok(message)) = stream.next().await {
        match (message, test) {
            (Message::Binary(octets), Test::Upload) => {
                received.fetch_add(octets.len() as u64, Ordering::Relaxed);
            }
            (Message::Binary(_), Test::Download) => return,
            _ => {}
        }
    }
}

fn told(info: &sys::tcp::TcpInfo, elapsed_time: u64) -> TcpInfo {
    TcpInfo {
        elapsed_time: Some(elapsed_time),
        busy_time: info.busy.map(micros),
        bytes_acked: info.bytes_acked,
        bytes_received: info.bytes_received,
        bytes_sent: info.bytes_sent,
        bytes_retrans: info.bytes_retrans,
        min_rtt: info.min_rtt.map(micros),
        rtt: info.rtt.map(micros),
        rtt_var: info.rttvar.map(micros),
        rwnd_limited: info.rwnd_limited.map(micros),
        snd_buf_limited: info.sndbuf_limited.map(micros),
        total_retrans: info.total_retrans.map(u64::from),
        snd_cwnd: info.snd_cwnd.map(u64::from),
    }
}

/// Whether a query is short enough, and each `%` of it begins an octet.
fn is_query(query: &str) -> bool {
    let mut escapes = query.split('%').skip(1);
    let is_octet = |rest: &str| {
        let octet = rest.as_bytes().get(..2);
        octet.is_some_and(|octet| octet.iter().all(u8::is_ascii_hexdigit))
    };
    query.len() <= LONGEST_QUERY && escapes.all(is_octet)
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    response
}
