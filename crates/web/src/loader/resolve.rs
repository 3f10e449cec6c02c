//! Look-ups over UDP, with patience.

use crate::dns::{self, DnsError, Family, Reply};
use crate::reason::reason;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::net::UdpSocket;
use units::TrafficClass;

/// How long an answer is waited for after each sending: the retries of Chromium's resolver begin after
/// one second and double.
pub const DNS_PATIENCE: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];
/// More than any answer to a question of 128 octets.
const MAX_ANSWER: usize = 2_048;
const FAMILIES: [Family; 2] = [Family::V4, Family::V6];

/// Looks up the addresses of `name` of both families at once, and waits for both answers; done when there is
/// one of the resolver's own family.
///
/// # Errors
/// One line.
pub(super) async fn resolve(
    resolver: SocketAddr,
    name: &str,
    class: TrafficClass,
) -> Result<(), String> {
    let asked = ask(resolver, name, class).await;
    let failed = |why: String| format!("cannot look up {name} at {resolver}: {why}");
    let addresses = asked.map_err(failed)?;
    let is_v6 = resolver.ip().to_canonical().is_ipv6();
    let fits = |address: &IpAddr| address.is_ipv6() == is_v6;
    if addresses.iter().any(fits) {
        Ok(())
    } else {
        Err(failed(
            "it has no address - has the session ended?".to_owned(),
        ))
    }
}

async fn ask(resolver: SocketAddr, name: &str, class: TrafficClass) -> Result<Vec<IpAddr>, String> {
    let words = |error: io::Error| reason(&error);
    let socket = open(resolver, class).await.map_err(words)?;
    let mut asked = Asked::new(name);
    for patience in DNS_PATIENCE {
        asked.send(&socket).await.map_err(words)?;
        match tokio::time::timeout(patience, asked.receive(&socket)).await {
            Ok(Ok(())) => return Ok(asked.addresses),
            Ok(Err(why)) => return Err(why),
            Err(_) => {}
        }
    }
    Err("no answer".to_owned())
}

async fn open(resolver: SocketAddr, class: TrafficClass) -> io::Result<UdpSocket> {
    let any: IpAddr = match resolver {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).await?;
    sys::tcp::set_traffic_class(&socket, class).map_err(io::Error::other)?;
    socket.connect(resolver).await?;
    Ok(socket)
}

/// Two questions, and what has been answered.
struct Asked<'a> {
    name: &'a str,
    /// Their numbers; `None` when the answer is there.
    open: [Option<u16>; 2],
    addresses: Vec<IpAddr>,
}

impl<'a> Asked<'a> {
    /// The numbers cannot be foreseen, so no stranger can answer.
    fn new(name: &'a str) -> Self {
        let hash = RandomState::new().hash_one(name).to_be_bytes();
        let first = u16::from_be_bytes([hash[0], hash[1]]);
        Self {
            name,
            open: [Some(first), Some(first ^ 1)],
            addresses: Vec::new(),
        }
    }

    async fn send(&self, socket: &UdpSocket) -> io::Result<()> {
        for (id, family) in self.open.iter().zip(FAMILIES) {
            if let Some(id) = id {
                socket.send(&dns::query(*id, self.name, family)).await?;
            }
        }
        Ok(())
    }

    /// Waits for all answers.
    async fn receive(&mut self, socket: &UdpSocket) -> Result<(), String> {
        let mut buffer = vec![0; MAX_ANSWER];
        while self.open != [None, None] {
            let count = socket
                .recv(&mut buffer)
                .await
                .map_err(|error| reason(&error))?;
            self.take(dns::reply(&buffer[..count]))?;
        }
        Ok(())
    }

    fn take(&mut self, reply: Result<Reply, DnsError>) -> Result<(), String> {
        let reply = reply.map_err(|error| error.to_string())?;
        let Some(open) = self.open.iter_mut().find(|open| **open == Some(reply.id)) else {
            return Ok(());
        };
        *open = None;
        if reply.rcode != 0 {
            return Err(format!("it answered '{}'", reply.rcode_name()));
        }
        if reply.is_truncated {
            return Err("its answer was cut off".to_owned());
        }
        self.addresses.extend(reply.addresses);
        Ok(())
    }
}
