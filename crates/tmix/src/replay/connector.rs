//! How a connection is opened, so that whoever accepts it knows which vector it is.

use super::live;
use super::tuples::Tuples;
use super::workload::{Host, Part};
use path::Assigned;
use session::Dialer;
use session::wire::Preamble;
use socket2::{Domain, Socket};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use sys::tcp::begin_connect;
use units::FlowId;
use vectors::Side;

/// What the data streams of a replay say they are for.
pub const KIND: u8 = 4;

/// Where connections go.
pub enum Connector<'a> {
    /// Through a lab.
    Emulated(Emulated<'a>),
    /// To another host.
    Introduced(Introduced),
    /// Nowhere: this end only accepts.
    Inward,
}

/// A lab, in which a connection is known by its pair of ports, and each has its own way.
pub struct Emulated<'a> {
    /// For each share of the connections, the pairs of ports of those that the client and the server open.
    pub tuples: Vec<[Tuples; 2]>,
    /// Delays of the packets that the client and the server send.
    pub delays: Assigned,
    /// What of each connection's round-trip time each host adds.
    pub split: &'a (dyn Fn(&Part) -> [Duration; 2] + Sync),
}

/// Another host, which is told first of all which connection this is: it may be behind a translator of addresses, and whoever
/// cannot prove to be a client of its session is a stranger.
pub struct Introduced {
    /// Address and port of its server.
    pub peer: SocketAddr,
    /// Makes the preambles by which connections prove to be of the client's session.
    pub dialer: Arc<Dialer>,
    /// Whether the vectors' round-trip times are added as this host sends.
    pub adds_rtt: bool,
}

/// A connection that has been asked for.
pub struct Departure {
    /// Does not block; `connect` was called.
    pub socket: Socket,
    /// From and to which port.
    pub ports: [u16; 2],
    /// What it says first.
    pub introduction: Option<[u8; Preamble::LEN]>,
}

impl Emulated<'_> {
    /// Begins to connect. Who accepts must find whose it is, and the path how long it is, before the first segment leaves.
    ///
    /// # Errors
    /// When the system gives no socket, or refuses to connect it.
    pub fn connect(
        &self,
        host: Host,
        tuples: &Tuples,
        tuple: u32,
        (part, number): (&Part, u32),
        congestion_control: Option<&str>,
    ) -> io::Result<Departure> {
        let [source, destination] = tuples.addresses(tuple);
        tuples.give(tuple, number);
        let ways = [(source, destination), (destination, source)];
        self.assign(part, host, ways.map(|(from, to)| packet::flow(from, to)));
        let socket = socket(source, part, congestion_control)?;
        // Another connection to another port may have the same source.
        socket.set_reuse_address(true)?;
        socket.bind(&source.into())?;
        begin_connect(&socket, destination)?;
        Ok(Departure {
            socket,
            ports: [source.port(), destination.port()],
            introduction: None,
        })
    }
}

impl Emulated<'_> {
    /// Tells the path how far `part` is, whose packets from and to `host` are of these two flows.
    pub fn assign(&self, part: &Part, host: Host, [forth, back]: [FlowId; 2]) {
        let delay = (self.split)(part);
        self.delays.set(forth, delay[host as usize]);
        self.delays.set(back, delay[host.other() as usize]);
    }
}

impl Introduced {
    /// Begins to connect.
    ///
    /// # Errors
    /// When the system gives no socket, or refuses to connect it.
    pub fn connect(
        &self,
        (part, number): (&Part, u32),
        congestion_control: Option<&str>,
    ) -> io::Result<Departure> {
        let socket = socket(self.peer, part, congestion_control)?;
        if self.adds_rtt {
            let rtt = part.vector.min_rtt.unwrap_or_default();
            sys::tcp::set_transmit_delay(&socket, rtt).map_err(io::Error::other)?;
        }
        begin_connect(&socket, self.peer)?;
        let own = socket.local_addr()?.as_socket();
        Ok(Departure {
            socket,
            ports: [own.map_or(0, |own| own.port()), self.peer.port()],
            introduction: Some(self.dialer.introduction(number, KIND)),
        })
    }
}

/// A socket for the initiator of `part`, from or to `address`.
fn socket(
    address: SocketAddr,
    part: &Part,
    congestion_control: Option<&str>,
) -> io::Result<Socket> {
    let socket = sys::tcp::nonblocking(Domain::for_address(address))?;
    live::prepare(&socket, part, Side::Initiator, congestion_control).map_err(io::Error::other)?;
    Ok(socket)
}
