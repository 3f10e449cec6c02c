//! What strangers send is dropped by the kernel, before it wakes anybody.
//!
//! The socket of a server has a filter (socket(7), `SO_ATTACH_FILTER`): datagrams with our magic number pass if they bear the number of
//! a session, others if they look like a DNS query, and while there is no session nothing passes. That changes nothing in
//! what is answered, as the responder looks at all of it again, and at the tag besides: it is only cheaper. The filter is replaced
//! before a new client is told the number of its session, so that none of its datagrams meets the old one.
//!
//! A server of pages has two sockets on its port, and the kernel sorts between them ([`sort`]): packets of QUIC (RFC 9000 section 17: the
//! second bit is set) go to the other one, whose filter lets nothing pass while nothing is published. What is ours, or looks like a query,
//! has that bit by chance or in its magic number, and is looked for first. A packet with a short header of a connection whose number
//! happens to look so is lost: one connection of 16 million has such a number.

use session::Sessions;
use session::wire::MAGIC;
use socket2::{SockFilter, SockRef};
use std::sync::Arc;
use sys::udp::UdpSocket;

/// With more sessions than this everything with our magic number passes: the kernel has room for some thousand instructions.
const MOST: usize = 64;

// Instructions (linux/bpf_common.h): load four octets; skip `yes` or `no` instructions; return how many octets to keep.
const LOAD: u16 = 0x20;
const LOAD_OCTET: u16 = 0x30;
const EQUAL: u16 = 0x15;
const HAS_BITS: u16 = 0x45;
const RETURN: u16 = 0x06;
const ALL: u32 = u32::MAX;
/// The filter sees the UDP header first.
const PAYLOAD: u32 = 8;
/// Where a datagram of ours has its session, high half and low half.
const SESSION: [u32; 2] = [16, 20];
/// Where a DNS query says how many questions and answers it has, and with one question and none of the other
/// (RFC 1035 section 4.1.1).
const COUNTS: u32 = 4;
const ONE_QUESTION: u32 = 0x0001_0000;

/// Set in every packet of QUIC version 1.
const FIXED_BIT: u32 = 0x40;

/// Keeps the filter of `socket` at what `sessions` there are.
pub(crate) fn guard(socket: &Arc<UdpSocket>, sessions: &Sessions) {
    let socket = Arc::clone(socket);
    sessions.watch(move |numbers| {
        let socket = SockRef::from(&*socket);
        // A kernel that does not take it: the responder drops the same, at more cost.
        if socket.attach_filter(&program(numbers)).is_err() {
            let _ = socket.detach_filter();
        }
    });
}

/// Which of the two sockets gets a datagram: 0 for ours, 1 for that of QUIC. Here the payload comes first.
pub(crate) fn sort() -> Vec<SockFilter> {
    vec![
        SockFilter::new(LOAD, 0, 0, 0),
        skip(u32::from_be_bytes(MAGIC), 4, 0),
        SockFilter::new(LOAD, 0, 0, COUNTS),
        skip(ONE_QUESTION, 2, 0),
        SockFilter::new(LOAD_OCTET, 0, 0, 0),
        SockFilter::new(HAS_BITS, 1, 0, FIXED_BIT),
        keep(0),
        keep(1),
    ]
}

const fn load(at: u32) -> SockFilter {
    SockFilter::new(LOAD, 0, 0, PAYLOAD + at)
}

const fn skip(value: u32, yes: u8, no: u8) -> SockFilter {
    SockFilter::new(EQUAL, yes, no, value)
}

const fn keep(octets: u32) -> SockFilter {
    SockFilter::new(RETURN, 0, 0, octets)
}

/// The filter for sessions with these numbers. A load beyond the end drops the datagram.
fn program(sessions: &[u64]) -> Vec<SockFilter> {
    if sessions.is_empty() {
        return vec![keep(0)];
    }
    let mut program = vec![
        load(0),
        skip(u32::from_be_bytes(MAGIC), 4, 0),
        load(COUNTS),
        skip(ONE_QUESTION, 1, 0),
        keep(0),
        keep(ALL),
    ];
    if sessions.len() > MOST {
        program.push(keep(ALL));
        return program;
    }
    for number in sessions {
        let octets = number.to_be_bytes();
        let [high, low] = [&octets[..4], &octets[4..]].map(|half| {
            half.iter()
                .fold(0, |word, &octet| word << 8 | u32::from(octet))
        });
        program.extend([
            load(SESSION[0]),
            skip(high, 0, 3),
            load(SESSION[1]),
            skip(low, 0, 1),
            keep(ALL),
        ]);
    }
    program.push(keep(0));
    program
}

#[cfg(test)]
mod tests {
    use super::*;
    use session::wire::{Flags, Kind, Probe};
    use session::{DataKey, DataKeys};
    use std::time::Duration;
    use sys::udp::RecvBatch;
    use units::{Instant, TrafficClass};

    const PATIENCE: Duration = Duration::from_secs(5);
    const SESSIONS: [u64; 3] = [0x0102_0304_0506_0708, 0x0102_0304_ffff_ffff, 9];

    fn request(session: u64) -> Vec<u8> {
        let probe = Probe {
            kind: Kind::Request,
            class: TrafficClass::default(),
            arrived: TrafficClass::default(),
            stream: 1,
            flags: Flags::default(),
            sequence: 7,
            session,
            sent: Instant::from_nanos(1),
            received: Instant::ZERO,
            replied: Instant::ZERO,
        };
        let keys = DataKeys::from(DataKey::new([7; 32]));
        let mut datagram = vec![0; 64];
        probe.emit(&mut datagram, &keys.to_server).unwrap();
        datagram
    }

    fn query(questions: u8) -> Vec<u8> {
        let header = [0, 7, 1, 0, 0, questions, 0, 0, 0, 0, 0, 0];
        [&header[..], b"\x03www\x07example\0\0\x01\0\x01"].concat()
    }

    /// Which of these arrive at a socket with the filter for `sessions`, by their places; the last one must.
    fn arrived(local: &str, sessions: &[u64], sent: &[Vec<u8>]) -> Vec<usize> {
        let socket = UdpSocket::bind(local.parse().unwrap()).unwrap();
        let reference = SockRef::from(&socket);
        reference.attach_filter(&program(sessions)).unwrap();
        let stranger = std::net::UdpSocket::bind(local).unwrap();
        let to = socket.local_addr().unwrap();
        for datagram in sent {
            stranger.send_to(datagram, to).unwrap();
        }
        let mut batch = RecvBatch::new(64, 2_048);
        let mut places = Vec::new();
        while places.last() != Some(&(sent.len() - 1)) {
            assert!(socket.wait(PATIENCE).unwrap().datagram, "{places:?}");
            socket.recv(&mut batch).unwrap();
            for datagram in batch.iter() {
                places.extend(sent.iter().position(|sent| sent == datagram.payload));
            }
        }
        places
    }

    #[test]
    fn what_is_of_no_session_does_not_arrive() {
        let mut sent: Vec<_> = SESSIONS.map(request).to_vec();
        // Halves of numbers, a cut header, noise, nothing, two questions; then a query.
        sent.extend([0x0102_0304_0506_0709, 0x0506_0708, 0x0102_0304, 8].map(request));
        sent.extend([
            request(9)[..20].to_vec(),
            vec![0x55; 200],
            Vec::new(),
            query(2),
            query(1),
        ]);
        for local in ["127.0.0.1:0", "[::1]:0"] {
            assert_eq!(arrived(local, &SESSIONS, &sent), [0, 1, 2, 11], "{local}");
        }
    }

    #[test]
    fn packets_of_quic_go_to_their_own_socket() {
        let [ours, quic] = UdpSocket::bind_sorted("127.0.0.1:0".parse().unwrap(), &sort()).unwrap();
        let initial = [0xc3, 0, 0, 0, 1, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0];
        let short = [0x49, b'S', b'O', b'C', 4, 5, 6, 7, 8];
        let mut busy = query(1);
        busy[0] = 0xc3;
        let sent = [
            initial.to_vec(),
            request(9),
            short.to_vec(),
            query(1),
            busy,
            vec![0x15; 20],
            vec![0x49],
        ];
        let stranger = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        for datagram in &sent {
            let to = ours.local_addr().unwrap();
            stranger.send_to(datagram, to).unwrap();
        }
        let places = |socket: &UdpSocket, count| {
            let mut batch = RecvBatch::new(64, 2_048);
            let mut places = Vec::new();
            while places.len() < count {
                assert!(socket.wait(PATIENCE).unwrap().datagram, "{places:?}");
                socket.recv(&mut batch).unwrap();
                for datagram in batch.iter() {
                    places.extend(sent.iter().position(|sent| sent == datagram.payload));
                }
            }
            places
        };
        assert_eq!(places(&quic, 2), [0, 2]);
        // What is too short to be told is ours to drop.
        assert_eq!(places(&ours, 5), [1, 3, 4, 5, 6]);
    }

    #[test]
    fn where_there_are_very_many_sessions_only_noise_is_dropped() {
        let many: Vec<u64> = (0..=MOST as u64).collect();
        let sent = [vec![0x55; 200], query(2), request(1 << 40)];
        assert_eq!(arrived("127.0.0.1:0", &many, &sent), [2]);
        let most = &many[..MOST];
        let sent = [request(1 << 40), request(MOST as u64 - 1)];
        assert_eq!(arrived("127.0.0.1:0", most, &sent), [1]);
    }
}
