//! What travels: segments one way, acknowledgements the other.

use crate::Seq;
use units::Instant;

/// Most SACK blocks in one acknowledgement: as many as TCP's options have room for (RFC 2018 section 3).
pub(crate) const MAX_BLOCKS: usize = 4;

/// Names one packet among all that a sender ever sends: the upper half counts them, the lower half cannot be guessed.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct PacketId(pub u64);

/// What a segment says of itself.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SegmentFlags {
    /// The last segment that the sender has been given so far: it is to be acknowledged at once.
    pub last: bool,
    /// The sender has answered the echo of congestion (RFC 3168 section 6.1.2).
    pub cwr: bool,
    /// Asks for the receiver's window and carries nothing (RFC 9293 section 3.8.6.1); its number is the next one.
    pub probe: bool,
}

/// A copy of a segment, as it leaves the sender.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Segment {
    /// Its number, the same in every copy.
    pub seq: Seq,
    /// This copy's own name.
    pub id: PacketId,
    /// Octets of payload.
    pub len: u16,
    /// See [`SegmentFlags`].
    pub flags: SegmentFlags,
    /// When it left, on the sender's clock (RFC 7323's `TSval`, in nanoseconds).
    pub sent: Instant,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ack {
    /// The number that the receiver expects next: all before it have arrived.
    pub ack: Seq,
    /// The packet whose arrival caused this acknowledgement; in a delayed one, the latest to arrive.
    pub id: PacketId,
    /// The packet with the highest number that has arrived: what proves that nothing beyond it is acknowledged.
    pub highest: PacketId,
    /// `sent` of the segment that RFC 7323 section 4.3 chooses: the earliest one that this acknowledges for the first time.
    pub echo: Instant,
    /// How long the segment with that echo waited for this acknowledgement, in nanoseconds: what a delayed one adds to a round trip.
    pub delay_ns: u32,
    /// Segments that the receiver has room for beyond `ack`.
    pub window: u32,
    /// Congestion was experienced, and `cwr` has not come yet (RFC 3168 section 6.1.3).
    pub ece: bool,
    /// What has arrived beyond `ack`: a duplicate first (RFC 2883), then the latest block (RFC 2018 section 4).
    pub sack: SackBlocks,
}

/// Up to four blocks `[first, end)` of segment numbers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SackBlocks {
    blocks: [(Seq, Seq); MAX_BLOCKS],
    len: u8,
}

impl SackBlocks {
    /// No blocks.
    pub const NONE: Self = Self {
        blocks: [(Seq(0), Seq(0)); MAX_BLOCKS],
        len: 0,
    };

    /// Adds a block; false when there is no room.
    pub fn push(&mut self, first: Seq, end: Seq) -> bool {
        let Some(slot) = self.blocks.get_mut(usize::from(self.len)) else {
            return false;
        };
        *slot = (first, end);
        self.len += 1;
        true
    }

    /// The blocks, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Seq, Seq)> + '_ {
        self.blocks.iter().take(usize::from(self.len)).copied()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}
