//! Packets as tshark tells of them, and the little that has to be known of ours: docs/protocol.md.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::process::Command;

const FIELDS: [&str; 17] = [
    "frame.time_epoch",
    "ip.src",
    "ipv6.src",
    "ip.len",
    "ipv6.plen",
    "ip.dsfield",
    "ipv6.tclass",
    "udp.srcport",
    "udp.dstport",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.len",
    "tcp.seq_raw",
    "tcp.ack_raw",
    "tcp.flags",
    "udp.payload",
    "tcp.payload",
];
/// The client's addresses in every lab: it is the first node.
const CLIENT: [&str; 2] = ["10.77.0.1", "fd77::1"];
/// The links' MTU.
const MTU: u64 = 1_500;

pub(super) const SYN: u64 = 0x02;

pub(super) struct Packet {
    /// Nanoseconds since 1970.
    pub(super) at: i64,
    pub(super) v6: bool,
    /// Whether the client sent it.
    pub(super) up: bool,
    /// Of the IP packet. With segmentation offload the kernel hands over several segments at once.
    pub(super) octets: u64,
    /// Traffic-class octet.
    pub(super) class: u8,
    /// The client's port and the server's; of neither TCP nor UDP zero.
    pub(super) ports: (u16, u16),
    pub(super) segment: Option<Segment>,
    /// As much of TCP's or UDP's payload as was captured.
    pub(super) payload: Vec<u8>,
}

#[derive(Clone, Copy)]
pub(super) struct Segment {
    pub(super) seq: u32,
    pub(super) ack: u32,
    pub(super) len: u64,
    pub(super) flags: u64,
}

/// The header that all our datagrams share.
#[derive(Clone, Copy)]
pub(super) struct Ours {
    pub(super) kind: u8,
    /// As sent, of requests, replies and one-way datagrams.
    pub(super) class: u8,
    pub(super) stream: u16,
    pub(super) seq: u32,
}

pub(super) const REQUEST: u8 = 1;
pub(super) const REPLY: u8 = 2;
pub(super) const ONE_WAY: u8 = 3;
pub(super) const DATA: u8 = 4;
pub(super) const ACK: u8 = 5;

impl Packet {
    pub(super) fn is_tcp(&self) -> bool {
        self.segment.is_some()
    }

    /// Which TCP connection.
    pub(super) fn flow(&self) -> (bool, u16) {
        (self.v6, self.ports.0)
    }

    /// Octets of TCP's payload.
    pub(super) fn data(&self) -> u64 {
        self.segment.map_or(0, |segment| segment.len)
    }

    /// How many packets it is on the path, and their octets.
    pub(super) fn on_the_wire(&self) -> (u64, u64) {
        let header = self.octets - self.data();
        let packets = self.data().div_ceil(MTU - header).max(1);
        (packets, self.octets + (packets - 1) * header)
    }

    pub(super) fn ours(&self) -> Option<Ours> {
        let octets = &self.payload;
        (!self.is_tcp() && octets.len() >= 48 && octets.starts_with(b"ISOB")).then(|| Ours {
            kind: octets[5],
            class: octets[6],
            stream: u16::from_be_bytes(octets[8..10].try_into().unwrap()),
            seq: self.word(12),
        })
    }

    /// A number of 32 bits in the payload.
    pub(super) fn word(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.payload[at..at + 4].try_into().unwrap())
    }

    /// A number of 64 bits in the payload.
    pub(super) fn long(&self, at: usize) -> u64 {
        u64::from_be_bytes(self.payload[at..at + 8].try_into().unwrap())
    }
}

/// All packets in a capture, in the order of their times.
#[track_caller]
pub(super) fn read(file: &Path) -> Vec<Packet> {
    let mut command = Command::new("tshark");
    let options = ["-n", "-T", "fields", "-E", "occurrence=f", "-r"];
    command.args(options).arg(file);
    // Nothing is to be put together: each packet is looked at by itself.
    for protocol in ["tls", "http2", "dns"] {
        command.args(["--disable-protocol", protocol]);
    }
    command.args(["-o", "tcp.desegment_tcp_streams:FALSE"]);
    command.args(FIELDS.iter().flat_map(|field| ["-e", field]));
    let said = command.output().unwrap();
    assert!(said.status.success(), "{said:?}");
    let lines = String::from_utf8(said.stdout).unwrap();
    let mut packets: Vec<_> = lines.lines().filter_map(packet).collect();
    packets.sort_by_key(|packet| packet.at);
    packets
}

/// A line of [`read`]'s; none of what is not IP.
fn packet(line: &str) -> Option<Packet> {
    let fields: Vec<_> = line.split('\t').collect();
    let fields: [&str; FIELDS.len()] = fields.try_into().unwrap();
    let number = |at: usize| -> Option<u64> {
        let text = fields[at];
        let hexadecimal = text.strip_prefix("0x");
        hexadecimal.map_or_else(
            || text.parse().ok(),
            |text| u64::from_str_radix(text, 16).ok(),
        )
    };
    let port = |at: usize| number(at).map(|port| u16::try_from(port).unwrap());
    let v6 = fields[1].is_empty();
    let up = CLIENT.contains(&fields[if v6 { 2 } else { 1 }]);
    let octets = if v6 { number(4)? + 40 } else { number(3)? };
    let from = port(7).or(port(9)).unwrap_or_default();
    let to = port(8).or(port(10)).unwrap_or_default();
    let segment = number(11).map(|len| Segment {
        seq: number(12).unwrap() as u32,
        ack: number(13).unwrap() as u32,
        len,
        flags: number(14).unwrap(),
    });
    Some(Packet {
        at: nanoseconds(fields[0]),
        v6,
        up,
        octets,
        class: u8::try_from(number(if v6 { 6 } else { 5 })?).unwrap(),
        ports: if up { (from, to) } else { (to, from) },
        segment,
        payload: bytes(fields[if segment.is_some() { 16 } else { 15 }]),
    })
}

fn nanoseconds(epoch: &str) -> i64 {
    let (seconds, part) = epoch.split_once('.').unwrap();
    seconds.parse::<i64>().unwrap() * 1_000_000_000 + format!("{part:0<9}").parse::<i64>().unwrap()
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits: Vec<_> = hexadecimal.bytes().filter(|b| *b != b':').collect();
    let pairs = digits.chunks_exact(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// Which stream of a plan each TCP connection carries, by the preamble in its first segment.
pub(super) fn streams(packets: &[Packet]) -> HashMap<(bool, u16), u16> {
    let begins =
        |packet: &&Packet| packet.up && packet.is_tcp() && packet.payload.starts_with(b"ISOB");
    let stream = |packet: &Packet| u16::from_be_bytes(packet.payload[6..8].try_into().unwrap());
    packets
        .iter()
        .filter(begins)
        .map(|packet| (packet.flow(), stream(packet)))
        .collect()
}

/// Octets of one direction of a TCP connection that have been seen, by their distance from its first.
#[derive(Default)]
pub(super) struct Seen {
    first: Option<u32>,
    /// Ranges seen, by their begin.
    ranges: BTreeMap<u64, u64>,
}

impl Seen {
    /// Octets of `segment` that had not been seen before.
    pub(super) fn add(&mut self, segment: Segment) -> u64 {
        let own = u32::from(segment.flags & SYN != 0);
        let first = *self.first.get_or_insert(segment.seq.wrapping_add(own));
        if segment.len == 0 {
            return 0;
        }
        let begin = u64::from(segment.seq.wrapping_sub(first));
        let mut range = (begin, begin + segment.len);
        let mut known = 0;
        while let Some((&begin, &end)) = self.ranges.range(..=range.1).next_back() {
            if end < range.0 {
                break;
            }
            self.ranges.remove(&begin);
            known += end - begin;
            range = (range.0.min(begin), range.1.max(end));
        }
        self.ranges.insert(range.0, range.1);
        range.1 - range.0 - known
    }
}
