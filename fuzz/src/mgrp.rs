//! A packet that carries a probe and other programs' packets: parsed or refused; what is parsed is written back as it was,
//! and fragments are put together in bounded memory. The input is cut into packets by a length before each.

use mgrp::packet::{Packet, Payload};
use mgrp::reassembly::{Key, Limits, Reassembly};
use std::net::{IpAddr, Ipv4Addr};
use units::Instant;

const LIMITS: Limits = Limits {
    packets: 4,
    octets: 100_000,
};

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let mut table = Reassembly::new(LIMITS);
    let (mut rest, mut now) = (octets, 0);
    while let Some((length, after)) = rest.split_first_chunk::<2>() {
        let length = usize::from(u16::from_be_bytes(*length)).min(after.len());
        let (packet, after) = after.split_at(length);
        rest = after;
        now += 100_000_000;
        let Ok(parsed) = Packet::parse(packet) else {
            continue;
        };
        let mut again = Vec::new();
        parsed.emit(&mut again).expect("what parses can be written");
        assert_eq!(Packet::parse(&again), Ok(parsed));
        if let Some(Payload::Fragment(fragment)) = parsed.payload {
            let key = Key {
                source: IpAddr::V4(Ipv4Addr::LOCALHOST),
                protocol: 6,
                id: fragment.id,
            };
            let _ = table.handle(key, &fragment, Instant::from_nanos(now));
            let kept: usize = table.states().iter().map(|state| state.octets).sum();
            assert!(kept <= LIMITS.octets && table.states().len() <= LIMITS.packets);
        }
    }
}
