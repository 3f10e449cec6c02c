//! Datagrams from far ends of somebody else, and requests to our reflector: read or refused; what is reflected is as long as it was.

use far_ends::address::{Keys, Protocol};
use far_ends::irtt::Server;
use far_ends::stamp::Reflector;
use far_ends::{Exchange, Moment, Request, Responder, Terms};
use std::time::Duration;
use units::TrafficClass;

/// From this choice of a protocol on there are keys.
const SIGNED: u8 = 128;

/// Runs the target on an input: which protocol, whether it is an opening, and the datagram.
pub fn run(input: &[u8]) {
    let [choice, opens, octets @ ..] = input else {
        return;
    };
    let terms = Terms {
        payload: usize::from(*opens) * 2,
        duration: Duration::from_secs(10),
        interval: Duration::from_millis(20),
        class: TrafficClass::from_octet(*opens),
        secret: 7,
    };
    let protocol = Protocol::ALL[usize::from(*choice) % Protocol::ALL.len()];
    let keys = Keys {
        stamp: "secret".parse().ok().filter(|_| *choice >= SIGNED),
        irtt: "secret".parse().ok().filter(|_| *choice >= SIGNED),
    };
    let Some(mut exchange) = protocol.exchange(terms, opens % 2 == 0, &keys) else {
        return;
    };
    let _ = exchange.handle_opening(octets);
    let mut request = Vec::new();
    exchange.request(9, 1 << 60, &mut request);
    assert!(u16::try_from(request.len()).is_ok());
    if let Some(reply) = exchange.handle(octets, 9) {
        assert!(reply.number <= 9);
    }
    let request = Request {
        octets,
        peer: ([192, 0, 2, 1], 9).into(),
        received: Moment::default(),
        replied: Moment::default(),
        class: terms.class,
        hops_left: 64,
    };
    let mut reply = Vec::new();
    if Reflector::new(1, keys.stamp).respond(&request, &mut reply) {
        assert_eq!(reply.len(), octets.len());
    }
    let mut server = Server::new(1, 7, keys.irtt.clone());
    let _ = server.respond(&request, &mut reply);
    let mut server = Server::new(1, 7, None);
    let opening = far_ends::irtt::Client::new(terms, None)
        .opening()
        .unwrap_or_default();
    assert!(server.respond(
        &Request {
            octets: &opening,
            ..request
        },
        &mut reply
    ));
    // The token that it gave, where a fuzzer cannot guess it.
    let token = reply[4..12].to_vec();
    let known = [
        octets.get(..4).unwrap_or_default(),
        &token,
        octets.get(12..).unwrap_or_default(),
    ]
    .concat();
    let _ = server.respond(
        &Request {
            octets: &known,
            ..request
        },
        &mut reply,
    );
    let _ = server.respond(&request, &mut reply);
}
