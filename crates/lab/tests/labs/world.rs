//! A lab, and sockets on its nodes.

use isobath_lab::{Network, Topology, profiles};
use std::net::SocketAddr;
use std::time::Duration;
use sys::udp::{BATCH, Outgoing, RecvBatch, UdpSocket};
use units::TrafficClass;

/// Whatever should happen has happened by then, on the slowest machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
const PORT: u16 = 4_890;

/// The built-in lab `name`, brought up.
pub(crate) fn built_in(name: &str) -> Network {
    Network::up(profiles::find(name).unwrap(), 1).unwrap()
}

/// The lab that `text` describes, brought up.
pub(crate) fn described(text: &str) -> Network {
    Network::up(Topology::parse(text, "test.toml").unwrap(), 1).unwrap()
}

/// The address of `node`, with the port of all tests.
pub(crate) fn address(network: &Network, node: &str, v6: bool) -> SocketAddr {
    SocketAddr::new(network.address(node, v6).unwrap(), PORT)
}

/// A socket on `node`.
pub(crate) fn socket(network: &Network, node: &str, v6: bool) -> UdpSocket {
    let local = address(network, node, v6);
    let bound = network.node(node).unwrap();
    bound.run(|| UdpSocket::bind(local)).unwrap()
}

/// Sends one datagram of `class`.
#[track_caller]
pub(crate) fn send(socket: &UdpSocket, to: SocketAddr, class: TrafficClass) {
    let datagram = Outgoing {
        payload: b"isobath",
        to: Some(to),
        from: None,
        class,
    };
    assert_eq!(socket.send(&[datagram]).unwrap().count, 1);
}

/// The classes of the next `count` datagrams, in order of arrival.
#[track_caller]
pub(crate) fn receive(socket: &UdpSocket, count: usize) -> Vec<TrafficClass> {
    let mut batch = RecvBatch::new(BATCH, 2_048);
    let mut classes = Vec::new();
    while classes.len() < count {
        let ready = socket.wait(PATIENCE).unwrap();
        assert!(ready.datagram, "{} of {count}", classes.len());
        socket.recv(&mut batch).unwrap();
        classes.extend(batch.iter().map(|datagram| datagram.class.unwrap()));
    }
    classes
}
