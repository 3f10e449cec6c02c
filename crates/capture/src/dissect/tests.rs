use super::*;
use proptest::prelude::*;
use std::net::SocketAddr;

const ETHERNET: u16 = 1;
const RAW: u16 = 101;

/// A SYN with the options that Linux sends, from 10.0.0.1:40000 to 10.0.0.2:80.
const SYN: &[u8] = &[
    0x45, 0, 0, 60, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, //
    0x9c, 0x40, 0, 80, 0, 0, 0x12, 0x34, 0, 0, 0, 0, 0xa0, 0x02, 0xfa, 0xf0, 0, 0, 0, 0, //
    2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 7, 0, 0, 0, 0, 1, 3, 3, 7,
];

/// A UDP datagram of 100 octets in IPv6, of which the headers were kept.
const UDP6: &[u8] = &[
    0x60, 0, 0, 0, 0, 108, 17, 64, //
    0xfd, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, //
    0xfd, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, //
    0, 53, 0x9c, 0x40, 0, 108, 0, 0,
];

fn of(link: u16, octets: &[u8]) -> Dissected {
    dissect(&Packet {
        at_ns: 5,
        link,
        original_len: u32::try_from(octets.len()).unwrap(),
        octets,
    })
}

fn tcp(link: u16, octets: &[u8]) -> Segment {
    match of(link, octets) {
        Dissected::Tcp(segment) => segment,
        other => panic!("{other:?}"),
    }
}

fn after(header: &[u8], packet: &[u8]) -> Vec<u8> {
    [header, packet].concat()
}

#[test]
fn a_syn_with_all_its_options() {
    let segment = tcp(RAW, SYN);
    assert_eq!(segment.from.to_string(), "10.0.0.1:40000");
    assert_eq!(segment.to.to_string(), "10.0.0.2:80");
    assert_eq!(
        (segment.at_ns, segment.packet_len, segment.payload),
        (5, 60, 0)
    );
    assert_eq!(
        (segment.seq, segment.ack, segment.window),
        (0x1234, 0, 64_240)
    );
    assert!(segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK | Flags::FIN));
    let options = TcpOptions {
        mss: Some(1_460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some((7, 0)),
    };
    assert_eq!(segment.options, options);
}

#[test]
fn every_link_leads_to_the_same_segment() {
    let expected = tcp(RAW, SYN);
    let zeros = [0; 32];
    for (link, header) in [
        (ETHERNET, after(&zeros[..12], &[8, 0])),
        (ETHERNET, after(&zeros[..12], &[0x81, 0, 0, 5, 8, 0])),
        (
            ETHERNET,
            after(&zeros[..12], &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 8, 0]),
        ),
        (0, vec![2, 0, 0, 0]),
        (108, vec![0, 0, 0, 2]),
        (12, vec![]),
        (228, vec![]),
        (113, after(&zeros[..14], &[8, 0])),
        (113, after(&zeros[..14], &[0x81, 0, 0, 5, 8, 0])),
        (276, after(&[8, 0], &zeros[..18])),
        (276, after(&after(&[0x81, 0], &zeros[..18]), &[0, 5, 8, 0])),
    ] {
        assert_eq!(tcp(link, &after(&header, SYN)), expected, "link {link}");
    }
    assert_eq!(of(9_999, SYN), Dissected::Other(Reason::Link(9_999)));
}

#[test]
fn headers_within_headers_have_an_end() {
    let tagged = |tags: usize| {
        let tags = [0, 5, 0x81, 0].repeat(tags);
        let frame = [&[0; 12][..], &[0x81, 0], &tags, &[0, 5, 8, 0], SYN].concat();
        of(ETHERNET, &frame)
    };
    assert!(matches!(tagged(30), Dissected::Tcp(_)));
    for tags in [32, 1_000, 10_000] {
        assert_eq!(tagged(tags), Dissected::Other(Reason::Deep));
    }
    // Packets within packets, each with room for the rest.
    let nested = |depth: usize| {
        let mut packet = SYN.to_vec();
        for _ in 0..depth {
            let len = u16::try_from(packet.len() + 20).unwrap().to_be_bytes();
            let header = [0x45, 0, len[0], len[1], 0, 0, 0, 0, 64, 4, 0, 0];
            packet = [&header[..], &[0; 8], &packet].concat();
        }
        of(RAW, &packet)
    };
    assert_eq!(nested(32), Dissected::Tcp(tcp(RAW, SYN)));
    assert_eq!(nested(33), Dissected::Other(Reason::Deep));
    assert_eq!(nested(2_000), Dissected::Other(Reason::Deep));
    let labels = [&[0; 4].repeat(5_000)[..], &[0, 0, 1, 0], SYN].concat();
    assert_eq!(of(219, &labels), Dissected::Other(Reason::Deep));
}

/// A datagram of UDP to `port` with this payload.
fn datagram(port: u16, payload: &[u8]) -> Vec<u8> {
    let len = |more: usize| u16::try_from(payload.len() + more).unwrap().to_be_bytes();
    let ip = [
        &[0x45, 0][..],
        &len(28),
        &[0, 0, 0, 0, 64, 17, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2],
    ];
    let udp = [&[0x80, 0][..], &port.to_be_bytes(), &len(8), &[0, 0]];
    [&ip.concat(), &udp.concat(), payload].concat()
}

#[test]
fn a_port_alone_makes_no_tunnel() {
    let gtp = after(&[0x30, 255, 0, 60, 0, 0, 0, 1], SYN);
    assert_eq!(of(RAW, &datagram(2_152, &gtp)), of(RAW, SYN));
    let is_datagram = |port: u16, payload: &[u8]| {
        assert!(
            matches!(of(RAW, &datagram(port, payload)), Dissected::Udp(_)),
            "{port} {payload:?}"
        );
    };
    is_datagram(2_153, &gtp);
    // An end marker, another length, another version, an extension without an end.
    for (at, octet) in [(1, 254), (3, 61), (0, 0x50), (0, 0x34)] {
        let mut other = gtp.clone();
        other[at] = octet;
        is_datagram(2_152, &other);
    }
    for header in [
        [0; 8],
        [8, 0, 0, 1, 0, 0, 0, 0],
        [8, 0, 0, 0, 0, 0, 0, 1],
        [0x0c, 0, 0, 0, 0, 0, 0, 0],
    ] {
        is_datagram(4_789, &after(&header, SYN));
    }
    // Version, control, a bit that is reserved, a length instead of a protocol.
    for header in [
        [0x40, 0, 8, 0, 0, 0, 0, 0],
        [0, 0x80, 8, 0, 0, 0, 0, 0],
        [0, 1, 8, 0, 0, 0, 0, 0],
        [0, 0, 0, 64, 0, 0, 0, 0],
    ] {
        is_datagram(6_081, &after(&header, SYN));
    }
    is_datagram(6_081, &[0, 0, 8]);
}

#[test]
fn a_session_of_pptp_has_ppp_within() {
    let gre = |header: &[u8]| {
        let len = u16::try_from(20 + header.len() + SYN.len()).unwrap();
        let [a, b] = len.to_be_bytes();
        let ip = [
            0x45, 0, a, b, 0, 0, 0, 0, 64, 47, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2,
        ];
        of(RAW, &[&ip[..], header, SYN].concat())
    };
    let whole = of(RAW, SYN);
    let both = [
        0x30, 0x81, 0x88, 0x0b, 0, 64, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0xff, 3, 0, 0x21,
    ];
    assert_eq!(gre(&both), whole);
    assert_eq!(
        gre(&[0x30, 1, 0x88, 0x0b, 0, 61, 0, 1, 0, 0, 0, 1, 0x21]),
        whole
    );
    let nothing = gre(&[0x20, 0x81, 0x88, 0x0b, 0, 0, 0, 1, 0, 0, 0, 2]);
    assert_eq!(nothing, Dissected::Other(Reason::Gre(0x880b)));
    let encrypted = gre(&[0x30, 1, 0x88, 0x0b, 0, 62, 0, 1, 0, 0, 0, 1, 0, 0xfd]);
    assert_eq!(encrypted, Dissected::Other(Reason::Ppp(0xfd)));
    let routed = gre(&[0x40, 0, 8, 0, 0, 0, 0, 0]);
    assert_eq!(routed, Dissected::Other(Reason::Gre(0x0800)));
}

#[test]
fn ethernet_padding_is_no_payload() {
    let mut frame = after(&[0; 12], &[8, 0]);
    frame.extend(SYN);
    frame.extend([0; 20]);
    assert_eq!(tcp(ETHERNET, &frame).payload, 0);
}

/// Holds tmix/headers.
#[test]
fn a_segment_of_which_headers_were_kept_has_all_its_payload() {
    let mut packet = SYN.to_vec();
    packet[2..4].copy_from_slice(&1_500_u16.to_be_bytes());
    // Up to the window and no more.
    assert_eq!(tcp(RAW, &packet[..36]).payload, 1_440);
    assert_eq!(tcp(RAW, &packet[..36]).options, TcpOptions::default());
    assert_eq!(tcp(RAW, &packet[..44]).options.mss, Some(1_460));
    assert_eq!(of(RAW, &packet[..35]), Dissected::Other(Reason::Cut));
    assert_eq!(of(RAW, &packet[..19]), Dissected::Other(Reason::Cut));
    assert_eq!(of(RAW, &[]), Dissected::Other(Reason::Cut));
}

#[test]
fn a_packet_that_the_card_will_cut_has_the_length_of_the_frame() {
    let mut packet = SYN.to_vec();
    packet[2..4].fill(0);
    let packet = Packet {
        at_ns: 0,
        link: RAW,
        original_len: 70_000,
        octets: &packet,
    };
    let Dissected::Tcp(segment) = dissect(&packet) else {
        panic!("TCP")
    };
    assert_eq!((segment.packet_len, segment.payload), (70_000, 69_940));
}

#[test]
fn fragments_are_told_apart() {
    let mut packet = SYN.to_vec();
    packet[6..8].copy_from_slice(&[0x20, 0]);
    assert_eq!(tcp(RAW, &packet).seq, 0x1234);
    packet[6..8].copy_from_slice(&[0x20, 1]);
    assert_eq!(of(RAW, &packet), Dissected::Other(Reason::Fragment));
    let mut six = UDP6.to_vec();
    six[6] = 44;
    six.splice(40..40, [17, 0, 0, 1, 0, 0, 0, 9]);
    assert!(matches!(of(RAW, &six), Dissected::Udp(_)));
    six[43] = 0x09;
    assert_eq!(of(RAW, &six), Dissected::Other(Reason::Fragment));
}

#[test]
fn extension_headers_are_skipped() {
    let Dissected::Udp(plain) = of(RAW, UDP6) else {
        panic!("UDP")
    };
    assert_eq!((plain.payload, plain.packet_len), (100, 148));
    assert_eq!(plain.from.to_string(), "[fd77::1]:53");
    let mut packet = UDP6.to_vec();
    packet[5] += 8 + 16;
    packet[6] = 0;
    let mut extensions = vec![60, 0, 0, 0, 0, 0, 0, 0];
    extensions.extend([17, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    packet.splice(40..40, extensions);
    let Dissected::Udp(found) = of(RAW, &packet) else {
        panic!("UDP")
    };
    assert_eq!(
        (found.payload, found.from, found.to),
        (100, plain.from, plain.to)
    );
    assert_eq!(found.packet_len, 172);
}

#[test]
fn what_is_something_else_says_why() {
    let arp = after(&[0; 12], &[8, 6, 0, 1, 8, 0]);
    assert_eq!(
        of(ETHERNET, &arp),
        Dissected::Other(Reason::EtherType(0x0806))
    );
    assert_eq!(of(RAW, &[0x55; 40]), Dissected::Other(Reason::Version(5)));
    let changed = |at: usize, octet: u8| {
        let mut packet = SYN.to_vec();
        packet[at] = octet;
        of(RAW, &packet)
    };
    assert_eq!(changed(9, 1), Dissected::Other(Reason::Protocol(1)));
    // Header lengths of IP and of TCP: too small, or more than there is.
    assert_eq!(changed(0, 0x44), Dissected::Other(Reason::Malformed));
    assert_eq!(changed(3, 19), Dissected::Other(Reason::Malformed));
    assert_eq!(changed(32, 0x40), Dissected::Other(Reason::Malformed));
    assert_eq!(changed(32, 0xf0), Dissected::Other(Reason::Malformed));
}

#[test]
fn options_that_do_not_fit_end_the_list() {
    let with = |options: [u8; 4]| {
        let mut packet = SYN[..44].to_vec();
        packet[32] = 0x60;
        packet[40..].copy_from_slice(&options);
        tcp(RAW, &packet).options
    };
    for options in [
        [2, 0, 5, 0xb4],
        [2, 1, 5, 0xb4],
        [2, 5, 5, 0xb4],
        [1, 1, 1, 2],
        [0, 3, 3, 7],
    ] {
        assert_eq!(with(options), TcpOptions::default(), "{options:?}");
    }
    // A shift beyond what is allowed counts as the largest.
    assert_eq!(with([1, 3, 3, 200]).window_scale, Some(14));
}

proptest! {
    #[test]
    fn an_endpoint_is_its_address(v4: [u8; 4], v6: [u8; 16], port: u16) {
        let four = SocketAddr::from((v4, port));
        prop_assert_eq!(SocketAddr::from(Endpoint::from(four)), four);
        let six = SocketAddr::new(std::net::IpAddr::from(v6).to_canonical(), port);
        prop_assert_eq!(SocketAddr::from(Endpoint::from(six)), six);
    }

    #[test]
    fn no_octets_are_too_strange(
        link in prop::sample::select(vec![0_u16, 1, 9, 12, 14, 51, 100, 101, 104, 108, 113, 219, 228, 229, 239, 276]),
        mut octets in prop::collection::vec(any::<u8>(), 0..120),
        first in prop::option::of(prop::sample::select(vec![0x45_u8, 0x4f, 0x60])),
    ) {
        if let (Some(first), Some(place)) = (first, octets.first_mut()) {
            *place = first;
        }
        of(link, &octets);
    }

    #[test]
    fn no_bit_of_a_segment_can_break_it(at in 0..SYN.len() * 8, cut in 0..=SYN.len()) {
        let mut packet = SYN.to_vec();
        packet[at / 8] ^= 1 << (at % 8);
        of(RAW, &packet[..cut]);
    }
}
