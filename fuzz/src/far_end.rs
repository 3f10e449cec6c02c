//! Datagrams from far ends of somebody else, and requests to our reflector: read or refused; what is reflected is as long as it was.

use far_ends::Terms;
use far_ends::address::Protocol;
use far_ends::stamp::Reflector;
use std::time::Duration;
use units::TrafficClass;

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
    let mut exchange = protocol.exchange(terms, opens % 2 == 0);
    let _ = exchange.handle_opening(octets);
    let mut request = Vec::new();
    exchange.request(9, 1 << 60, &mut request);
    assert!(u16::try_from(request.len()).is_ok());
    if let Some(reply) = exchange.handle(octets, 9) {
        assert!(reply.number <= 9);
    }
    let mut reply = Vec::new();
    let peer = ([192, 0, 2, 1], 9).into();
    let marks = (terms.class, 64);
    if Reflector::new(1).reflect(octets, peer, (1, 2), marks, &mut reply) {
        assert_eq!(reply.len(), octets.len());
    }
}
