//! The server of pages: one thread, all connections of all sessions.
//!
//! Whoever listens on the port looks at a connection's `ClientHello`, without taking it, and hands the
//! connection over with the session's token ([`Site::take`]). From there on a page is served as long as
//! it is published ([`Site::publish`]): TLS 1.3 with ALPN `h2` or `http/1.1`, content made up by
//! the page model. Where it has a UDP socket, QUIC carries the same with ALPN `h3`: the token is in the handshake's name there, too. With
//! ALPN `isobath` it carries loads ([`crate::bulk`]).
//! When its [`Published`] is dropped, all its connections end.
//!
//! # Bounds
//! 256 connections to a token; 16 KiB of request header, 64 fields; 256 requests at once on a connection of
//! HTTP/2 or HTTP/3; 10 s for the handshake (15 s by QUIC) and 60 s without an octet in either direction. Nothing is kept
//! for a token that is not published, and no body is held in memory.
//!
//! By HTTP/3 a client may send 4 MiB and a quarter of what it gets: the library keeps a frame until it is whole. A server of QUIC answers a
//! client's first packet with up to three times its length (RFC 9000 section 8.1): here only a host that has a page or a load, which
//! has shown by TCP that it is there, and while fewer than 512 connections are open. From any other a token is wanted first (section
//! 8.1.2), in an answer that is shorter than the question. While nothing is published the kernel drops what arrives.

mod idle;
mod respond;
mod serve;
mod udp;

pub use respond::{PROBE_ANSWER, PROBE_PATH};

use crate::bulk::{self, Bulk, Expected, Loads};
use crate::credentials::Credentials;
use crate::model::PageModel;
use crate::quic::{self, Server, Windows};
use crate::tls;
use serve::{Arrival, serve};
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use sys::udp::UdpSocket;
use thiserror::Error;
use tokio::sync::{mpsc, watch};
use tokio_rustls::TlsAcceptor;
use units::HttpVersion;

/// A browser has at most 256 connections in all (Chromium's `ClientSocketPoolManager`).
const MAX_CONNECTIONS: usize = 256;

/// By QUIC. Requests are short; a load that comes has another window ([`Bulk::receive`]), which is its stream's, too.
const WINDOWS: Windows = Windows {
    of_stream: bulk::WINDOW,
    of_connection: 256 << 10,
    ahead: 128 << 10,
    has_datagrams: false,
};

/// Why no pages can be served.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SiteError {
    /// TLS does not take the certificate or its key.
    #[error("the server's certificate cannot serve web pages: {0}")]
    Certificate(#[from] rustls::Error),
    /// The system gives no thread or no descriptors, or QUIC is not to be had.
    #[error("cannot start to serve web pages: {0}")]
    Start(#[from] io::Error),
}

/// A server of generated pages. Dropped, it ends all its connections and its thread.
#[derive(Debug)]
pub struct Site {
    pages: Pages,
    /// `None` only while it is dropped.
    arrivals: Option<mpsc::UnboundedSender<Arrival>>,
    thread: Option<JoinHandle<()>>,
}

/// What is published.
#[derive(Clone, Debug)]
pub(crate) struct Pages(Arc<Publisher>);

#[derive(Debug)]
struct Publisher {
    offered: Mutex<Offered>,
    /// Nothing arrives at it while nothing is published.
    quic: Option<Arc<UdpSocket>>,
}

/// By token.

#[derive(Debug, Default)]
struct Offered {
    pages: HashMap<u64, Arc<Page>>,
    loads: HashMap<u64, Expected>,
}

/// A page that is published, and what all its connections share.
#[derive(Debug)]
pub(crate) struct Page {
    token: u64,
    /// The client's, as its session has it.
    peer: IpAddr,
    model: PageModel,
    connections: AtomicUsize,
    ended: watch::Sender<bool>,
}

/// Keeps a page published; withdraws it and ends its connections when dropped.
#[derive(Debug)]
pub struct Published {
    page: Arc<Page>,
    pages: Pages,
}

/// One of the connections that a page may have; free again when dropped.
#[derive(Debug)]
pub(crate) struct Place(Arc<Page>);

impl Site {
    /// Starts to serve, with a certificate and its private key in DER form, and by QUIC where there is a socket for that. Nothing is
    /// published yet.
    ///
    /// # Errors
    /// [`SiteError::Certificate`] when TLS does not take them; [`SiteError::Start`] when the system
    /// gives no thread, or no QUIC: none but Linux does.
    pub fn start(
        certificate: &[u8],
        key: &[u8],
        quic: Option<Arc<UdpSocket>>,
    ) -> Result<Self, SiteError> {
        let credentials =
            Credentials::from_der(certificate, key).map_err(rustls::Error::General)?;
        let acceptor = TlsAcceptor::from(Arc::new(tls::server_config(&credentials)?));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        if let Some(socket) = &quic {
            quic::gate(socket, false);
        }
        let pages = Pages(Arc::new(Publisher {
            offered: Mutex::default(),
            quic: quic.clone(),
        }));
        let server = {
            let _inside = runtime.enter();
            let protocols = vec![tls::alpn(HttpVersion::H3), bulk::ALPN.to_vec()];
            let server = |socket| Server::new(socket, &credentials, WINDOWS, protocols);
            quic.map(server).transpose()?.map(Arc::new)
        };
        let published = pages.clone();
        // Bounded in fact: what is sent holds one of a page's places.
        let (arrivals, mut arrived) = mpsc::unbounded_channel();
        let work = move || {
            runtime.block_on(async {
                if let Some(server) = server.clone() {
                    tokio::spawn(udp::serve(server, published));
                }
                while let Some(arrival) = arrived.recv().await {
                    tokio::spawn(serve(arrival, acceptor.clone()));
                }
                if let Some(server) = server {
                    server.endpoint.close(quic::NO_ERROR, b"");
                    quic::flush().await;
                }
            });
        };
        let thread = thread::Builder::new().name("web".to_owned()).spawn(work)?;
        Ok(Self {
            pages,
            arrivals: Some(arrivals),
            thread: Some(thread),
        })
    }

    /// Publishes a page for the session `token`, whose client is `peer`, in place of any that was there.
    #[must_use = "a page is withdrawn when this is dropped"]
    pub fn publish(&self, token: u64, peer: IpAddr, model: PageModel) -> Published {
        let page = Arc::new(Page {
            token,
            peer: peer.to_canonical(),
            model,
            connections: AtomicUsize::new(0),
            ended: watch::channel(false).0,
        });
        let insert = |offered: &mut Offered| offered.pages.insert(token, Arc::clone(&page));
        let before = self.pages.change(insert);
        if let Some(before) = before {
            before.ended.send_replace(true);
        }
        let pages = self.pages.clone();
        Published { page, pages }
    }

    /// The loads by QUIC of the session `token`, whose client is `peer`, from now on, in place of any that were asked for before.
    pub fn loads(&self, token: u64, peer: IpAddr) -> Loads {
        let (sender, arrived) = sync_channel(MAX_CONNECTIONS);
        let expected = Expected {
            peer: peer.to_canonical(),
            arrived: sender,
        };
        self.pages
            .change(|offered| offered.loads.insert(token, expected));
        Loads {
            token,
            pages: self.pages.clone(),
            arrived,
        }
    }

    /// Serves a connection of whose octets none has been taken. `held` is dropped when the connection
    /// ends, which is at once when nothing is published for `token` or it has 256 connections.
    ///
    /// Answers get the DSCP with which the connection arrived.
    pub fn take(&self, socket: TcpStream, token: u64, held: impl Send + 'static) {
        let Some(place) = self.pages.find(token).and_then(Place::of) else {
            return;
        };
        if prepare(&socket).is_err() {
            return;
        }
        let arrival = Arrival {
            socket,
            place,
            held: Box::new(held),
        };
        if let Some(arrivals) = &self.arrivals {
            // The thread ends after the channel; the connection is closed otherwise.
            let _ = arrivals.send(arrival);
        }
    }
}

/// For the runtime; small answers leave at once, marked like the question.
fn prepare(socket: &TcpStream) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    socket.set_nodelay(true)?;
    if let Ok(Some(class)) = sys::tcp::accepted_class(socket) {
        // A system that forbids the mark still serves.
        let _ = sys::tcp::set_traffic_class(socket, class);
    }
    Ok(())
}

impl Drop for Site {
    fn drop(&mut self) {
        self.arrivals = None;
        if let Some(thread) = self.thread.take() {
            // It has panicked, perhaps; there is nothing left to end then.
            let _ = thread.join();
        }
    }
}

impl Pages {
    fn find(&self, token: u64) -> Option<Arc<Page>> {
        self.lock().pages.get(&token).map(Arc::clone)
    }

    /// Where the loads of the session `token` go.
    fn load(&self, token: u64) -> Option<SyncSender<Bulk>> {
        let offered = self.lock();
        let expected = offered.loads.get(&token)?;
        Some(expected.arrived.clone())
    }

    pub(crate) fn expect_no_more(&self, token: u64) {
        self.change(|offered| offered.loads.remove(&token));
    }

    fn change<T>(&self, change: impl FnOnce(&mut Offered) -> T) -> T {
        let mut offered = self.lock();
        let before = offered.is_empty();
        let changed = change(&mut offered);
        let now = offered.is_empty();
        if let Some(socket) = self.0.quic.as_ref().filter(|_| now != before) {
            quic::gate(socket, !now);
        }
        changed
    }

    /// Whether there is nothing to be had.
    fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Whether there is something for the client at `address`.
    fn has_peer(&self, address: IpAddr) -> bool {
        let (address, offered) = (address.to_canonical(), self.lock());
        let pages = offered.pages.values().map(|page| page.peer);
        let mut peers = pages.chain(offered.loads.values().map(|load| load.peer));
        peers.any(|peer| peer == address)
    }

    fn lock(&self) -> MutexGuard<'_, Offered> {
        let offered = self.0.offered.lock();
        offered.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Offered {
    fn is_empty(&self) -> bool {
        self.pages.is_empty() && self.loads.is_empty()
    }
}

impl Published {
    /// Connections that are open now.
    pub fn connections(&self) -> usize {
        self.page.connections.load(Ordering::Relaxed)
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        // Another page may have taken its place.
        let is_ours = |page: &Arc<Page>| Arc::ptr_eq(page, &self.page);
        self.pages.change(|offered| {
            if offered.pages.get(&self.page.token).is_some_and(is_ours) {
                offered.pages.remove(&self.page.token);
            }
        });
        self.page.ended.send_replace(true);
    }
}

impl Place {
    /// A place for one more connection to `page`; `None` when it has all it may.
    fn of(page: Arc<Page>) -> Option<Self> {
        let more = |open: usize| (open < MAX_CONNECTIONS).then_some(open + 1);
        page.connections
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .ok()?;
        Some(Self(page))
    }

    pub(crate) const fn page(&self) -> &Arc<Page> {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
