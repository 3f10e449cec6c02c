//! A page server as small as can be: HTTP/1.1 over TLS or not, one thread for each connection, and a
//! resolver that knows every name.

use hickory_proto::op::{Message, MessageType, ResponseCode};
use hickory_proto::rr::rdata::A;
use hickory_proto::rr::{RData, Record};
use isobath_web::browser::Proxied;
use isobath_web::{PageModel, Published, Site};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::collections::HashMap;
use std::io::{BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// The session whose pages are served.
const TOKEN: u64 = 0x0123_4567_89ab_cdef;

/// An answer: its type and its body.
pub(crate) type Page = (&'static str, String);

/// A server at work until the tests end.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) certificate: Vec<u8>,
    pub(crate) connections: Arc<AtomicUsize>,
    pub(crate) requests: Arc<AtomicUsize>,
    /// The most requests that waited at once.
    pub(crate) peak: Arc<AtomicUsize>,
}

/// How a server answers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manner {
    pub(crate) is_plain: bool,
    /// How long it thinks before each answer.
    pub(crate) delay: Duration,
    /// Paths that it never answers.
    pub(crate) silent_at: Option<&'static str>,
}

impl Server {
    pub(crate) fn start(pages: HashMap<String, Page>, manner: Manner) -> Self {
        Self::start_at(0, pages, manner)
    }

    /// At a port that its pages may name.
    pub(crate) fn start_at(port: u16, pages: HashMap<String, Page>, manner: Manner) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        let (config, certificate) = tls();
        let server = Self {
            address: listener.local_addr().unwrap(),
            certificate,
            connections: Arc::default(),
            requests: Arc::default(),
            peak: Arc::default(),
        };
        let (peak, waiting) = (server.peak.clone(), Arc::<AtomicUsize>::default());
        let (connections, requests) = (server.connections.clone(), server.requests.clone());
        let pages = Arc::new(pages);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                connections.fetch_add(1, Ordering::Relaxed);
                let (config, pages, requests) = (config.clone(), pages.clone(), requests.clone());
                let (peak, waiting) = (peak.clone(), waiting.clone());
                thread::spawn(move || {
                    let counters = [&*requests, &peak, &waiting];
                    stream.set_nodelay(true).unwrap();
                    if manner.is_plain {
                        serve(stream, &pages, manner, counters);
                    } else {
                        let tls = ServerConnection::new(config).unwrap();
                        serve(StreamOwned::new(tls, stream), &pages, manner, counters);
                    }
                });
            }
        });
        server
    }

    pub(crate) fn site(&self, resolver: SocketAddr) -> Proxied {
        Proxied {
            resolver,
            peer: self.address,
            certificate: self.certificate.clone(),
            class: None,
        }
    }

    pub(crate) fn url(&self, host: &str) -> String {
        format!(
            "https://{host}.0123456789abcdef.isobath.test:{}/",
            self.address.port()
        )
    }
}

fn tls() -> (Arc<ServerConfig>, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed(["isobath.test".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let certificate = made.cert.der().clone();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    (Arc::new(config), certificate.to_vec())
}

/// Answers one request after the other.
fn serve(
    stream: impl Read + Write,
    pages: &HashMap<String, Page>,
    manner: Manner,
    [requests, peak, waiting]: [&AtomicUsize; 3],
) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let path = read_request(&mut stream)?;
        requests.fetch_add(1, Ordering::Relaxed);
        if manner.silent_at == Some(path.as_str()) {
            thread::park();
        }
        let now_waiting = waiting.fetch_add(1, Ordering::Relaxed) + 1;
        peak.fetch_max(now_waiting, Ordering::Relaxed);
        thread::park_timeout(manner.delay);
        waiting.fetch_sub(1, Ordering::Relaxed);
        let missing = ("text/plain", "not here".to_owned());
        let (status, (kind, body)) = match pages.get(&path) {
            Some(page) => ("200 OK", page),
            None => ("404 Not Found", &missing),
        };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
             Cache-Control: max-age=3600\r\n\r\n"
        );
        let stream = stream.get_mut();
        stream.write_all((head + body).as_bytes()).ok()?;
        stream.flush().ok()?;
    }
}

fn read_request(stream: &mut impl std::io::BufRead) -> Option<String> {
    let mut first = String::new();
    stream
        .read_line(&mut first)
        .ok()
        .filter(|length| *length > 0)?;
    let path = first.split(' ').nth(1)?.to_owned();
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        stream
            .read_line(&mut line)
            .ok()
            .filter(|length| *length > 0)?;
    }
    Some(path)
}

/// The crate's own server with one page, at a port of its own.
pub(crate) struct ModelSite {
    pub(crate) url: String,
    address: SocketAddr,
    certificate: Vec<u8>,
    _published: Published,
}

impl ModelSite {
    pub(crate) fn start(model: PageModel) -> Self {
        let made = rcgen::generate_simple_self_signed(["isobath".to_owned()]).unwrap();
        let certificate = made.cert.der().to_vec();
        let site = Site::start(&certificate, &made.signing_key.serialize_der(), None).unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let url = model.url(0, TOKEN, address.port());
        let published = site.publish(TOKEN, Ipv4Addr::LOCALHOST.into(), model);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                site.take(stream, TOKEN, ());
            }
        });
        Self {
            url,
            address,
            certificate,
            _published: published,
        }
    }

    pub(crate) fn proxied(&self, resolver: SocketAddr) -> Proxied {
        Proxied {
            resolver,
            peer: self.address,
            certificate: self.certificate.clone(),
            class: None,
        }
    }
}

/// A resolver that answers every question about IPv4 with 127.0.0.1, or refuses.
pub(crate) struct Resolver {
    pub(crate) address: SocketAddr,
    pub(crate) questions: Arc<AtomicUsize>,
}

impl Resolver {
    pub(crate) fn start(response: ResponseCode) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = socket.local_addr().unwrap();
        let questions = Arc::<AtomicUsize>::default();
        let asked = questions.clone();
        thread::spawn(move || {
            let mut datagram = [0; 1500];
            while let Ok((length, from)) = socket.recv_from(&mut datagram) {
                asked.fetch_add(1, Ordering::Relaxed);
                let query = Message::from_vec(&datagram[..length]).unwrap();
                let answer = answer(query, response);
                socket.send_to(&answer.to_vec().unwrap(), from).unwrap();
            }
        });
        Self { address, questions }
    }
}

fn answer(mut message: Message, response: ResponseCode) -> Message {
    message.metadata.message_type = MessageType::Response;
    message.metadata.response_code = response;
    if response == ResponseCode::NoError {
        let name = message.queries[0].name().clone();
        let here = RData::A(A(Ipv4Addr::LOCALHOST));
        message.answers.push(Record::from_rdata(name, 0, here));
    }
    message
}

/// An address of this host at which nobody listens.
pub(crate) fn nobody() -> SocketAddr {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .unwrap()
        .local_addr()
        .unwrap()
}
