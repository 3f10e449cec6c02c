//! What a connection goes through from its first octet until it is served or closed.

use crate::Error;
use crate::client_hello::{self, Wanted};
use crate::control::Control;
use crate::deadline::Deadline;
use crate::gate::{Gate, Pending};
use crate::hello::{Answer, Code, Hello, Refusal, VERSION, Welcome};
use crate::key::Secret;
use crate::limits::Limits;
use crate::registry::{Guest, Membership, Sessions};
use crate::server::{Event, ServerConfig, Service};
use crate::tag::DataKey;
use crate::tls::Proof;
use crate::wire::{MAGIC, Preamble};
use rustls::{Connection, ServerConnection};
use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use units::Instant;

/// First octet of a TLS handshake record (RFC 8446 section 5.1).
const TLS_HANDSHAKE: u8 = 0x16;
/// After this much silence on a control connection the other end is asked whether it is still
/// there, and again as often as `KEEPALIVE_TRIES`: a host that vanished is noticed in 20 s.
const KEEPALIVE: Duration = Duration::from_secs(5);
const KEEPALIVE_TRIES: u32 = 3;

/// What all connections of a server share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: ServerConfig,
    pub(crate) tls: Arc<rustls::ServerConfig>,
    pub(crate) gate: Gate,
    pub(crate) sessions: Sessions,
}

/// Finds out what a new connection is, and serves it or closes it.
pub(crate) fn receive(
    shared: &Shared,
    socket: Arc<TcpStream>,
    peer: SocketAddr,
    pending: Pending,
    service: &impl Service,
) {
    let by = sys::clock::now() + shared.config.admission.handshake;
    let deadline = Deadline::new(Arc::clone(&socket), by);
    let first = deadline.first_octet();
    pending.has_spoken();
    match first {
        Ok(Some(TLS_HANDSHAKE)) => {
            drop(deadline);
            match client_hello::peek(&socket, by) {
                Wanted::Control => {
                    if let Some((control, membership)) = greet(shared, socket, peer, by, service) {
                        drop(pending);
                        service.serve(control, Arc::clone(&membership.session));
                    }
                }
                Wanted::Web(token) => {
                    drop(pending);
                    let _ = hand_over(shared, socket, token, service);
                }
                Wanted::Nothing => {}
            }
        }
        Ok(Some(first)) if first == MAGIC[0] => {
            // Whatever is wrong with a data stream, it is closed without a word.
            let _ = take_stream(shared, deadline, socket);
        }
        _ => {}
    }
}

/// Handshake, hello, and welcome or refusal, all by `deadline`; `None` when it came to nothing. Why
/// it did is known to the client, which alone can do something about it.
fn greet(
    shared: &Shared,
    socket: Arc<TcpStream>,
    peer: SocketAddr,
    deadline: Instant,
    service: &impl Service,
) -> Option<(Control, Membership)> {
    tune(&socket).ok()?;
    let tls = ServerConnection::new(Arc::clone(&shared.tls)).ok()?;
    let tls = Connection::Server(tls);
    let mut control =
        Control::handshake(peer.to_string(), tls, Arc::clone(&socket), deadline).ok()?;
    let hello: Hello = control.recv_first_by(deadline).ok()?;
    let right = proofs(control.connection(), &shared.config.secrets).ok()?;
    let guest = Guest::new(peer, socket).ok()?;
    let (id, key) = (guest.id, guest.key);
    match judge(&shared.config, &hello, &right).and_then(|(protocol, proven)| {
        let (limits, admission) = (shared.config.limits, &shared.config.admission);
        let guest = Guest { proven, ..guest };
        Ok((protocol, shared.sessions.begin(guest, limits, admission)?))
    }) {
        Ok((protocol, membership)) => {
            let welcome = welcome(protocol, id, key, membership.session.limits, service);
            control.send_by(&Answer::Welcome(welcome), deadline).ok()?;
            Some((control, membership))
        }
        Err(refusal) => {
            service.note(&Event::Refused {
                peer,
                refusal: &refusal,
            });
            control.send_by(&Answer::Refused(refusal), deadline).ok()?;
            None
        }
    }
}

/// Gives a connection for a web page to whoever serves those; `None` when its session is gone or has
/// all it may have.
fn hand_over(
    shared: &Shared,
    socket: Arc<TcpStream>,
    token: u64,
    service: &impl Service,
) -> Option<()> {
    let session = shared.sessions.find(token)?;
    let slot = session.web_slot()?;
    let socket = Arc::into_inner(socket)?;
    socket.set_read_timeout(None).ok()?;
    service.web(socket, session, slot);
    Some(())
}

/// What a client that knows one of the secrets says on this connection.
fn proofs(connection: &Connection, secrets: &[Secret]) -> Result<Vec<Proof>, Error> {
    let secrets = secrets.iter();
    secrets
        .map(|secret| Proof::new(connection, secret))
        .collect()
}

/// The protocol to speak with the client, and which of the secrets it knows; or why it is refused. The version comes first: who
/// speaks another one may prove the key in another way.
fn judge(
    config: &ServerConfig,
    hello: &Hello,
    right: &[Proof],
) -> Result<(u16, Option<usize>), Refusal> {
    let protocol = hello
        .common_protocol()
        .ok_or_else(|| Refusal::new(Code::Version, "no protocol in common"))?;
    let said = hello.proof.as_ref();
    let proven = said.and_then(|proof| right.iter().position(|right| proof.matches(right)));
    match (proven, said) {
        (None, _) if config.open => Ok((protocol, None)),
        (Some(_), _) => Ok((protocol, proven)),
        (None, Some(_)) => Err(Refusal::new(Code::Key, "the key is not right")),
        (None, None) => Err(Refusal::new(Code::Key, "a key is needed")),
    }
}

fn welcome(
    protocol: u16,
    session: u64,
    data_key: DataKey,
    limits: Limits,
    service: &impl Service,
) -> Welcome {
    let host = service.host_facts();
    let stamp = sys::clock::stamp();
    Welcome {
        protocol,
        version: VERSION.to_owned(),
        session,
        data_key,
        limits,
        host,
        wall_ns: stamp.wall_ns,
        mono_ns: stamp.mono.as_nanos(),
    }
}

/// Short lines at once, and a client that vanished is noticed.
pub(crate) fn tune(socket: &TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    sys::tcp::keep_alive(socket, KEEPALIVE, KEEPALIVE_TRIES)
}

/// Reads the preamble and hands the stream to its session; `None` when it has none.
fn take_stream(shared: &Shared, mut deadline: Deadline, socket: Arc<TcpStream>) -> Option<()> {
    let mut octets = [0; Preamble::LEN];
    deadline.read_exact(&mut octets).ok()?;
    drop(deadline);
    let preamble = Preamble::parse(&octets).ok()?;
    let session = shared.sessions.find(preamble.session)?;
    Preamble::verify(&octets, &session.keys.to_server).ok()?;
    let socket = Arc::into_inner(socket)?;
    socket.set_read_timeout(None).ok()?;
    session.offer(preamble, socket, sys::clock::now());
    Some(())
}
