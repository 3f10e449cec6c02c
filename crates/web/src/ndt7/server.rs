//! The far end, for any client of ndt7: `/ndt/v7/download` and `/ndt/v7/upload`.

mod carrier;

use crate::credentials::{Acceptor, Credentials};
use crate::guests::{self, Guests, Limits, Visits};
use crate::websocket::{self, Terms};
use bytes::Bytes;
use carrier::Carrier;
use far_ends::ndt7::{ConnectionInfo, LONGEST, LONGEST_MESSAGE, MessageSize, SUBPROTOCOL, Test};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use std::future::{pending, ready};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use units::HttpVersion;

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
/// Octets that wait unsent in TCP: enough for a path of 1 Gbit/s, and gone soon when the load ends.
const MOST_UNSENT: u32 = 256 << 10;

/// A server at work.
pub struct Server {
    listener: TcpListener,
    acceptor: Acceptor,
    filler: Bytes,
    visits: Visits,
}

impl Server {
    /// A server that takes connections of `listener`, and shows these credentials. What it sends depends on `seed`; `visits` is told of tests.
    ///
    /// # Errors
    /// When the key does not fit the certificate.
    pub fn new(
        listener: TcpListener,
        credentials: &Credentials,
        seed: u64,
        visits: Visits,
    ) -> io::Result<Self> {
        Ok(Self {
            listener,
            acceptor: Acceptor::new(credentials, HttpVersion::Http1)?,
            filler: websocket::filler(seed, MessageSize::LONGEST),
            visits,
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
            visits,
        } = self;
        let tests = Arc::new(Guests::default());
        guests::serve(listener, LIMITS, stop, |stream, guest| {
            let (acceptor, filler) = (acceptor.clone(), filler.clone());
            let desk = Desk {
                tests: Arc::clone(&tests),
                visits: Arc::clone(&visits),
            };
            async move {
                let _guest = guest;
                // Whoever goes away early needs no answer.
                let _ = connection(stream, acceptor, filler, desk).await;
            }
        })
    }
}

/// Where tests are entered.
struct Desk {
    tests: Arc<Guests>,
    visits: Visits,
}

/// A connection with a client.
struct Connection {
    client: SocketAddr,
    desk: Desk,
    carrier: Carrier,
}

async fn connection(
    stream: tokio::net::TcpStream,
    acceptor: Acceptor,
    filler: Bytes,
    desk: Desk,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    // Where the kernel does not know it, more is left over at the end.
    let _ = sys::tcp::set_unsent_limit(&stream, MOST_UNSENT);
    let shown = |address: SocketAddr| {
        SocketAddr::new(address.ip().to_canonical(), address.port()).to_string()
    };
    let client = stream.peer_addr()?;
    let ends = ConnectionInfo {
        client: shown(stream.peer_addr()?),
        server: shown(stream.local_addr()?),
    };
    let stream = stream.into_std()?;
    let tcp = Arc::new(stream.try_clone()?);
    let stream = acceptor
        .accept(tokio::net::TcpStream::from_std(stream)?)
        .await?;
    let connection = Connection {
        client,
        desk,
        carrier: Carrier { tcp, ends, filler },
    };
    let answer = |request| ready(connection.answer(request));
    websocket::serve(stream, answer, pending()).await
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
        let Some(guest) = self.desk.tests.enter(self.client.ip(), TESTS) else {
            return plain(
                StatusCode::SERVICE_UNAVAILABLE,
                "all tests of this server are taken - try again later\n",
            );
        };
        let carrier = self.carrier.clone();
        let visits = Arc::clone(&self.desk.visits);
        let client = self.client;
        let what = match test {
            Test::Download => "ndt7 download",
            Test::Upload => "ndt7 upload",
        };
        let carry = async move |socket| {
            let _guest = guest;
            let _visit = visits(client, what);
            carrier.carry(socket, test).await;
        };
        websocket::upgrade(&mut request, TERMS, carry)
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

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    response
}
