//! Datagrams of a peer, each with the right tag, packets of applications for it, and trains of tools, of lists and in ranges: memory stays
//! bounded, and whatever is offered leaves. The input is cut by a length before each; the two highest bits of a length say which it is.

use mgrp::envelope::{Carrier, seal};
use mgrp::message::{Frames, Message};
use mgrp::peer::{Config, Peer};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;
use units::Instant;

const SOURCE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn tag(_: &[u8], _: &[u8]) -> [u8; 8] {
    [0; 8]
}

/// The train that a tool asks for, if it is one.
fn begin(peer: &mut Peer, octets: &[u8], now: Instant) {
    let mut frames = Frames::default();
    frames.push(octets, now);
    let Ok(Some(frame)) = frames.poll() else {
        return;
    };
    let _ = match frame.message {
        Ok(Message::Begin { transaction, .. }) => peer.begin(transaction, Duration::ZERO, now),
        Ok(Message::BeginRanges { ranges, .. }) => peer.begin(ranges, Duration::ZERO, now),
        _ => return,
    };
}

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let config = Config::new(Carrier::UdpV6, 0, SOURCE);
    let mut peer = Peer::new(config);
    let (mut rest, mut now) = (octets, Instant::ZERO);
    while let Some((length, after)) = rest.split_first_chunk::<2>() {
        let length = u16::from_be_bytes(*length);
        let (octets, after) = after.split_at(usize::from(length & 0x3fff).min(after.len()));
        rest = after;
        now = Instant::from_nanos(now.as_nanos() + 1_000_000);
        if octets.len() == 2 {
            peer.set_path_mtu(u16::from_be_bytes([octets[0], octets[1]]));
        }
        match length >> 14 {
            0 => {
                let _ = peer.offer(octets.to_vec(), true, now);
            }
            1 => begin(&mut peer, octets, now),
            _ => {
                let mut datagram = octets.to_vec();
                seal(&mut datagram, 0, 7, tag);
                let _ = peer.handle(&datagram, 0, now, tag);
            }
        }
        while peer.poll_transmit(now).is_some() {}
    }
    let kept: usize = peer.buckets().iter().map(|bucket| bucket.octets).sum();
    assert!(kept <= config.reassembly.octets + 32 * 65_535);
    peer.call_off_all();
    while peer.poll_transmit(now + config.delay).is_some() {}
    let counters = peer.counters();
    let dropped = counters.dropped_full + counters.dropped_long + counters.dropped_not_ip;
    let left = counters.expired + counters.prompt + dropped;
    // Of what was cut the pieces are counted, and not what they are of.
    if counters.accepted == 0 {
        assert_eq!(left, counters.offered_packets);
    }
    assert!(left <= counters.offered_packets && !peer.keeps_time());
}
