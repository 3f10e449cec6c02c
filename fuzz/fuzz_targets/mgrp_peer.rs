//! Datagrams of a peer, each with the right tag, and packets of applications for it: memory stays bounded, and whatever is
//! offered leaves. The input is cut by a length before each; the highest bit of a length says which of the two it is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mgrp::envelope::{Carrier, seal};
use mgrp::peer::{Config, Peer};
use std::net::{IpAddr, Ipv4Addr};
use units::Instant;

const SOURCE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn tag(_: &[u8], _: &[u8]) -> [u8; 8] {
    [0; 8]
}

fuzz_target!(|octets: &[u8]| {
    let config = Config::new(Carrier::UdpV6, 0, SOURCE);
    let mut peer = Peer::new(config);
    let (mut rest, mut now) = (octets, Instant::ZERO);
    while let Some((length, after)) = rest.split_first_chunk::<2>() {
        let length = u16::from_be_bytes(*length);
        let (octets, after) = after.split_at(usize::from(length & 0x7fff).min(after.len()));
        rest = after;
        now = Instant::from_nanos(now.as_nanos() + 1_000_000);
        if length & 0x8000 == 0 {
            let _ = peer.offer(octets.to_vec(), true, now);
        } else {
            let mut datagram = octets.to_vec();
            seal(&mut datagram, 0, 7, tag);
            let _ = peer.handle(&datagram, 0, now, tag);
        }
        while peer.poll_transmit(now).is_some() {}
    }
    let kept: usize = peer.buckets().iter().map(|bucket| bucket.octets).sum();
    assert!(kept <= config.reassembly.octets + 32 * 65_535);
    let _ = peer.poll_transmit(now + config.delay);
    while peer.poll_transmit(now + config.delay).is_some() {}
    let counters = peer.counters();
    let left =
        counters.expired + counters.dropped_full + counters.dropped_long + counters.dropped_not_ip;
    assert_eq!(left, counters.offered_packets);
});
