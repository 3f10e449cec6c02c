//! Probes that live for a few hops only.

use crate::world::{PATIENCE, address, built_in, send, socket};
use isobath_lab::Network;
use std::net::IpAddr;
use sys::udp::{Event, IcmpError, UdpSocket};
use units::TrafficClass;

/// More at once than a kernel with its usual limits answers: one a second to each destination, and a burst of 50 in all.
const PROBES: usize = 100;

/// Who answers each of many probes that live for `hops`.
fn reporters(network: &Network, hops: u8, v6: bool) -> Vec<IpAddr> {
    let probe = socket(network, "home", v6);
    probe.set_hop_limit(hops).unwrap();
    for _ in 0..PROBES {
        send(
            &probe,
            address(network, "server", v6),
            TrafficClass::default(),
        );
    }
    let errors: Vec<IcmpError> = (0..PROBES).map(|_| next_error(&probe)).collect();
    assert!(errors.iter().all(IcmpError::is_hop_limit), "{errors:?}");
    errors.iter().map(|error| error.reporter.unwrap()).collect()
}

#[track_caller]
fn next_error(socket: &UdpSocket) -> IcmpError {
    loop {
        match socket.poll_event().unwrap() {
            Some(Event::Icmp(error)) => return error,
            Some(other) => panic!("{other:?}"),
            None => assert!(socket.wait(PATIENCE).unwrap().event, "an answer is missing"),
        }
    }
}

#[test]
fn every_router_answers_every_probe_by_its_own_address_in_both_families() {
    let network = built_in("cable-hops");
    for v6 in [false, true] {
        for (hops, router) in [(1, "modem"), (2, "cmts"), (3, "core")] {
            let expected = network.address(router, v6).unwrap();
            assert_eq!(reporters(&network, hops, v6), [expected; PROBES]);
        }
    }
}

/// The end of a trace is told by its port being unreachable, which is limited by the same rule.
#[test]
fn the_server_answers_every_probe_to_a_closed_port() {
    let network = built_in("cable-hops");
    for v6 in [false, true] {
        let probe = socket(&network, "home", v6);
        for _ in 0..PROBES {
            send(
                &probe,
                address(&network, "server", v6),
                TrafficClass::default(),
            );
        }
        for _ in 0..PROBES {
            let error = next_error(&probe);
            assert_eq!(error.reporter, network.address("server", v6));
        }
    }
}
