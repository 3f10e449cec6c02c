//! The server of pages: one thread, all connections of all sessions.
//!
//! Whoever listens on the port looks at a connection's `ClientHello`, without taking it, and hands the
//! connection over with the session's token ([`Site::take`]). From there on a page is served as long as
//! it is published ([`Site::publish`]): TLS 1.3 with ALPN `h2` or `http/1.1`, content made up by
//! the page model. When its [`Published`] is dropped, all its connections end.
//!
//! # Bounds
//! 256 connections to a token; 16 KiB of request header, 64 fields; 256 requests at once on a connection of
//! HTTP/2; 10 s for the handshake and 60 s without an octet in either direction. Nothing is kept
//! for a token that is not published, and no body is held in memory.

mod idle;
mod respond;
mod serve;

pub(crate) use respond::{PROBE_ANSWER, PROBE_PATH};

use crate::credentials::Credentials;
use crate::model::PageModel;
use crate::tls;
use serve::{Arrival, serve};
use std::collections::HashMap;
use std::io;
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use thiserror::Error;
use tokio::sync::{mpsc, watch};
use tokio_rustls::TlsAcceptor;

/// A browser has at most 256 connections in all (Chromium's `ClientSocketPoolManager`).
const MAX_CONNECTIONS: usize = 256;

/// Why no pages can be served.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SiteError {
    /// TLS does not take the certificate or its key.
    #[error("the server's certificate cannot serve web pages: {0}")]
    Certificate(#[from] rustls::Error),
    /// The system gives no thread or no descriptors.
    #[error("cannot start the thread that serves web pages: {0}")]
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

/// The published pages, by token.
#[derive(Clone, Debug, Default)]
struct Pages(Arc<Mutex<HashMap<u64, Arc<Page>>>>);

/// A page that is published, and what all its connections share.
#[derive(Debug)]
pub(crate) struct Page {
    token: u64,
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
    /// Starts to serve, with a certificate and its private key in DER form. Nothing is published yet.
    ///
    /// # Errors
    /// [`SiteError::Certificate`] when TLS does not take them; [`SiteError::Start`] when the system
    /// gives no thread.
    pub fn start(certificate: &[u8], key: &[u8]) -> Result<Self, SiteError> {
        let credentials =
            Credentials::from_der(certificate, key).map_err(rustls::Error::General)?;
        let acceptor = TlsAcceptor::from(Arc::new(tls::server_config(&credentials)?));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        // Bounded in fact: what is sent holds one of a page's places.
        let (arrivals, mut arrived) = mpsc::unbounded_channel();
        let work = move || {
            runtime.block_on(async {
                while let Some(arrival) = arrived.recv().await {
                    tokio::spawn(serve(arrival, acceptor.clone()));
                }
            });
        };
        let thread = thread::Builder::new().name("web".to_owned()).spawn(work)?;
        Ok(Self {
            pages: Pages::default(),
            arrivals: Some(arrivals),
            thread: Some(thread),
        })
    }

    /// Publishes a page for the session `token`, in place of any that was there.
    #[must_use = "a page is withdrawn when this is dropped"]
    pub fn publish(&self, token: u64, model: PageModel) -> Published {
        let page = Arc::new(Page {
            token,
            model,
            connections: AtomicUsize::new(0),
            ended: watch::channel(false).0,
        });
        let before = self.pages.lock().insert(token, Arc::clone(&page));
        if let Some(before) = before {
            before.ended.send_replace(true);
        }
        let pages = self.pages.clone();
        Published { page, pages }
    }

    /// Serves a connection of whose octets none has been taken. `held` is dropped when the connection
    /// ends, which is at once when nothing is published for `token` or it has 256 connections.
    ///
    /// Answers get the DSCP with which the connection arrived.
    pub fn take(&self, socket: TcpStream, token: u64, held: impl Send + 'static) {
        let Some(page) = self.pages.lock().get(&token).map(Arc::clone) else {
            return;
        };
        let Some(place) = Place::of(page) else { return };
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
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<Page>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut pages = self.pages.lock();
        // Another page may have taken its place.
        let is_ours = |page: &Arc<Page>| Arc::ptr_eq(page, &self.page);
        if pages.get(&self.page.token).is_some_and(is_ours) {
            pages.remove(&self.page.token);
        }
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
