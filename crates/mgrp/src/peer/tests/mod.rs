mod counters;
mod holding;
mod link;
mod ranges;
mod receiving;
mod sending;

use super::*;
use crate::envelope::tests::tag;
use crate::envelope::{ENVELOPE, Envelope};
use crate::ip;
use crate::packet::Packet;
use crate::transaction::{Probe, Ranges, Spacing, Transaction};
use core::net::Ipv4Addr;

const SESSION: u64 = 0x1234_5678_9abc_def0;

/// Packets wait, whether there are trains or not.
fn config() -> Config {
    let source = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    Config {
        hold: Hold::Always,
        ..Config::new(Carrier::UdpV4, SESSION, source)
    }
}

fn us(us: u64) -> Instant {
    Instant::from_nanos(us * 1_000)
}

/// `count` probes of `octets` each, `gap_us` apart, with their places for headers.
fn train(count: u32, octets: u16, gap_us: u64) -> Transaction {
    let probe = |place: u32| Probe {
        header: place.to_be_bytes().to_vec(),
        octets,
        gap: Duration::from_micros(gap_us),
        may_carry: true,
    };
    Transaction {
        channel: 3,
        probes: (0..count).map(probe).collect(),
    }
}

/// From `count[0]` to `count[1]` probes of `octets`, `gap_us` apart, the first of which may wait for a second.
fn ranges(
    count: [u32; 2],
    octets: Option<u16>,
    spacing: fn(Duration) -> Spacing,
    gap_us: u64,
) -> Ranges {
    Ranges {
        channel: 3,
        count,
        octets,
        spacing: spacing(Duration::from_micros(gap_us)),
        patience: Duration::from_secs(1),
    }
}

/// A datagram that has left.
struct Left {
    at: Instant,
    sequence: u64,
    datagram: Vec<u8>,
}

impl Left {
    fn packet(&self) -> Packet<'_> {
        let envelope = Envelope::parse(&self.datagram).unwrap();
        Packet::parse(envelope.open(self.sequence, tag).unwrap()).unwrap()
    }

    /// Octets of the IP packet.
    fn octets(&self) -> usize {
        self.datagram.len() + Carrier::UdpV4.outside()
    }
}

/// A peer and a clock that goes from one deadline to the next.
struct World {
    peer: Peer,
    now: Instant,
    left: Vec<Left>,
    finished: Vec<Finished>,
}

impl World {
    fn new(config: Config) -> Self {
        Self {
            peer: Peer::new(config),
            now: Instant::ZERO,
            left: Vec::new(),
            finished: Vec::new(),
        }
    }

    /// All that leaves by `to`, each at its time.
    fn advance(&mut self, to: Instant) {
        while let Some(due) = self.peer.next_timeout().filter(|due| *due <= to) {
            self.now = self.now.max(due);
            self.drain();
            let next = self.peer.next_timeout();
            assert!(
                next.is_none_or(|next| next > self.now),
                "nothing is done twice"
            );
        }
        self.now = self.now.max(to);
    }

    fn drain(&mut self) {
        while let Some(transmit) = self.peer.poll_transmit(self.now) {
            let (sequence, is_probe) = (transmit.sequence, transmit.is_probe);
            let datagram = transmit.seal(self.now.as_nanos(), tag);
            self.left.push(Left {
                at: self.now,
                sequence,
                datagram,
            });
            if is_probe {
                self.peer.sent(sequence, self.now);
            }
        }
        self.finished
            .extend(std::iter::from_fn(|| self.peer.poll_finished()));
    }

    fn offer(&mut self, packet: Vec<u8>) -> Result<(), Dropped> {
        let offered = self.peer.offer(packet, true, self.now);
        self.drain();
        offered
    }

    fn begin(&mut self, request: impl Into<Request>) -> Result<u64, Refusal> {
        let begun = self.peer.begin(request, Duration::ZERO, self.now);
        self.drain();
        begun
    }

    fn probes(&self) -> impl Iterator<Item = &Left> {
        let left = self.left.iter();
        left.filter(|left| left.packet().probe.is_some())
    }
}
