//! Networks with one version of IP.

use crate::world::{address, built_in, receive, send, socket};
use isobath_lab::Network;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;
use sys::clock;
use units::TrafficClass;

#[test]
fn a_blackhole_for_ipv6_swallows_it_and_lets_ipv4_through() {
    let network = built_in("dsl-v6-blackhole");
    let to = |v6| address(&network, "server", v6);
    let (near, far) = (
        socket(&network, "home", true),
        socket(&network, "server", true),
    );
    send(&near, to(true), TrafficClass::default());
    let (near4, far4) = (
        socket(&network, "home", false),
        socket(&network, "server", false),
    );
    send(&near4, to(false), TrafficClass::default());
    receive(&far4, 1);
    // IPv6 was sent first on the same links, and nothing overtakes.
    assert!(!far.wait(Duration::ZERO).unwrap().datagram);
    assert_eq!(lost(&network, "dslam", "server"), 1);
    assert!(
        !near.wait(Duration::ZERO).unwrap().event,
        "its sender is told nothing"
    );
}

/// Packets lost on a direction, once it has lost any.
fn lost(network: &Network, from: &str, to: &str) -> u64 {
    let mut links = network.links().iter();
    let link = links
        .find(|link| link.from == from && link.to == to)
        .unwrap();
    loop {
        // The counters are published every 10 ms.
        match link.take_log().totals.loss.packets {
            0 => clock::sleep_until(clock::now() + Duration::from_millis(10)),
            lost => return lost,
        }
    }
}

#[test]
fn in_a_lab_without_ipv6_there_is_no_address_and_no_route() {
    let network = built_in("dsl-v4");
    assert_eq!(network.address("server", true), None);
    assert!(network.address("server", false).is_some());
    let elsewhere: SocketAddr = "[fd77::2]:4890".parse().unwrap();
    let connect = || {
        let io = |error| sys::Error::io("connect", "UDP socket", error);
        UdpSocket::bind("[::]:0")
            .map_err(io)?
            .connect(elsewhere)
            .map_err(io)
    };
    let error = network.node("home").unwrap().run(connect).unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::NetworkUnreachable));
}
