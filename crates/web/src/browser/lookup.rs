//! Asks a resolver for the address of a name, over UDP (RFC 1035 section 4.2.1).

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

/// The IPv6 (or IPv4) address of `host` according to `resolver`; an error is one line.
pub(super) async fn look_up(
    resolver: SocketAddr,
    host: &str,
    wants_v6: bool,
) -> Result<IpAddr, String> {
    let reply = ask(resolver, host, wants_v6).await;
    let address = reply.map_err(|e| in_words(&e)).and_then(|r| address(&r));
    address.map_err(|reason| format!("look up {host} at {resolver}: {reason}"))
}

/// Asks until there is an answer, a few times at most.
async fn ask(resolver: SocketAddr, host: &str, wants_v6: bool) -> io::Result<Reply> {
    let any: IpAddr = match resolver {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(resolver).await?;
    let id = number();
    let family = if wants_v6 { Family::V6 } else { Family::V4 };
    let question = dns::query(id, host, family);
    for patience in PATIENCE {
        socket.send(&question).await?;
        if let Ok(reply) = timeout(patience, hear(&socket, id)).await {
            return reply;
        }
    }
    Err(io::ErrorKind::TimedOut.into())
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

fn address(reply: &Reply) -> Result<IpAddr, String> {
    match (reply.rcode, reply.addresses.first()) {
        (0, Some(address)) => Ok(*address),
        (0, None) if reply.is_truncated => Err("the answer was cut short".to_owned()),
        (0, None) => Err("it has no address of this family".to_owned()),
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
