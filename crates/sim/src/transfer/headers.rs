//! What headers add to a packet.

use transport::{Ack, Options, SackBlocks, Segment};

/// Octets of headers, IP's included, around what a transfer's packets carry. Links count them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Headers {
    /// Around a segment's payload.
    pub segment: u32,
    /// Of an acknowledgement without blocks.
    pub ack: u32,
    /// What the first block of an acknowledgement adds beyond [`Headers::block`].
    pub blocks: u32,
    /// For each block.
    pub block: u32,
}

impl Headers {
    /// TCP over IPv4 without time stamps: 20 octets each (RFC 9293 section 3.1, RFC 791), SACK as in RFC 2018 section 3.
    pub const TCP: Self = Self {
        segment: 40,
        ack: 40,
        blocks: 4,
        block: 8,
    };

    /// TCP over IPv4 with time stamps in every segment: 12 octets more (RFC 7323 appendix A). A payload of 1,448 fills 1,500.
    pub const TCP_TIMESTAMPS: Self = Self {
        segment: 52,
        ack: 52,
        ..Self::TCP
    };

    /// The datagrams of `isobath btc` over IPv4 ([`transport::wire`]): segments are as long as TCP's, acknowledgements longer.
    pub const UDP: Self = Self {
        segment: 52,
        ack: 92,
        blocks: 0,
        block: 8,
    };

    /// What TCP with these options has.
    pub const fn tcp(options: &Options) -> Self {
        if options.timestamps {
            Self::TCP_TIMESTAMPS
        } else {
            Self::TCP
        }
    }

    /// Octets of the packet with `segment`.
    pub fn of_segment(&self, segment: &Segment) -> u32 {
        self.segment + u32::from(segment.len)
    }

    /// Octets of the packet with `ack`.
    pub fn of_ack(&self, ack: &Ack) -> u32 {
        self.ack + self.of_blocks(&ack.sack)
    }

    /// Octets of the option with these blocks.
    pub fn of_blocks(&self, sack: &SackBlocks) -> u32 {
        let blocks = sack.iter().map(|_| self.block).sum::<u32>();
        let more = if blocks > 0 { self.blocks } else { 0 };
        blocks + more
    }
}
