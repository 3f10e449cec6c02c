//! What travels.

use crate::{Addressed, Headers};
use path::{Assigned, Pipeline, Resolver, Spec};
use transport::{Ack, PacketId, SackBlocks, Segment, Seq};
use units::Instant;

/// Octets of a SYN: 20 of IPv4, 20 of TCP, 20 of options (MSS, SACK permitted, time stamps, window scale), as Linux sends it.
const SYN: u32 = 60;
/// Octets of a packet that resets: the two headers.
const RESET: u32 = 40;

/// A packet of a connection.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Tcp {
    /// Asks for the connection.
    Syn,
    /// Agrees to it.
    SynAck,
    /// Data, or the end of them.
    Segment {
        /// The data; none in the segment of a FIN alone.
        segment: Segment,
        /// These are the last.
        fin: bool,
        /// Of the other direction.
        ack: Option<Acked>,
    },
    /// An acknowledgement alone; the handshake's last has nothing to say of data.
    Ack(Option<Acked>),
    /// The connection is no more.
    Reset,
}

impl Tcp {
    /// Whether it asks for a connection or agrees to one.
    pub const fn is_syn(&self) -> bool {
        matches!(self, Self::Syn | Self::SynAck)
    }

    /// Whether it ends a direction.
    pub const fn is_fin(&self) -> bool {
        matches!(self, Self::Segment { fin: true, .. })
    }

    /// Whether it breaks the connection.
    pub const fn is_reset(&self) -> bool {
        matches!(self, Self::Reset)
    }

    /// Octets on the wire, with these headers.
    pub fn size(&self, headers: &Headers) -> u32 {
        let options = |ack: &Option<Acked>| {
            let blocks = ack.as_ref().and_then(|ack| ack.blocks.as_deref());
            blocks.map_or(0, |blocks| headers.of_blocks(blocks))
        };
        match self {
            Self::Syn | Self::SynAck => SYN,
            Self::Segment { segment, ack, .. } => headers.of_segment(segment) + options(ack),
            Self::Ack(ack) => headers.ack + options(ack),
            Self::Reset => RESET,
        }
    }
}

/// A path for connections: what `spec` describes, its chance from `seed`, its traces from `resolver`, and the delays of its
/// connections, if it has any, from `delays`.
///
/// # Errors
/// Those of [`Spec::build`].
pub fn pipeline(
    spec: &Spec,
    seed: u64,
    resolver: Resolver<'_>,
    delays: &Assigned,
) -> Result<Pipeline<Addressed<Tcp>>, path::Error> {
    spec.build(seed, resolver, delays)
}

/// An acknowledgement within a packet. Packets are copied from stage to stage of a path, and few acknowledgements have blocks: so
/// those are elsewhere.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Acked {
    ack: Seq,
    window: u32,
    id: PacketId,
    highest: PacketId,
    echo: Instant,
    delay_ns: u32,
    ece: bool,
    blocks: Option<Box<SackBlocks>>,
}

impl From<Ack> for Acked {
    fn from(ack: Ack) -> Self {
        Self {
            ack: ack.ack,
            window: ack.window,
            id: ack.id,
            highest: ack.highest,
            echo: ack.echo,
            delay_ns: ack.delay_ns,
            ece: ack.ece,
            blocks: (!ack.sack.is_empty()).then(|| Box::new(ack.sack)),
        }
    }
}

impl Acked {
    /// The acknowledgement as [`transport`] has it.
    pub fn ack(&self) -> Ack {
        Ack {
            ack: self.ack,
            id: self.id,
            highest: self.highest,
            echo: self.echo,
            delay_ns: self.delay_ns,
            window: self.window,
            ece: self.ece,
            sack: self.blocks.as_deref().copied().unwrap_or(SackBlocks::NONE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_small_enough_to_be_copied_often() {
        assert!(size_of::<crate::Parcel<Tcp>>() <= 136);
    }
}
