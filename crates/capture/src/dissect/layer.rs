//! What a packet has yet to be read.

use super::Reason;

/// What comes next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Layer {
    /// An IP packet, by its own version.
    Ip,
    /// What an `EtherType` says, which was just before.
    EtherType(u16),
    /// A frame of Ethernet, from its addresses on.
    Ethernet,
    /// A frame of IEEE 802.2.
    Llc,
    /// A frame of PPP, with its address or without.
    Ppp,
    /// A session's frame of `PPPoE`.
    Pppoe,
    /// Labels.
    Mpls,
}

/// The rest of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest<'a> {
    /// As much as was kept.
    pub(super) octets: &'a [u8],
    /// Octets that it had, with whatever padding the link added.
    pub(super) original_len: u32,
}

impl Rest<'_> {
    /// Without a header of so many octets.
    #[inline]
    pub(super) fn after(self, header: usize) -> Result<Self, Reason> {
        Ok(Self {
            octets: self.octets.get(header..).ok_or(Reason::Cut)?,
            original_len: self
                .original_len
                .saturating_sub(u32::try_from(header).unwrap_or(u32::MAX)),
        })
    }
}
