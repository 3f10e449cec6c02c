//! Asks a resolver for the address of a name, over UDP (RFC 1035 section 4.2.1).

use hickory_proto::op::{Message, Query, ResponseCode};
use hickory_proto::rr::{Name, RData, RecordType};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::timeout;

/// How long an answer is awaited before the question is sent again: like Chromium's own resolver, a
/// second at first, and longer after each loss.
const PATIENCE: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];
/// Longest datagram that is read: what fits without EDNS and more.
const MAX_DATAGRAM: usize = 1500;

/// The IPv6 (or IPv4) address of `host` according to `resolver`; an error is one line.
pub(super) async fn look_up(
    resolver: SocketAddr,
    host: &str,
    wants_v6: bool,
) -> Result<IpAddr, String> {
    let failed = |reason: String| format!("look up {host} at {resolver}: {reason}");
    let kind = if wants_v6 {
        RecordType::AAAA
    } else {
        RecordType::A
    };
    let query = question(host, kind).map_err(failed)?;
    let answer = ask(resolver, &query).await;
    let answer = answer.map_err(|error| failed(in_words(&error)))?;
    address(&answer).map_err(failed)
}

fn question(host: &str, kind: RecordType) -> Result<Message, String> {
    let mut name = Name::from_ascii(host).map_err(|error| error.to_string())?;
    // An answer's names end at the root, and so must those that it is compared with.
    name.set_fqdn(true);
    let mut query = Message::query();
    query.metadata.recursion_desired = true;
    query.add_query(Query::query(name, kind));
    Ok(query)
}

/// Sends `query` until it is answered, a few times at most.
async fn ask(resolver: SocketAddr, query: &Message) -> io::Result<Message> {
    let any: IpAddr = match resolver {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(resolver).await?;
    let octets = query.to_vec().map_err(io::Error::other)?;
    for patience in PATIENCE {
        socket.send(&octets).await?;
        if let Ok(answer) = timeout(patience, hear(&socket, query)).await {
            return answer;
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

/// Waits for the answer to `query`; what is none is passed over.
async fn hear(socket: &UdpSocket, query: &Message) -> io::Result<Message> {
    let mut datagram = [0; MAX_DATAGRAM];
    loop {
        let length = socket.recv(&mut datagram).await?;
        let message = Message::from_vec(&datagram[..length]);
        if let Some(answer) = message.ok().filter(|answer| is_answer(answer, query)) {
            return Ok(answer);
        }
    }
}

fn is_answer(answer: &Message, query: &Message) -> bool {
    answer.metadata.id == query.metadata.id
        && answer.metadata.message_type == hickory_proto::op::MessageType::Response
        && answer.queries == query.queries
}

fn address(answer: &Message) -> Result<IpAddr, String> {
    match answer.metadata.response_code {
        ResponseCode::NoError => {}
        ResponseCode::NXDomain => return Err("no such name".to_owned()),
        ResponseCode::Refused => return Err("the resolver refused".to_owned()),
        other => return Err(other.to_string()),
    }
    let addresses = answer
        .answers
        .iter()
        .filter_map(|record| match &record.data {
            RData::A(v4) => Some(IpAddr::V4(v4.0)),
            RData::AAAA(v6) => Some(IpAddr::V6(v6.0)),
            _ => None,
        });
    addresses
        .last()
        .ok_or_else(|| "it has no address".to_owned())
}

fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "no resolver there".to_owned(),
        io::ErrorKind::TimedOut => "no answer".to_owned(),
        _ => error.to_string(),
    }
}
