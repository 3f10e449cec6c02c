//! Datagrams of a control session that carry nothing: a far end answers them, and learns where a stream's datagrams come from.

use crate::stream::any;
use session::wire::{Flags, Kind, Probe};
use session::{Client, Dialer, TagKey};
use sys::udp::{Outgoing, UdpSocket};
use sys::{Error, clock};
use units::{Instant, TrafficClass};

/// A socket of its own, connected to the far end.
///
/// # Errors
/// When the system gives none, or no route leads there.
pub fn connected(client: &Client) -> Result<UdpSocket, Error> {
    let mut socket = UdpSocket::bind(any(client.peer))?;
    socket.connect(client.peer)?;
    Ok(socket)
}

/// Sends a request for `stream` of `length` octets (at least a header's) over `socket`, which is connected. One that cannot be
/// sent is one that did not arrive: there will be another.
pub fn ask(socket: &UdpSocket, dialer: &Dialer, stream: u16, length: usize) {
    let request = empty(Kind::Request, dialer.session(), stream, 0);
    send(socket, &request, &dialer.keys().to_server, length);
}

/// A datagram of `stream` that says no more than its number.
pub fn empty(kind: Kind, session: u64, stream: u16, sequence: u32) -> Probe {
    Probe {
        kind,
        class: TrafficClass::default(),
        arrived: TrafficClass::default(),
        stream,
        flags: Flags::default(),
        sequence,
        session,
        sent: clock::now(),
        received: Instant::ZERO,
        replied: Instant::ZERO,
    }
}

/// Sends it with `length` octets (at least a header's), tagged with `key`, as far as it can be sent.
pub fn send(socket: &UdpSocket, datagram: &Probe, key: &TagKey, length: usize) {
    let mut octets = vec![0; length.max(Probe::LEN)];
    if datagram.emit(&mut octets, key).is_ok() {
        let _ = socket.send(&[Outgoing {
            payload: &octets,
            to: None,
            from: None,
            class: TrafficClass::default(),
        }]);
    }
}
