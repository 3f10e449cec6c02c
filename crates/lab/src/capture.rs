//! What is kept of every packet, for a capture file.

use packet::Frame;
use path::Packet;
use units::Instant;

/// Most octets of a direction that wait to be taken, the packets' counters among them. Older ones stay; newer packets are
/// counted as uncaptured.
const MOST_WAITING: usize = 64 << 20;

/// The beginnings of packets, in the order in which they left a link, in one buffer.
///
/// Of a transport checksum only the part that is computed before sending may be right: the rest is left to the receiver,
/// as with any capture on the sending host.
#[derive(Debug, Default)]
pub struct Capture {
    packets: Vec<Kept>,
    octets: Vec<u8>,
}

/// The counters of a packet.
#[derive(Debug)]
struct Kept {
    at: Instant,
    length: u32,
    /// Where its octets end; they begin where those of the packet before end.
    end: usize,
}

/// A packet of a [`Capture`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Captured<'a> {
    /// Its logical departure.
    pub at: Instant,
    /// Octets that it had, from its IP header on.
    pub length: u32,
    /// As many of them as were to be kept.
    pub octets: &'a [u8],
}

impl Capture {
    /// The packets, in order.
    pub fn iter(&self) -> impl Iterator<Item = Captured<'_>> {
        let mut start = 0;
        self.packets.iter().map(move |kept| {
            let octets = self.octets.get(start..kept.end).unwrap_or_default();
            start = kept.end;
            Captured {
                at: kept.at,
                length: kept.length,
                octets,
            }
        })
    }

    /// How many packets there are.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Keeps the first `most` octets of `packet`.
    pub(crate) fn keep(&mut self, packet: &Packet<Frame>, most: u16) {
        let octets = packet.body.bytes();
        let kept = octets.len().min(most.into());
        self.octets.extend_from_slice(&octets[..kept]);
        self.packets.push(Kept {
            at: packet.at,
            length: u32::try_from(octets.len()).unwrap_or(u32::MAX),
            end: self.octets.len(),
        });
    }

    /// Moves all of it to the end of `to`, or drops it if that is full; returns how many packets were dropped.
    pub(crate) fn publish(&mut self, to: &mut Self) -> u64 {
        let fits = self.size() + to.size() <= MOST_WAITING;
        let dropped = if fits { 0 } else { self.packets.len() };
        if to.is_empty() && fits {
            std::mem::swap(self, to);
        } else if fits {
            let start = to.octets.len();
            to.octets.extend_from_slice(&self.octets);
            let moved = self.packets.drain(..).map(|kept| Kept {
                end: start + kept.end,
                ..kept
            });
            to.packets.extend(moved);
        }
        self.packets.clear();
        self.octets.clear();
        dropped as u64
    }

    fn size(&self) -> usize {
        self.octets.len() + self.packets.len() * size_of::<Kept>()
    }
}
