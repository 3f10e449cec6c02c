//! Asking a far end by UDP: it answers, and learns where a stream's datagrams come from.

use crate::rrul::stream::any;
use session::wire::{Flags, Kind, Probe};
use session::{Client, Dialer};
use sys::udp::{Outgoing, UdpSocket};
use sys::{Error, clock};
use units::{Instant, TrafficClass};

/// A socket of its own, connected to the far end.
///
/// # Errors
/// When the system gives none, or no route leads there.
pub(crate) fn connected(client: &Client) -> Result<UdpSocket, Error> {
    let mut socket = UdpSocket::bind(any(client.peer))?;
    socket.connect(client.peer)?;
    Ok(socket)
}

/// Sends a request for `stream` of `length` octets (at least a header's) over `socket`, which is connected. One that cannot be
/// sent is one that did not arrive: there will be another.
pub(crate) fn ask(socket: &UdpSocket, dialer: &Dialer, stream: u16, length: usize) {
    let request = Probe {
        kind: Kind::Request,
        class: TrafficClass::default(),
        arrived: TrafficClass::default(),
        stream,
        flags: Flags::default(),
        sequence: 0,
        session: dialer.session(),
        sent: clock::now(),
        received: Instant::ZERO,
        replied: Instant::ZERO,
    };
    let mut octets = vec![0; length.max(Probe::LEN)];
    if request.emit(&mut octets, &dialer.keys().to_server).is_ok() {
        let _ = socket.send(&[Outgoing {
            payload: &octets,
            to: None,
            from: None,
            class: TrafficClass::default(),
        }]);
    }
}
