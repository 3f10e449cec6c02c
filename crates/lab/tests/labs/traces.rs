//! Probes that live for a few hops only.

use crate::world::{PATIENCE, address, built_in, receive, send, socket};
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

#[test]
fn nodes_with_an_interval_answer_a_few_probes_and_no_more() {
    let network = built_in("dsl-icmp");
    for v6 in [false, true] {
        let (near, far) = (socket(&network, "home", v6), socket(&network, "server", v6));
        let [here, there] = ["home", "server"].map(|node| address(&network, node, v6));
        near.set_hop_limit(1).unwrap();
        for _ in 0..PROBES {
            send(&near, there, TrafficClass::default());
        }
        near.set_hop_limit(64).unwrap();
        // What goes there and back behind the probes has every answer before it.
        send(&near, there, TrafficClass::default());
        receive(&far, 1);
        send(&far, here, TrafficClass::default());
        wait_for_datagram(&near);
        let errors = std::iter::from_fn(|| near.poll_event().unwrap()).count();
        assert!((1..PROBES / 2).contains(&errors), "{errors}");
    }
}

/// Waits for a datagram, whatever events there are.
#[track_caller]
fn wait_for_datagram(socket: &UdpSocket) {
    let deadline = sys::clock::now() + PATIENCE;
    while !socket.wait(PATIENCE).unwrap().datagram {
        assert!(sys::clock::now() < deadline, "no datagram came");
    }
}
