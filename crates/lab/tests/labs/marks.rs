//! Marks that the network changes.

use crate::world::{address, built_in, described, receive, send, socket};
use isobath_lab::Network;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;
use units::{Dscp, Ecn, TrafficClass};

/// What every traffic class that `from` sends is when it arrives at `to`.
fn arrivals(network: &Network, [from, to]: [&str; 2], v6: bool) -> Vec<TrafficClass> {
    let (sender, receiver) = (socket(network, from, v6), socket(network, to, v6));
    let to = address(network, to, v6);
    for octet in 0..=255 {
        send(&sender, to, TrafficClass::from_octet(octet));
    }
    receive(&receiver, 256)
}

#[test]
fn an_access_router_that_remarks_leaves_no_mark_in_either_direction_and_either_family() {
    let network = built_in("dsl-remark");
    for v6 in [false, true] {
        for way in [["home", "server"], ["server", "home"]] {
            let arrived = arrivals(&network, way, v6);
            assert_eq!(arrived, [TrafficClass::default(); 256], "{way:?}");
        }
    }
}

#[test]
fn what_is_not_to_be_changed_arrives_as_it_was_sent() {
    let network = described(
        r#"
        summary = "EF becomes CS1 on the way up, ECN is marked on the way down"
        client = "a"
        server = "b"
        hosts = ["a", "b"]
        [[link]]
        between = ["a", "b"]
        up = [{ kind = "remark", dscp = { EF = "CS1" } }]
        down = [{ kind = "remark", ecn = "ce" }]
        "#,
    );
    let sent = || (0..=255).map(TrafficClass::from_octet);
    for v6 in [false, true] {
        let up = sent().map(|class| match class.dscp {
            Dscp::EF => TrafficClass {
                dscp: Dscp::CS1,
                ..class
            },
            _ => class,
        });
        assert!(up.eq(arrivals(&network, ["a", "b"], v6)));
        let down = sent().map(|class| match class.ecn {
            Ecn::NotEct => class,
            _ => TrafficClass {
                ecn: Ecn::Ce,
                ..class
            },
        });
        assert!(down.eq(arrivals(&network, ["b", "a"], v6)));
    }
}

/// Bursts of TCP are cut, remarked and joined again; every header checksum is new.
#[test]
fn tcp_passes_a_router_that_remarks() {
    const LENGTH: usize = 400_000;
    let network = described(
        r#"
        summary = "every class becomes EF, and half of it loses ECN"
        client = "a"
        server = "b"
        hosts = ["a", "b"]
        [[link]]
        between = ["a", "b"]
        up = [{ kind = "remark", dscp = { "*" = "EF" } }, { kind = "remark", dscp = { "*" = "AF11" }, probability = 0.5 }]
        down = [{ kind = "remark", dscp = { "*" = "CS1" }, ecn = "bleach" }]
        "#,
    );
    for v6 in [false, true] {
        let to = address(&network, "b", v6);
        let io = |error| sys::Error::io("use", "TCP", error);
        let listen = || TcpListener::bind(to).map_err(io);
        let listener = network.node("b").unwrap().run(listen).unwrap();
        let connect = || TcpStream::connect(to).map_err(io);
        let mut sender = network.node("a").unwrap().run(connect).unwrap();
        let pattern: Vec<u8> = (0..=250).cycle().take(LENGTH).collect();
        let expected = pattern.clone();
        let writing = thread::spawn(move || sender.write_all(&pattern).unwrap());
        let mut got = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut got).unwrap();
        writing.join().unwrap();
        assert!(got == expected, "{} octets arrived", got.len());
    }
}
