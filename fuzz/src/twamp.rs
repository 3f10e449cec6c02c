//! Both ends of TWAMP's control connection, and a test packet of somebody who has no session.

use far_ends::twamp::{Agreed, Asked, Client, Conversation, PORT, Reflector};
use far_ends::{Moment, Request, Responder};
use std::sync::Arc;
use units::{Dscp, TrafficClass};

/// Runs the target on an input: its first octet says how much of the rest comes first.
pub fn run(octets: &[u8]) {
    let Some((first, rest)) = octets.split_first() else {
        return;
    };
    let (before, after) = rest.split_at(usize::from(*first).min(rest.len()));
    let mut out = Vec::new();
    let mut client = Client::new(Asked {
        family: 4,
        sender_port: 50_000,
        receiver_port: PORT,
        payload: 172,
        dscp: Dscp::CS0,
        wall_ns: 0,
    });
    if client.handle(before, &mut out) == Ok(None) {
        let _ = client.handle(after, &mut out);
    }
    let agreed = Arc::new(Agreed::default());
    let from = [192, 0, 2, 1];
    let mut server = Conversation::new(from.into(), PORT, Arc::clone(&agreed), 7, &mut out);
    out.clear();
    if server.handle(before, 0, &mut out).is_ok() {
        let _ = server.handle(after, 0, &mut out);
    }
    // No answer without a question, and none longer than an octet of a question is worth: requests are the longer ones but for the shortest.
    assert!(out.len() <= octets.len().max(1) * 48);
    let request = Request {
        octets: rest,
        peer: (from, 50_000).into(),
        received: Moment::default(),
        replied: Moment::default(),
        class: TrafficClass::default(),
        hops_left: 0,
    };
    if Reflector::new(agreed).respond(&request, &mut out) {
        assert_eq!(out.len(), rest.len().max(41));
    }
}
