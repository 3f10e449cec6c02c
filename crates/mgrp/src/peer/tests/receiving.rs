use super::*;
use crate::envelope;
use crate::packet::{Fragment, Payload};
use crate::transaction::Arrival;
use proptest::prelude::*;

/// A datagram with this payload and number, sealed.
fn datagram(payload: Payload<'_>, sequence: u32) -> Vec<u8> {
    let packet = Packet {
        sequence,
        payload: Some(payload),
        ..Packet::default()
    };
    let mut octets = Vec::new();
    envelope::begin(SESSION, &mut octets);
    packet.emit(&mut octets).unwrap();
    envelope::seal(&mut octets, sequence.into(), 0, tag);
    octets
}

/// Holds manager/receiving, manager/delivery.
#[test]
fn a_probe_comes_with_its_stamps_and_what_it_carries() {
    let mut world = World::new(config());
    world.advance(us(77));
    world.offer(ip::packet(1, 200)).unwrap();
    world.begin(train(2, 400, 100)).unwrap();
    let mut peer = Peer::new(config());
    let received = peer.handle(&world.left[0].datagram, 5_000_000_000, us(0), tag);
    let arrival = Arrival {
        channel: 3,
        octets: 400,
        sequence: 0,
        sent_ns: 77_000,
        arrived_ns: 5_000_000_000,
        header: vec![0; 4],
    };
    let whole = Received {
        arrival: Some(arrival),
        packet: Some(ip::packet(1, 200)),
    };
    assert_eq!(received, Ok(whole));
    let counters = peer.counters();
    let received = (counters.received_packets, counters.received_octets);
    assert_eq!(received, (1, 400));
    let delivered = (counters.delivered_packets, counters.delivered_octets);
    assert_eq!((counters.received_probes, delivered), (1, (1, 200)));
}

#[test]
fn what_is_not_the_peers_is_refused_and_counted() {
    let mut peer = Peer::new(config());
    let octets = ip::packet(1, 100);
    let right = datagram(Payload::Whole(&octets), 9_000);
    let mut handle = |datagram: &[u8]| peer.handle(datagram, 0, us(0), tag).unwrap_err();
    assert_eq!(handle(&right[..19]), Unread::Short);
    let mut other = right.clone();
    other[0] ^= 1;
    assert_eq!(handle(&other), Unread::Session);
    let mut damaged = right.clone();
    damaged[60] ^= 1;
    assert_eq!(handle(&damaged), Unread::Tag);
    // A packet without any unit, rightly tagged.
    let mut empty = right[..ENVELOPE + 16].to_vec();
    empty[ENVELOPE + 10] = 0;
    envelope::seal(&mut empty, 9_000, 0, tag);
    assert_eq!(handle(&empty), Unread::Malformed);
    assert_eq!(handle(&right), Unread::Repeated, "its number was used");
    let old = datagram(Payload::Whole(&octets), 5);
    assert_eq!(handle(&old), Unread::Late);
    let junk = datagram(Payload::Whole(b"no packet"), 9_001);
    assert_eq!(peer.handle(&junk, 0, us(0), tag), Ok(Received::default()));
    let counters = peer.counters();
    let refused = [
        counters.refused_short,
        counters.refused_session,
        counters.refused_tag,
        counters.refused_repeated,
        counters.refused_late,
        counters.refused_malformed,
        counters.received_not_ip,
    ];
    assert_eq!(refused, [1; 7]);
}

#[test]
fn numbers_come_round_and_an_old_packet_does_not_pass() {
    let (mut sender, mut receiver) = (Peer::new(config()), Peer::new(config()));
    let mut send = |sequence: u64| {
        sender.sequence = sequence;
        sender.offer(ip::packet(0, 100), false, us(0)).unwrap();
        let transmit = sender.poll_transmit(us(0)).unwrap();
        transmit.seal(0, tag)
    };
    let old = send(5);
    for sequence in [0, 1 << 30, 1 << 31, 3 << 30, 1 << 32, (1 << 32) + 4] {
        let datagram = send(sequence);
        assert!(receiver.handle(&datagram, 0, us(0), tag).is_ok());
    }
    let refused = receiver.handle(&old, 0, us(0), tag);
    assert_eq!(refused, Err(Unread::Tag), "its epoch is over");
    assert!(receiver.handle(&send((1 << 32) + 5), 0, us(0), tag).is_ok());
}

/// Holds manager/table-4-2.
#[test]
fn the_buckets_can_be_looked_at() {
    let mut peer = Peer::new(config());
    let fragment = Fragment {
        id: 4_001,
        offset: 0,
        is_last: false,
        protocol: 6,
        octets: &[0x45; 100],
    };
    let datagram = datagram(Payload::Fragment(fragment), 0);
    let received = peer.handle(&datagram, 0, us(3), tag);
    assert_eq!(received, Ok(Received::default()));
    let [bucket] = peer.buckets()[..] else {
        panic!("one packet is in the making");
    };
    assert_eq!((bucket.key.id, bucket.key.protocol), (4_001, 6));
    assert_eq!((bucket.fragments, bucket.octets), (1, 100));
    assert_eq!(peer.pieces().fragments, 1);
    // Nobody waits for it for ever.
    assert_eq!(peer.next_timeout(), Some(us(30_000_003)));
    assert!(peer.poll_transmit(us(30_000_003)).is_none());
    assert_eq!(peer.buckets()[0].status, reassembly::Status::Expired);
    assert_eq!(peer.pieces().expired, 1);
}

proptest! {
    #[test]
    fn memory_is_bounded_whatever_pieces_a_peer_sends(
        pieces in prop::collection::vec((0_u32..60, any::<u16>(), any::<bool>(), 0_usize..1_400, any::<u8>()), 0..300),
    ) {
        let limits = reassembly::Limits { packets: 8, octets: 100_000 };
        let mut peer = Peer::new(Config { reassembly: limits, ..config() });
        let octets = vec![3; 1_400];
        for (sequence, (id, offset, is_last, length, protocol)) in (0..).zip(pieces) {
            let fragment = Fragment { id, offset, is_last, protocol: protocol % 2, octets: &octets[..length] };
            let datagram = datagram(Payload::Fragment(fragment), sequence);
            let received = peer.handle(&datagram, 0, us(sequence.into()), tag);
            prop_assert!(received.is_ok());
            let buckets = peer.reassembly.states();
            let kept: usize = buckets.iter().map(|bucket| bucket.octets).sum();
            prop_assert!(kept <= limits.octets && buckets.len() <= limits.packets);
        }
    }

    #[test]
    fn any_octets_are_taken_or_refused(octets in prop::collection::vec(any::<u8>(), 0..120), honest: bool) {
        let mut peer = Peer::new(config());
        let mut octets = octets;
        if honest && octets.len() >= ENVELOPE + 4 {
            octets[..8].copy_from_slice(&SESSION.to_be_bytes());
            let low = octets[16..20].try_into().map(u32::from_be_bytes).unwrap();
            envelope::seal(&mut octets, low.into(), 0, tag);
            prop_assert_ne!(peer.handle(&octets, 0, us(0), tag), Err(Unread::Session));
        } else {
            prop_assert!(peer.handle(&octets, 0, us(0), tag).is_err());
        }
    }
}
