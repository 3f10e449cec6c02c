//! Looks a name up at a resolver, over UDP (RFC 1035 section 4.2.1).

use super::Proxied;
use crate::dns::{self, Family, Reply};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use sys::clock;
use tokio::net::UdpSocket;
use tokio::time::timeout;

/// How long an answer is awaited before the question is sent again: like Chromium's own resolver, a
/// second at first, and longer after each loss.
const PATIENCE: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];
/// Longest datagram that is read.
const MAX_DATAGRAM: usize = 1500;

/// Looks `host` up at the resolver of `site`. It must have an address of the family that the site is
/// reached by, which is that of all its hosts; so what the address is does not matter.
///
/// # Errors
///
/// One line.
pub(super) async fn look_up(site: &Proxied, host: &str) -> Result<(), String> {
    let reply = ask(site, host).await.map_err(|error| in_words(&error));
    let found = reply.and_then(|reply| check(&reply));
    found.map_err(|reason| format!("look up {host} at {}: {reason}", site.resolver))
}

/// Asks until there is an answer, a few times at most.
async fn ask(site: &Proxied, host: &str) -> io::Result<Reply> {
    let any: IpAddr = match site.resolver {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).await?;
    if let Some(class) = site.class {
        sys::tcp::set_traffic_class(&socket, class).map_err(io::Error::other)?;
    }
    socket.connect(site.resolver).await?;
    let id = number();
    let question = dns::query(id, host, family(site.peer));
    for patience in PATIENCE {
        socket.send(&question).await?;
        if let Ok(reply) = timeout(patience, hear(&socket, id)).await {
            return reply;
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

fn family(peer: SocketAddr) -> Family {
    let is_v6 = peer.ip().to_canonical().is_ipv6();
    if is_v6 { Family::V6 } else { Family::V4 }
}

/// A question's number. The socket hears its one resolver only, so it need not be a secret.
fn number() -> u16 {
    let [low, high, ..] = clock::now().as_nanos().to_le_bytes();
    u16::from_le_bytes([low, high])
}

/// Waits for the answer to question `id`; what is none is passed over.
async fn hear(socket: &UdpSocket, id: u16) -> io::Result<Reply> {
    let mut datagram = [0; MAX_DATAGRAM];
    loop {
        let length = socket.recv(&mut datagram).await?;
        let reply = dns::reply(&datagram[..length]);
        if let Some(reply) = reply.ok().filter(|reply| reply.id == id) {
            return Ok(reply);
        }
    }
}

fn check(reply: &Reply) -> Result<(), String> {
    match (reply.rcode, reply.addresses.is_empty()) {
        (0, false) => Ok(()),
        (0, true) if reply.is_truncated => Err("the answer was cut short".to_owned()),
        (0, true) => Err("it has no address of this family".to_owned()),
        (3, _) => Err("no such name".to_owned()),
        _ => Err(format!("the resolver says {}", reply.rcode_name())),
    }
}

fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "no resolver there".to_owned(),
        io::ErrorKind::TimedOut => "no answer".to_owned(),
        _ => error.to_string(),
    }
}
