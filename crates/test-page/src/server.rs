//! Answers by HTTP/1.1, and by WebSocket where that is asked for.

use crate::desk::Desk;
use crate::{conversation, datagrams, load, page_loads, plan};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST,
    HeaderValue, ORIGIN,
};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use kit::also::Page;
use kit::far::StopOnDrop;
use kit::secret::secret;
use record::Record;
use report::Subject;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::sync::Notify;
use units::HttpVersion;
use web::guests::{self, Guest, Limits, Visits};
use web::websocket::{self, Socket, Terms, told};
use web::webtransport::{self, CertificateHash};
use web::{Acceptor, Credentials};

/// A run has nine connections, and a page is loaded by six more; no run takes longer.
const LIMITS: Limits = Limits {
    most: 160,
    most_from_one: 48,
    longest: Duration::from_secs(120),
};
/// Sessions of datagrams: a run has one.
const SESSIONS: Limits = Limits {
    most: 32,
    most_from_one: 8,
    longest: LIMITS.longest,
};
const WEBSOCKET: Terms = Terms {
    subprotocol: None,
    // A browser's findings are the longest.
    longest_message: 1 << 20,
    longest: LIMITS.longest,
};
/// Octets that wait unsent in TCP: enough for a path of 1 Gbit/s, and gone at once when the load ends.
const MOST_UNSENT: u32 = 256 << 10;
const GONE: &str = "there is no such record here any more - ask whoever runs this server for it\n";
/// The page asks only its own server, and runs only its own scripts.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; worker-src 'self'; frame-src 'self'; connect-src 'self' ws: wss:; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// What is loaded as a page during a run loads its own objects, in a frame of the page's.
const FRAME_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// A page that takes connections of `listener` and datagrams of `socket`, on the port of the same number, and keeps records below `records`, by HTTPS where it has credentials; `visits` is told of runs.
///
/// # Errors
/// When the key does not fit the certificate, or none can be made for datagrams.
pub fn make(
    listener: TcpListener,
    socket: UdpSocket,
    records: PathBuf,
    credentials: Option<&Credentials>,
    visits: Visits,
) -> io::Result<Box<dyn Page>> {
    let new = |credentials| Acceptor::new(credentials, HttpVersion::Http1);
    let acceptor = credentials.map(new).transpose()?;
    let desk = Arc::new(Desk::new(records, plan::plan, visits));
    let datagrams = Some(webtransport::Server::new(socket)?);
    Ok(Box::new(TestPage {
        listener,
        acceptor,
        datagrams,
        desk,
    }))
}

/// The page at work.
struct TestPage {
    listener: TcpListener,
    acceptor: Option<Acceptor>,
    datagrams: Option<webtransport::Server>,
    desk: Arc<Desk>,
}

/// A connection with a browser.
struct Connection {
    desk: Arc<Desk>,
    peer: SocketAddr,
    here: SocketAddr,
    tcp: Arc<TcpStream>,
    filler: Bytes,
    /// What datagrams are encrypted with, on the UDP port of the same number.
    certificate: Option<CertificateHash>,
    /// A WebSocket has it, too: to HTTP the connection is over then.
    guest: Arc<Guest>,
    /// Closes it when it has loaded a page.
    enough: Arc<Notify>,
}

async fn connection(
    stream: tokio::net::TcpStream,
    acceptor: Option<Acceptor>,
    desk: Arc<Desk>,
    filler: Bytes,
    certificate: Option<CertificateHash>,
    guest: Guest,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    // Where the kernel does not know it, more is left over at the end.
    let _ = sys::tcp::set_unsent_limit(&stream, MOST_UNSENT);
    let canonical =
        |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
    let (peer, here) = (
        canonical(stream.peer_addr()?),
        canonical(stream.local_addr()?),
    );
    // A second handle, for what the kernel tells of the connection.
    let stream = stream.into_std()?;
    let tcp = Arc::new(stream.try_clone()?);
    let stream = tokio::net::TcpStream::from_std(stream)?;
    let enough = Arc::new(Notify::new());
    let connection = Connection {
        desk,
        peer,
        here,
        tcp,
        filler,
        certificate,
        guest: Arc::new(guest),
        enough: Arc::clone(&enough),
    };
    let answer = |request| connection.answer(request);
    let enough = enough.notified();
    match acceptor {
        Some(acceptor) => websocket::serve(acceptor.accept(stream).await?, answer, enough).await,
        None => websocket::serve(TokioIo::new(stream), answer, enough).await,
    }
}

/// Has the datagrams of the run that a session is for.
async fn measure(desk: Arc<Desk>, session: webtransport::Session) {
    let id = session.path.strip_prefix("/v1/datagrams/");
    let run = id.and_then(|id| desk.run(id));
    if let Some(run) = run.filter(|run| run.claim_datagrams()) {
        datagrams::carry(session, &run).await;
    }
}

impl Connection {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        if request.method() != Method::GET {
            return plain(
                StatusCode::METHOD_NOT_ALLOWED,
                "this server is asked by GET\n",
            );
        }
        let path = request.uri().path().to_owned();
        if let Some(id) = path.strip_prefix("/v1/records/") {
            return self.record(id).await;
        }
        if let Some(id) = path.strip_prefix("/v1/reports/") {
            return self.report(id).await;
        }
        if let Some(file) = path.strip_prefix("/v1/pages/") {
            return self.page(file).await;
        }
        match &*path {
            "/" => of_kind(
                "text/html; charset=utf-8",
                include_str!("../page/page.html"),
            ),
            "/style.css" => of_kind("text/css", include_str!("../page/style.css")),
            "/page.js" => script(include_str!("../page/page.js")),
            "/visit.js" => script(include_str!("../page/visit.js")),
            "/probe.js" => script(include_str!("../page/probe.js")),
            "/load.js" => script(include_str!("../page/load.js")),
            "/v1/test" => self.test(request),
            _ => match path.strip_prefix("/v1/load/") {
                Some(stream) => self.load(request, stream),
                None => plain(StatusCode::NOT_FOUND, "the page is at /\n"),
            },
        }
    }

    /// A run.
    fn test(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (desk, peer, here) = (Arc::clone(&self.desk), self.peer, self.here);
        let guest = Arc::clone(&self.guest);
        let certificate = self.certificate.as_ref();
        let certificate = certificate.filter(|_| self.desk.has_datagrams());
        let datagrams = certificate.map(CertificateHash::get);
        upgrade(request, async move |socket| {
            let _guest = guest;
            let admitted = desk.admit(peer);
            conversation::converse(socket, desk, here, datagrams, admitted).await;
        })
    }

    /// One stream of it: `RUN/STREAM`.
    fn load(&self, request: Request<Incoming>, stream: &str) -> Response<Full<Bytes>> {
        let named = stream.split_once('/');
        let named = named.and_then(|(run, id)| Some((self.desk.run(run)?, id.parse().ok()?)));
        let Some((run, id)) = named.filter(|(run, _)| run.begun().is_some()) else {
            return plain(StatusCode::NOT_FOUND, "there is no such run\n");
        };
        let (tcp, filler) = (Arc::clone(&self.tcp), self.filler.clone());
        let guest = Arc::clone(&self.guest);
        upgrade(request, async move |socket| {
            let _guest = guest;
            if let Some(stream) = run.claim(id) {
                load::carry(socket, &run, &stream, tcp, filler).await;
            }
        })
    }

    /// A file of the page that is loaded during a run: `RUN/LOAD/FILE`.
    async fn page(&self, path: &str) -> Response<Full<Bytes>> {
        let named = path.split_once('/');
        let named = named.and_then(|(run, file)| Some((self.desk.run(run)?, file)));
        let Some((run, file)) = named else {
            return plain(StatusCode::NOT_FOUND, "there is no such run\n");
        };
        let found = page_loads::file(file);
        let Some((load, file)) = found.filter(|_| run.begun().is_some()) else {
            return plain(StatusCode::NOT_FOUND, "not on this page\n");
        };
        run.loads_by(load, &self.enough);
        tokio::time::sleep(file.delay).await;
        let mut response = Response::new(Full::from(file.octets.clone()));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(file.media_type));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(
            CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(FRAME_POLICY),
        );
        response
    }

    /// The record of a run as one file, for whoever made it to keep.
    async fn record(&self, id: &str) -> Response<Full<Bytes>> {
        let Some(folder) = self.desk.record(id) else {
            return plain(StatusCode::NOT_FOUND, GONE);
        };
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let disposition = format!("attachment; filename=\"{name}.tar\"");
        let made = tokio::task::spawn_blocking(move || {
            let mut archive = Vec::new();
            record::pack(&folder, &mut archive).map(|()| archive)
        });
        match (made.await, HeaderValue::try_from(disposition)) {
            (Ok(Ok(archive)), Ok(disposition)) => {
                let mut response = Response::new(Full::from(archive));
                let headers = response.headers_mut();
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-tar"));
                headers.insert(CONTENT_DISPOSITION, disposition);
                response
            }
            _ => plain(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the record cannot be read\n",
            ),
        }
    }

    async fn report(&self, id: &str) -> Response<Full<Bytes>> {
        let Some(folder) = self.desk.record(id) else {
            return plain(StatusCode::NOT_FOUND, GONE);
        };
        let made = tokio::task::spawn_blocking(move || {
            let subject = Subject::from(Record::open(&folder)?);
            anyhow::Ok(report::render(&[subject], None)?)
        });
        match made.await {
            Ok(Ok(page)) => {
                let mut response = Response::new(Full::from(page));
                let kind = HeaderValue::from_static("text/html; charset=utf-8");
                response.headers_mut().insert(CONTENT_TYPE, kind);
                response
            }
            _ => plain(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the report cannot be made\n",
            ),
        }
    }
}

/// Answers a request for a WebSocket, and has `then` with it.
fn upgrade<F>(
    mut request: Request<Incoming>,
    then: impl FnOnce(Socket) -> F + Send + 'static,
) -> Response<Full<Bytes>>
where
    F: Future<Output = ()> + Send,
{
    if !is_own_page(&request) {
        return plain(
            StatusCode::FORBIDDEN,
            "another site's page may not measure here\n",
        );
    }
    websocket::upgrade(&mut request, WEBSOCKET, then)
}

/// Whether a browser asks for a page of this server, or a program asks that is no browser.
fn is_own_page(request: &Request<Incoming>) -> bool {
    let origin = told(request, ORIGIN);
    let origin = origin.map(|origin| origin.split_once("://").map_or(origin, |(_, host)| host));
    let is_host =
        |origin| told(request, HOST).is_some_and(|host| host.eq_ignore_ascii_case(origin));
    origin.is_none_or(is_host)
}

fn script(text: &'static str) -> Response<Full<Bytes>> {
    of_kind("text/javascript; charset=utf-8", text)
}

/// A file of the page itself, on a connection that is for nothing else: a run begins with new ones.
fn of_kind(kind: &'static str, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(text));
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = of_kind("text/plain; charset=utf-8", text);
    *response.status_mut() = status;
    response
}

impl Page for TestPage {
    fn local_addr(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    fn scheme(&self) -> &'static str {
        if self.acceptor.is_some() {
            "https"
        } else {
            "http"
        }
    }

    fn run(self: Box<Self>, stop: &AtomicBool) -> io::Result<()> {
        let Self {
            listener,
            acceptor,
            datagrams,
            desk,
        } = *self;
        let filler = websocket::filler(secret(), load::LONGEST);
        let certificate = datagrams
            .as_ref()
            .map(webtransport::Server::certificate_hash);
        std::thread::scope(|scope| {
            // What is started here ends with it, however it ends.
            let _stop = StopOnDrop(stop);
            if let Some(datagrams) = datagrams {
                let desk = Arc::clone(&desk);
                // Without them the page measures what it can.
                scope.spawn(move || {
                    let visited = Arc::clone(&desk);
                    let measure = move |session| measure(Arc::clone(&visited), session);
                    let _ = datagrams.run(SESSIONS, stop, measure);
                    desk.end_datagrams();
                });
            }
            guests::serve(listener, LIMITS, stop, |stream, guest| {
                let (acceptor, certificate) = (acceptor.clone(), certificate.clone());
                let (desk, filler) = (Arc::clone(&desk), filler.clone());
                async move {
                    // Whoever goes away early needs no answer.
                    let _ = connection(stream, acceptor, desk, filler, certificate, guest).await;
                }
            })
        })
    }
}

#[cfg(test)]
mod tests;
