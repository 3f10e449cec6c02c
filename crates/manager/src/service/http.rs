//! The endpoints of the service, by HTTP: a Unix socket for its owner, a port for who has the key, and one for counters alone.

use super::command::{Command, Handle as Desk, Query, Sink, Told};
use super::desk::LIMITS;
use super::events::{Asking, Events, Octets};
use super::openapi;
use super::parameters::Asked;
use super::places::{Entry, Places};
use super::response::{error, gone, json, plain, response, whole};
use super::rights::{has_key, is_for_this_host};
use super::survey::Survey;
use super::wire::Event;
use crate::engine::Handle as Engine;
use crate::metrics;
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use sys::clock;
use sys::local::UnixListener;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

/// Connections at once to each endpoint.
const MOST_CONNECTIONS: usize = 160;
/// Octets of a request's head.
const LONGEST_REQUEST: usize = 8 << 10;
/// How long a request may take to come, and a connection for counters may last.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a connection may last that is not one for events: longer than the longest query.
const LONGEST: Duration = Duration::from_secs(660);
/// After this rest a connection is tried again for which there was no descriptor, or no place.
const AGAIN: Duration = Duration::from_millis(50);
/// Events that may wait for a client: who does not read more is forgotten.
const MOST_EVENTS: usize = 16;

/// Who may come in by a endpoint, and what for.
#[derive(Clone)]
pub(crate) enum Access {
    /// Whoever may open the socket.
    Owner,
    /// Who has this key.
    Key(Arc<str>),
    /// Anybody, to fetch counters.
    Counters,
}

/// What is behind all endpoints.
pub(crate) struct House {
    pub engine: Engine,
    pub desk: Desk,
    tokens: AtomicU64,
}

/// A socket that is listened on.
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// What a path of a URL is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Route<'a> {
    Estimate(&'a str),
    Watch(&'a str),
    Paths,
    Description,
    Counters,
}

impl<'a> Route<'a> {
    pub(super) fn of(path: &'a str) -> Option<Self> {
        match path {
            "/v1/paths" => Some(Self::Paths),
            "/openapi.json" => Some(Self::Description),
            "/metrics" => Some(Self::Counters),
            _ => {
                let watch = path.strip_prefix("/v1/watch/").map(Self::Watch);
                watch.or_else(|| path.strip_prefix("/v1/estimates/").map(Self::Estimate))
            }
        }
    }
}

impl House {
    pub(crate) const fn new(engine: Engine, desk: Desk) -> Self {
        Self {
            engine,
            desk,
            tokens: AtomicU64::new(0),
        }
    }

    /// Serves all endpoints in a thread that ends with the program.
    ///
    /// # Errors
    /// When the system gives no thread or no descriptors.
    pub(crate) fn open(self, endpoints: Vec<(Listener, Access)>) -> std::io::Result<()> {
        for (listener, _) in &endpoints {
            match listener {
                Listener::Tcp(listener) => listener.set_nonblocking(true)?,
                Listener::Unix(listener) => listener.set_nonblocking(true)?,
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let house = Arc::new(self);
        let work = move || {
            runtime.block_on(async {
                for (listener, access) in endpoints {
                    tokio::spawn(Arc::clone(&house).accept(listener, access));
                }
                std::future::pending::<()>().await;
            });
        };
        let thread = thread::Builder::new().name("http".to_owned());
        sys::threads::spawn(thread, work)
    }

    async fn accept(self: Arc<Self>, listener: Listener, access: Access) {
        let places = Arc::new(Mutex::new(Places::new(MOST_CONNECTIONS)));
        match listener {
            Listener::Tcp(listener) => {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
                    return;
                };
                loop {
                    let Ok((stream, from)) = listener.accept().await else {
                        tokio::time::sleep(AGAIN).await;
                        continue;
                    };
                    let client = hashed(&units::source(from.ip()));
                    let entry = vacant(&places, client).await;
                    self.clone()
                        .welcome(stream, client, access.clone(), (entry, &places));
                }
            }
            // Of which there are none.
            #[cfg(not(unix))]
            Listener::Unix(_) => {}
            #[cfg(unix)]
            Listener::Unix(listener) => {
                let Ok(listener) = tokio::net::UnixListener::from_std(listener) else {
                    return;
                };
                loop {
                    let Ok((stream, _)) = listener.accept().await else {
                        tokio::time::sleep(AGAIN).await;
                        continue;
                    };
                    let user = stream.peer_cred().map_or(u32::MAX, |peer| peer.uid());
                    let client = hashed(&user);
                    let entry = vacant(&places, client).await;
                    self.clone()
                        .welcome(stream, client, access.clone(), (entry, &places));
                }
            }
        }
    }

    fn welcome<S>(
        self: Arc<Self>,
        stream: S,
        client: u64,
        access: Access,
        (entry, places): (Entry<AbortHandle>, &Shared),
    ) where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        if let Some(closed) = entry.closes {
            closed.abort();
        }
        let place = Held {
            places: Arc::clone(places),
            number: entry.number,
        };
        let task = tokio::spawn(self.serve(stream, client, access, place));
        locked(places).keep(entry.number, task.abort_handle());
    }

    /// Serves a connection: one request. Its troubles are its own.
    async fn serve<S>(self: Arc<Self>, stream: S, client: u64, access: Access, place: Held)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let longest = match access {
            Access::Counters => PATIENCE,
            _ => LONGEST,
        };
        let lasts = Arc::new(AtomicBool::new(false));
        let visit = Visit {
            house: self,
            access,
            client,
            place,
            lasts: Arc::clone(&lasts),
        };
        let visit = Arc::new(visit);
        let service = service_fn(move |request| {
            let visit = Arc::clone(&visit);
            async move { Ok::<_, Infallible>(visit.answer(request).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(PATIENCE)
            .keep_alive(false)
            .max_buf_size(LONGEST_REQUEST)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        while tokio::time::timeout(longest, &mut connection)
            .await
            .is_err()
        {
            if !lasts.load(Ordering::Relaxed) {
                break;
            }
        }
    }
}

/// The places of an endpoint.
type Shared = Arc<Mutex<Places<AbortHandle>>>;

/// A place for a connection of `client`; those behind it wait as well.
async fn vacant(places: &Shared, client: u64) -> Entry<AbortHandle> {
    loop {
        if let Some(entry) = locked(places).enter(client, clock::now()) {
            return entry;
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// A connection's place; free again when dropped.
struct Held {
    places: Shared,
    number: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        locked(&self.places).leave(self.number);
    }
}

fn locked<H>(places: &Mutex<Places<H>>) -> MutexGuard<'_, Places<H>> {
    places.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection.
struct Visit {
    house: Arc<House>,
    access: Access,
    client: u64,
    place: Held,
    /// Whether it is one for events, which may last.
    lasts: Arc<AtomicBool>,
}

impl Visit {
    async fn answer(&self, request: Request<Incoming>) -> Response<Octets> {
        let route = Route::of(request.uri().path());
        let allowed = match (&self.access, route) {
            (Access::Key(key), _) => has_key(&request, key),
            (Access::Counters, _) if !is_for_this_host(&request) => {
                let line = "unexpected Host header - use this host's address or name";
                return error(StatusCode::MISDIRECTED_REQUEST, line);
            }
            (Access::Counters, route) => {
                if route != Some(Route::Counters) {
                    return plain(StatusCode::NOT_FOUND, "GET /metrics\n".to_owned());
                }
                true
            }
            (Access::Owner, _) => true,
        };
        if !allowed {
            let line = "give the service's key: Authorization: Bearer KEY";
            return error(StatusCode::UNAUTHORIZED, line);
        }
        // Anybody may ask for counters, so who does makes room for others like who does not.
        if !matches!(self.access, Access::Counters) {
            locked(&self.place.places).has_asked(self.place.number);
        }
        if request.method() != Method::GET {
            return error(
                StatusCode::METHOD_NOT_ALLOWED,
                "method not allowed - use GET",
            );
        }
        let query = request.uri().query().unwrap_or_default();
        match route {
            Some(Route::Estimate(what)) => self.estimate(what, query).await,
            Some(Route::Watch(what)) => self.watch(what, query).await,
            Some(Route::Paths) => match self.survey().await {
                Some(survey) => json(StatusCode::OK, &survey.paths),
                None => gone(),
            },
            Some(Route::Description) => json(StatusCode::OK, &openapi::document()),
            Some(Route::Counters) => self.counters().await,
            None => error(
                StatusCode::NOT_FOUND,
                "no such resource - GET /v1/estimates/WHAT?to=PEER, /v1/watch/WHAT?to=PEER, /v1/paths, /openapi.json or /metrics",
            ),
        }
    }

    async fn estimate(&self, what: &str, query: &str) -> Response<Octets> {
        match self.ask(what, query, false) {
            Ok((_asking, mut news)) => news.recv().await.map_or_else(gone, |told| whole(&told)),
            Err(response) => response,
        }
    }

    async fn watch(&self, what: &str, query: &str) -> Response<Octets> {
        let (asking, mut news) = match self.ask(what, query, true) {
            Ok(asked) => asked,
            Err(response) => return response,
        };
        match news.recv().await {
            Some(told) if told.event == Event::Taken => {
                self.lasts.store(true, Ordering::Relaxed);
                let events = Octets::Events(Events::new(news, asking));
                let kind = HeaderValue::from_static("text/event-stream");
                let mut response = response(StatusCode::OK, kind, events);
                let no_store = HeaderValue::from_static("no-store");
                response.headers_mut().insert(CACHE_CONTROL, no_store);
                response
            }
            Some(told) => whole(&told),
            None => gone(),
        }
    }

    /// Hands a query to the desk.
    #[expect(
        clippy::result_large_err,
        reason = "a response is made once for each request"
    )]
    fn ask(
        &self,
        what: &str,
        query: &str,
        is_watch: bool,
    ) -> Result<(Asking, mpsc::Receiver<Told>), Response<Octets>> {
        let asked = Asked::parse(what, query, is_watch);
        let asked = asked.map_err(|line| error(StatusCode::BAD_REQUEST, &line))?;
        let (sink, news) = mpsc::channel(MOST_EVENTS);
        let token = self.house.tokens.fetch_add(1, Ordering::Relaxed);
        let query = Query {
            client: self.client,
            token: Some(token),
            asked,
            text: query.to_owned(),
            sink: Sink::Client(sink),
        };
        let desk = self.house.desk.clone();
        if !desk.try_tell(Command::Ask(Box::new(query))) {
            let line = format!(
                "more than {} queries are waiting - ask again in a few seconds",
                LIMITS.queries
            );
            return Err(error(StatusCode::TOO_MANY_REQUESTS, &line));
        }
        Ok((Asking { desk, token }, news))
    }

    async fn survey(&self) -> Option<Survey> {
        let (sender, survey) = oneshot::channel();
        self.house.desk.try_tell(Command::Survey(sender));
        survey.await.ok()
    }

    async fn counters(&self) -> Response<Octets> {
        let survey = self.survey().await;
        let engine = self.house.engine.clone();
        // The engine answers when it comes to it.
        match (
            tokio::task::spawn_blocking(move || engine.ask()).await,
            survey,
        ) {
            (Ok(Some(snapshot)), Some(survey)) => {
                let text = metrics::text(&snapshot) + &metrics::of_service(&survey);
                plain(StatusCode::OK, text)
            }
            _ => gone(),
        }
    }
}

fn hashed(client: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    client.hash(&mut hasher);
    hasher.finish()
}
