//! The near end: finds a server, proves the key, and opens data streams.

use crate::Error;
use crate::address::{DEFAULT_PORT, Family, Target};
use crate::admit::tune;
use crate::control::Control;
use crate::hello::{Answer, Code, Hello, PROTOCOL, Refusal, VERSION, Welcome};
use crate::key::{AccessKey, Fingerprint};
use crate::tag::DataKeys;
use crate::tls::{self, Proof};
use crate::wire::Preamble;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use units::Instant;

/// A session, seen from the near end.
#[derive(Debug)]
pub struct Client {
    /// The conversation.
    pub control: Control,
    /// What the server said.
    pub welcome: Welcome,
    /// The address of the server that the control connection goes to.
    pub peer: SocketAddr,
    /// All addresses that the host has, `peer` among them: for measuring over the other protocol too.
    pub addresses: Vec<SocketAddr>,
    /// The certificate that the server showed, in DER form, and its SHA-256 fingerprint: whatever else the server serves
    /// by TLS shows the same.
    pub certificate: Vec<u8>,
    /// See `certificate`.
    pub fingerprint: Fingerprint,
    /// Opens data streams; may be shared among threads.
    pub dialer: Arc<Dialer>,
}

/// Opens the data streams of a session.
#[derive(Debug)]
pub struct Dialer {
    session: u64,
    keys: DataKeys,
    next_nonce: AtomicU64,
}

/// A data stream that has been opened. The socket blocks and has no time-outs.
#[derive(Debug)]
pub struct OpenStream {
    /// The connection, with the preamble sent.
    pub socket: TcpStream,
    /// Just before `connect` was called.
    pub started: Instant,
    /// Just after it returned: the round trip of the handshake lies between the two.
    pub established: Instant,
}

/// Begins a session with the server at `host` (`HOST`, `HOST:PORT` or `[IPv6]:PORT`), trying each of
/// its addresses (of `family`, if given) in turn. Without a `key` the server is believed to be
/// whatever answers, and lets us in only if it is open to all. Name resolution has its own time-outs;
/// everything after it is done within `timeout`.
///
/// # Errors
/// One line for each way it can go wrong: see [`Error`].
pub fn connect(
    host: &str,
    family: Option<Family>,
    key: Option<&AccessKey>,
    timeout: Duration,
) -> Result<Client, Error> {
    let target = Target::parse(host, DEFAULT_PORT)?;
    let addresses = target.resolve(family)?;
    let deadline = sys::clock::now() + timeout;
    let name = target.to_string();
    let (socket, peer) = reach(&name, &addresses, deadline)?;
    let (control, welcome) = greet(name, socket, key, deadline)?;
    let shown = control.connection().peer_certificates();
    let certificate = shown.and_then(|chain| chain.first());
    let certificate = certificate.map_or_else(Vec::new, |der| der.to_vec());
    let dialer = Arc::new(Dialer {
        session: welcome.session,
        keys: welcome.data_key.into(),
        next_nonce: AtomicU64::new(0),
    });
    Ok(Client {
        control,
        welcome,
        peer,
        addresses,
        fingerprint: tls::fingerprint(&certificate),
        certificate,
        dialer,
    })
}

impl Dialer {
    /// Opens data stream number `stream` of the plan, for `kind`, to `peer` (the server's address and
    /// port, by either protocol). `setup` is called on the new socket before it connects: the place to
    /// set DSCP, congestion control or buffers.
    ///
    /// # Errors
    /// [`Error::Unreachable`], [`Error::Timeout`], or [`Error::Io`] with what `setup` returned.
    pub fn open(
        &self,
        peer: SocketAddr,
        stream: u16,
        kind: u8,
        timeout: Duration,
        setup: impl FnOnce(&Socket) -> io::Result<()>,
    ) -> Result<OpenStream, Error> {
        let name = peer.to_string();
        let failed = |operation| {
            let name = name.clone();
            move |error| Error::from_io(operation, &name, error)
        };
        let socket = Socket::new(Domain::for_address(peer), Type::STREAM, Some(Protocol::TCP))
            .map_err(failed("open a socket to"))?;
        sys::tcp::adopt_congestion(&socket)
            .map_err(|error| failed("set options of")(io::Error::other(error)))?;
        setup(&socket).map_err(|source| Error::Io {
            operation: "prepare a stream to",
            peer: name.clone(),
            source,
        })?;
        let started = sys::clock::now();
        socket
            .connect_timeout(&peer.into(), timeout)
            .map_err(|error| unreachable(&name, error))?;
        let established = sys::clock::now();
        let mut socket = TcpStream::from(socket);
        // The preamble fits into an empty send buffer: this does not wait.
        socket
            .write_all(&self.preamble(stream, kind))
            .map_err(failed("write to"))?;
        Ok(OpenStream {
            socket,
            started,
            established,
        })
    }

    /// What a connection that somebody else opens says first, to be data stream `number` of the session; `kind` is what for.
    /// A session that has such streams has no others: their numbers must differ, and no two may be further apart than 65,536
    /// when they arrive.
    pub fn introduction(&self, number: u32, kind: u8) -> [u8; Preamble::LEN] {
        let preamble = Preamble {
            kind,
            stream: 0,
            session: self.session,
            nonce: number.into(),
        };
        preamble.emit(&self.keys.to_server)
    }

    /// The session's name, for the header of datagrams.
    pub const fn session(&self) -> u64 {
        self.session
    }

    /// What the session's data plane is tagged with.
    pub const fn keys(&self) -> &DataKeys {
        &self.keys
    }

    /// The next preamble, for data stream number `stream` of the plan: no two have the same nonce.
    pub fn preamble(&self, stream: u16, kind: u8) -> [u8; Preamble::LEN] {
        let preamble = Preamble {
            kind,
            stream,
            session: self.session,
            nonce: self.next_nonce.fetch_add(1, Ordering::Relaxed),
        };
        preamble.emit(&self.keys.to_server)
    }
}

/// The first address that takes a connection. Each gets its share of the time left, so that one
/// that swallows packets leaves time for the next.
fn reach(
    name: &str,
    addresses: &[SocketAddr],
    deadline: Instant,
) -> Result<(TcpStream, SocketAddr), Error> {
    let mut last = None;
    let mut to_try = u32::try_from(addresses.len()).unwrap_or(u32::MAX);
    for address in addresses {
        let left = deadline.since(sys::clock::now()) / to_try.max(1);
        match TcpStream::connect_timeout(address, left.max(Duration::from_millis(1))) {
            Ok(socket) => return Ok((socket, *address)),
            Err(error) => last = Some(error),
        }
        to_try -= 1;
    }
    let error = last.unwrap_or_else(|| io::ErrorKind::AddrNotAvailable.into());
    Err(unreachable(name, error))
}

fn unreachable(name: &str, source: io::Error) -> Error {
    if let Some(lack) = sys::lack(&source) {
        return Error::Lack { lack, source };
    }
    let peer = name.to_owned();
    match source.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Error::Timeout {
            peer,
            operation: "connect",
        },
        _ => Error::Unreachable { peer, source },
    }
}

/// Handshake, hello, and what the server makes of it.
fn greet(
    name: String,
    socket: TcpStream,
    key: Option<&AccessKey>,
    deadline: Instant,
) -> Result<(Control, Welcome), Error> {
    tune(&socket).map_err(|error| Error::from_io("set options of", &name, error))?;
    let tls = tls::client(key.map(|key| key.fingerprint))?;
    let mut control = Control::handshake(name, tls, Arc::new(socket), deadline)?;
    let proof = key
        .map(|key| Proof::new(control.connection(), &key.secret))
        .transpose()?;
    control.send(&Hello::new(proof))?;
    match control.recv_by(deadline) {
        Ok(Answer::Welcome(welcome)) => Ok((control, welcome)),
        Ok(Answer::Refused(refusal)) => {
            Err(refused(control.peer().to_owned(), key.is_some(), &refusal))
        }
        // It speaks TLS, but not with us.
        Err(Error::Malformed { peer, .. } | Error::LineTooLong { peer }) => {
            Err(Error::NotIsobath { peer })
        }
        Err(error) => Err(error),
    }
}

fn refused(peer: String, has_key: bool, refusal: &Refusal) -> Error {
    let message = refusal
        .message
        .chars()
        .filter(|c| !c.is_control())
        .take(200)
        .collect();
    match refusal.code {
        Code::Busy => Error::Busy { peer, message },
        Code::Key if has_key => Error::RefusedKey { peer },
        Code::Key => Error::WantsKey { peer },
        Code::Limit => Error::Limit { peer, message },
        Code::Version => {
            let advice = if refusal.protocol[1] > PROTOCOL[1] {
                "update isobath here"
            } else {
                "update isobath there"
            };
            Error::Version {
                peer,
                theirs: named(&refusal.version, refusal.protocol),
                ours: named(VERSION, PROTOCOL),
                advice,
            }
        }
    }
}

/// A program version and its protocols: `0.1.0 (protocol 1)`, `0.9.0 (protocol 2 to 3)`.
fn named(version: &str, [oldest, newest]: [u16; 2]) -> String {
    let version: String = version
        .chars()
        .filter(|c| !c.is_control())
        .take(40)
        .collect();
    if oldest == newest {
        format!("{version} (protocol {oldest})")
    } else {
        format!("{version} (protocol {oldest} to {newest})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_machine_lacks_is_not_said_of_the_far_end() {
        let of = |code| {
            let error = io::Error::from_raw_os_error(code);
            unreachable("far.example.org", error).to_string()
        };
        // Too many open files; connection refused.
        assert!(of(24).starts_with("this machine has no free file descriptors"));
        assert!(of(111).starts_with("cannot reach far.example.org"));
    }
}
