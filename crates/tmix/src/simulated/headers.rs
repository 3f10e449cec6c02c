//! Simulated packets as they would stand on a network: numbers of octets, headers, options.
//!
//! The machines count segments, a network counts octets. Hosts tell [`Headers`] of each segment when it first leaves; whoever sees
//! a packet later is told its headers. Connections have ports of their own ([`ports`]), hosts an address each.
//!
//! Not known, and therefore as it was when the packet's end last said it: what a packet acknowledges that carries no
//! acknowledgement, and number and time stamp of one without data.

use super::number_of;
use crate::replay::workload::Host;
use capture::Segment;
use capture::dissect::Flags;
use sim::Parcel;
use sim::tcp::{Data, Tcp};
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;
use transport::{Ack, Seq};
use units::{Instant, TrafficClass};
use vectors::play::datagrams::{LABEL, label};

/// Packets of a connection that has ended may still come for so long.
const LATE: Duration = Duration::from_secs(130);
/// Ports of initiators, and the first of acceptors: as in a laboratory.
const SOURCES: std::ops::Range<u16> = 1_024..64_000;
/// The largest segment, as a SYN says it.
const MSS: u16 = 1_460;
/// As Linux sends packets, seen from the next hop.
const HOP_LIMIT: u8 = 64;
/// A window without a limit, as Linux scales it.
const WIDE: u32 = 4 << 20;

/// Shared by hosts and the link that is watched.
pub(super) type Shared = Rc<RefCell<Headers>>;

/// See the module.
#[derive(Default)]
pub(super) struct Headers {
    connections: HashMap<u32, Connection>,
    /// Connections that have ended, by time.
    ended: VecDeque<(Instant, u32)>,
}

/// A connection, or a flow of UDP.
struct Connection {
    initiator: Host,
    /// The initiator's first.
    ends: [End; 2],
}

/// What an end says.
#[derive(Default)]
struct End {
    sequence: Sequence,
    window: u32,
    /// The end of what has been seen of it, what it has acknowledged, and its clock and its peer's, in milliseconds.
    seen: u32,
    acked: u32,
    clock: u32,
    echo: u32,
}

/// Where segments stand among octets.
#[derive(Default)]
struct Sequence {
    runs: Vec<Run>,
    /// Number of the next new segment, and the octets before it.
    next: u32,
    end: u32,
}

/// Segments of equal length, from the one with this number.
#[derive(Clone, Copy)]
struct Run {
    number: u32,
    offset: u32,
    len: u32,
}

/// The ports of connection `number`, the initiator's first.
pub(super) fn ports(number: u32) -> [u16; 2] {
    let sources = u32::from(SOURCES.end - SOURCES.start);
    let port =
        |from: u16, steps: u32| from.wrapping_add(u16::try_from(steps & 0xffff).unwrap_or(0));
    let source = port(SOURCES.start, number % sources);
    let destination = port(SOURCES.end, number / sources % 1_536);
    [source, destination]
}

/// Of a host: from the first block for documentation (RFC 5737).
const fn address(host: Host) -> Ipv4Addr {
    match host {
        Host::Client => Ipv4Addr::new(192, 0, 2, 1),
        Host::Server => Ipv4Addr::new(192, 0, 2, 2),
    }
}

impl Headers {
    /// Connection `number` may begin at `initiator`; its ends offer these windows, if they are limited.
    pub(super) fn begin(&mut self, number: u32, initiator: Host, windows: [Option<u32>; 2]) {
        let end = |window: Option<u32>| End {
            window: window.unwrap_or(WIDE),
            ..End::default()
        };
        let ends = windows.map(end);
        self.connections
            .insert(number, Connection { initiator, ends });
    }

    /// It has ended at `now`.
    pub(super) fn end(&mut self, number: u32, now: Instant) {
        self.ended.push_back((now, number));
        while let Some((_, number)) = self.ended.pop_front_if(|(at, _)| now.since(*at) > LATE) {
            self.connections.remove(&number);
        }
    }

    /// A packet leaves its host.
    pub(super) fn sent(&mut self, packet: &Parcel<Tcp>) {
        let [number, side] = place(packet);
        if let Tcp::Data(data) = &packet.body.payload
            && let Some(connection) = self.connections.get_mut(&number)
        {
            connection.ends[side as usize].sequence.sent(data);
        }
    }

    /// Appends the headers of a packet to `out`; returns the octets that it had, or none for a packet of no connection.
    pub(super) fn write(&mut self, packet: &Parcel<Tcp>, out: &mut Vec<u8>) -> Option<usize> {
        let [number, side] = place(packet);
        let side = side as usize;
        let connection = self.connections.get_mut(&number)?;
        let [from, to] = connection.addresses(number, side);
        let class = TrafficClass {
            dscp: packet.dscp,
            ecn: packet.ecn,
        };
        if let Tcp::Udp(datagram) = &packet.body.payload {
            let datagram = capture::Datagram {
                from,
                to,
                class,
                hop_limit: HOP_LIMIT,
                kept: &datagram.label.map(label).unwrap_or_default()
                    [..LABEL.min(datagram.len.into())],
                len: datagram.len.into(),
            };
            return Some(datagram.write(out));
        }
        let mut options = Vec::with_capacity(40);
        let firsts = [first(number, side), first(number, 1 - side)];
        let tcp = &packet.body.payload;
        let (flags, numbers, len) = connection.say(side, tcp, firsts[1], &mut options)?;
        let is_syn = flags.has(Flags::SYN);
        let [seq, ack] = numbers;
        let segment = Segment {
            from,
            to,
            class,
            hop_limit: HOP_LIMIT,
            seq: seq.wrapping_add(firsts[0]),
            ack: if flags.has(Flags::ACK) {
                ack.wrapping_add(firsts[1])
            } else {
                0
            },
            flags,
            window: connection.ends[side].shown(is_syn),
            options: &options,
            len,
        };
        Some(segment.write(out))
    }
}

/// Connection and side of a packet's sender.
fn place(packet: &Parcel<Tcp>) -> [u32; 2] {
    [number_of(packet.flow), u32::from(packet.flow.0 % 2 == 1)]
}

/// The number of an end's SYN.
fn first(number: u32, side: usize) -> u32 {
    let spread = if side == 0 { 0x9e37_79b9 } else { 0x85eb_ca6b };
    number.wrapping_add(1).wrapping_mul(spread)
}

impl Connection {
    /// Where what `side` says comes from and goes to.
    fn addresses(&self, number: u32, side: usize) -> [SocketAddr; 2] {
        let hosts = [self.initiator, self.initiator.other()];
        let ports = ports(number);
        [side, 1 - side].map(|end| (address(hosts[end]), ports[end]).into())
    }

    /// Flags, numbers (counted from the SYNs) and payload of what `side` says; its options go to `options`, with numbers counted
    /// from `first`, that of the peer's SYN.
    fn say(
        &mut self,
        side: usize,
        tcp: &Tcp,
        first: u32,
        options: &mut Vec<u8>,
    ) -> Option<(Flags, [u32; 2], usize)> {
        let (said, len, end) = match tcp {
            Tcp::Syn(_) | Tcp::SynAck(_) => {
                let end = &mut self.ends[side];
                end.stamp(tcp);
                end.syn_options(options);
                let is_answer = !tcp.is_syn();
                let (flags, ack) = if is_answer {
                    (Flags::SYN | Flags::ACK, 1)
                } else {
                    (Flags::SYN, 0)
                };
                return Some((flags, [0, ack], 0));
            }
            Tcp::Data(data) => {
                let offset = self.ends[side].sequence.offset(data.segment.seq)?;
                let len = u32::from(data.segment.len);
                self.ends[side].clock = milliseconds(data.segment.sent);
                (data.ack.as_ref(), len, Some((offset, data)))
            }
            Tcp::Ack(ack) => (Some(&**ack), 0, None),
            Tcp::Confirm(_) | Tcp::Reset => {
                self.ends[side].stamp(tcp);
                (None, 0, None)
            }
            Tcp::Udp(_) => return None,
        };
        let acked = said.map_or(self.ends[side].acked, |ack| self.acknowledge(side, ack));
        let this = &mut self.ends[side];
        let (mut flags, mut seq) = (Flags::ACK, this.seen);
        if let Some((offset, data)) = end {
            seq = offset;
            if data.fin {
                flags = flags | Flags::FIN;
            }
            if data.segment.flags.probe {
                // An octet that has been acknowledged is asked for again (RFC 9293 section 3.8.6.1), as Linux does it.
                seq = seq.wrapping_sub(1);
            } else {
                let after = offset.wrapping_add(len).wrapping_add(u32::from(data.fin));
                this.seen = later(this.seen, after);
            }
        }
        let numbers = [seq.wrapping_add(1), acked.wrapping_add(1)];
        if tcp.is_reset() {
            return Some((Flags::RST | Flags::ACK, numbers, 0));
        }
        this.options(options);
        if let Some(ack) = said {
            self.blocks(side, ack, first, options);
        }
        Some((flags, numbers, len as usize))
    }

    /// Takes an acknowledgement of `side`; the octets before what it expects next.
    fn acknowledge(&mut self, side: usize, ack: &Ack) -> u32 {
        let acked = self.ends[1 - side].sequence.offset(ack.ack);
        let this = &mut self.ends[side];
        let acked = acked.unwrap_or(this.acked);
        this.acked = later(this.acked, acked);
        this.echo = milliseconds(ack.echo);
        acked
    }

    /// Selective acknowledgements (RFC 2018 section 3).
    fn blocks(&self, side: usize, ack: &Ack, first: u32, options: &mut Vec<u8>) {
        let sequence = &self.ends[1 - side].sequence;
        let first = first.wrapping_add(1);
        let edge = |number| Some(sequence.offset(number)?.wrapping_add(first));
        let blocks = ack.sack.iter();
        let blocks = blocks.filter_map(|(from, to)| Some([edge(from)?, edge(to)?]));
        let blocks: Vec<_> = blocks.collect();
        if blocks.is_empty() {
            return;
        }
        options.extend([1, 1, 5, 2 + 8 * u8::try_from(blocks.len()).unwrap_or(0)]);
        for edge in blocks.into_iter().flatten() {
            options.extend(edge.to_be_bytes());
        }
    }
}

impl End {
    /// Takes the time stamps of a packet of the handshake.
    fn stamp(&mut self, tcp: &Tcp) {
        match tcp {
            Tcp::Syn(sent) => self.clock = milliseconds(*sent),
            Tcp::SynAck(stamps) => {
                let [sent, echo] = **stamps;
                (self.clock, self.echo) = (milliseconds(sent), milliseconds(echo));
            }
            Tcp::Confirm(echo) => self.echo = milliseconds(*echo),
            _ => {}
        }
    }

    /// MSS, SACK permitted, time stamps and window scale, as Linux orders them.
    fn syn_options(&self, options: &mut Vec<u8>) {
        options.extend([2, 4]);
        options.extend(MSS.to_be_bytes());
        options.extend([4, 2, 8, 10]);
        options.extend(self.clock.to_be_bytes());
        options.extend(self.echo.to_be_bytes());
        options.extend([1, 3, 3, self.scale()]);
    }

    /// Time stamps (RFC 7323 section 3.2).
    fn options(&self, options: &mut Vec<u8>) {
        options.extend([1, 1, 8, 10]);
        options.extend(self.clock.to_be_bytes());
        options.extend(self.echo.to_be_bytes());
    }

    /// The least shift with which the window fits its field.
    fn scale(&self) -> u8 {
        let bits = u32::BITS - self.window.leading_zeros();
        // At most 14 (RFC 7323 section 2.3).
        u8::try_from(bits.saturating_sub(16)).map_or(14, |shift| shift.min(14))
    }

    /// The window as it stands in a header; a SYN's is not shifted.
    fn shown(&self, is_syn: bool) -> u16 {
        let shift = if is_syn { 0 } else { self.scale() };
        u16::try_from(self.window >> shift).unwrap_or(u16::MAX)
    }
}

impl Sequence {
    /// A segment leaves, for the first time or again.
    fn sent(&mut self, data: &Data) {
        let segment = &data.segment;
        if segment.seq.0 != self.next || segment.flags.probe {
            return;
        }
        let len = u32::from(segment.len) + u32::from(data.fin);
        if self.runs.last().is_none_or(|run| run.len != len) {
            self.runs.push(Run {
                number: self.next,
                offset: self.end,
                len,
            });
        }
        self.next = self.next.wrapping_add(1);
        self.end = self.end.wrapping_add(len);
    }

    /// Octets before the segment with this number, if it has left or is the next.
    fn offset(&self, number: Seq) -> Option<u32> {
        if number.0 >= self.next {
            return (number.0 == self.next).then_some(self.end);
        }
        let after = self.runs.partition_point(|run| run.number <= number.0);
        let run = self.runs.get(after.checked_sub(1)?)?;
        let more = (number.0 - run.number).wrapping_mul(run.len);
        Some(run.offset.wrapping_add(more))
    }
}

/// The later of two numbers that are not far from each other.
const fn later(one: u32, other: u32) -> u32 {
    if other.wrapping_sub(one) < 1 << 31 {
        other
    } else {
        one
    }
}

/// A clock of milliseconds.
fn milliseconds(at: Instant) -> u32 {
    u32::try_from((at.as_nanos() / 1_000_000) & u64::from(u32::MAX)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use transport::{PacketId, SegmentFlags};

    fn data(number: u32, len: u16, fin: bool) -> Data {
        Data {
            segment: transport::Segment {
                seq: Seq(number),
                id: PacketId(0),
                len,
                flags: SegmentFlags::default(),
                sent: Instant::ZERO,
            },
            fin,
            ack: None,
        }
    }

    proptest! {
        /// Beside a list of the octets before each segment.
        #[test]
        fn segments_stand_where_their_octets_do(lens in prop::collection::vec(1_u16..4, 1..60)) {
            let (mut sequence, mut before) = (Sequence::default(), vec![0]);
            for (number, len) in (0..).zip(&lens) {
                prop_assert_eq!(sequence.offset(Seq(number + 1)), None);
                sequence.sent(&data(number, *len, false));
                // What leaves again changes nothing.
                sequence.sent(&data(0, lens[0], false));
                before.push(before[number as usize] + u32::from(*len));
            }
            let last = u32::try_from(lens.len()).unwrap();
            sequence.sent(&data(last, 0, true));
            before.push(before[last as usize] + 1);
            for (number, before) in (0..).zip(&before) {
                prop_assert_eq!(sequence.offset(Seq(number)), Some(*before));
            }
            prop_assert_eq!(sequence.offset(Seq(last + 2)), None);
        }

        #[test]
        fn a_window_fits_its_field(window: u32) {
            let end = End { window, ..End::default() };
            let shift = end.scale();
            prop_assert!(shift <= 14);
            prop_assert_eq!(u32::from(end.shown(false)), (window >> shift).min(65_535));
            prop_assert!(window > 65_535 || u32::from(end.shown(true)) == window);
        }
    }

    #[test]
    fn later_numbers_wrap() {
        assert_eq!(later(u32::MAX, 3), 3);
        assert_eq!(later(3, u32::MAX), 3);
        assert_eq!(later(7, 7), 7);
    }
}
