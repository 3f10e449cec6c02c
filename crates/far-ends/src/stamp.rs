//! The Simple Two-way Active Measurement Protocol (RFC 8762), which routers answer, and its extensions (RFC 8972).
//!
//! A *Session-Sender* sends numbered packets with the time at which they leave; a *Session-Reflector* sends each back with the times at
//! which it came and left again. A *stateful* reflector numbers its replies itself: where its number falls behind, packets were lost
//! on the way there. A stateless one repeats the sender's number. Nothing says which of the two it is, until there is such a loss.
//!
//! Packets are 44 octets, and longer by TLVs (RFC 8972 section 4): *Extra Padding* for their length and *Class of Service*, by which
//! the reflector tells the DSCP and ECN field that it saw. A reflector that knows no TLVs takes them for padding and sends
//! them back as they were, or not at all; what it did not fill in counts as not told.
//!
//! With a [`Key`] that both ends share, packets are signed: the *authenticated mode* (section 4.4), whose packets are 112 octets. Who has
//! one answers and believes nobody else.
//!
//! Its elder agrees on sessions first: [`twamp`](crate::twamp).

mod key;
mod layout;
mod reflector;
#[cfg(test)]
mod tests;

pub use key::Key;
pub(crate) use reflector::put_reply;
pub use reflector::{Reflector, Session};

use crate::time::{from_ntp, from_ptp, to_ntp};
use crate::{Exchange, Reply, Stamps, Terms, field};
use key::TAG;
pub(crate) use layout::OPEN;
use layout::{Layout, SIGNED, put};
use units::{Dscp, Ecn, TrafficClass};

/// The UDP port on which reflectors listen (RFC 8762 section 4.1).
pub const PORT: u16 = 862;
/// Octets of a packet without TLVs, either way, in the unauthenticated mode.
pub const LEN: usize = OPEN.len;

/// Error Estimate (RFC 4656 section 4.1.2): the clock is synchronised to UTC (S) or nothing is said of it, stamps are NTP's (Z = 0),
/// and the error is at most 1/256 s: `multiplier * 2^(scale - 32)`; a multiplier of 0 is forbidden.
const ERROR: u16 = 24 << 8 | 1;
/// In an error estimate: the stamps are PTP's.
const PTP: u16 = 1 << 14;

/// In a TLV's flags: the reflector has not understood it. A sender sets it (RFC 8972 section 4).
const UNRECOGNISED: u8 = 0x80;
/// In a TLV's flags: its length is wrong.
const MALFORMED: u8 = 0x40;
/// In a TLV's flags: its tag is wrong.
const FORGED: u8 = 0x20;
/// Types of TLVs.
const PADDING: u8 = 1;
const CLASS: u8 = 4;
const HMAC: u8 = 8;
/// Octets of a TLV's flags, type and length.
const TLV: usize = 4;

/// The number on the wire that no packet has.
const SKIPPED: u32 = 1;

/// A Session-Sender.
#[derive(Debug)]
pub struct Sender {
    terms: Terms,
    id: u16,
    key: Option<Key>,
    /// Whether packets are made longer by TLVs, or by zeros.
    has_tlvs: bool,
}

impl Sender {
    /// A session on `terms`, in the authenticated mode where there is a key.
    pub const fn new(terms: Terms, key: Option<Key>) -> Self {
        // The session's identifier is what of the secret has room, and not 0, which says that there is none.
        let id = (terms.secret & 0xffff) as u16 | 1;
        Self {
            terms,
            id,
            key,
            has_tlvs: true,
        }
    }

    /// A session of TWAMP's, whose packets have neither identifier nor TLVs.
    pub(crate) const fn without_tlvs(terms: Terms) -> Self {
        Self {
            terms,
            id: 0,
            key: None,
            has_tlvs: false,
        }
    }

    /// Octets of the padding TLV's value that make a packet as long as it is to be; none where there is no room.
    fn padding(&self) -> Option<usize> {
        let tag = if self.key.is_some() { TLV + TAG } else { 0 };
        let others = layout(self.key.as_ref()).len + TLV + 4 + tag + TLV;
        self.terms.payload.checked_sub(others)
    }
}

/// How a TLV with so many octets begins, as senders write it.
fn head(kind: u8, length: usize) -> [u8; TLV] {
    let [high, low] = u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes();
    [UNRECOGNISED, kind, high, low]
}

/// That of the mode.
const fn layout(key: Option<&Key>) -> &'static Layout {
    if key.is_some() { &SIGNED } else { &OPEN }
}

impl Exchange for Sender {
    fn request(&mut self, number: u32, wall_ns: u64, out: &mut Vec<u8>) {
        out.clear();
        let sequence = if number < SKIPPED {
            number
        } else {
            number.saturating_add(1)
        };
        let (key, sequence) = (self.key.as_ref(), sequence.to_be_bytes());
        let at = layout(key);
        out.resize(at.len, 0);
        put(out, 0, &sequence);
        put(out, at.stamp, &to_ntp(wall_ns).to_be_bytes());
        put(out, at.error, &ERROR.to_be_bytes());
        put(out, at.id, &self.id.to_be_bytes());
        if let Some(key) = key {
            key.sign(out);
        }
        if !self.has_tlvs {
            // As long as a reply at least.
            out.resize(self.terms.payload.max(at.len), 0);
        } else if let Some(padding) = self.padding() {
            // The class that replies are to have, and room for the one that was seen.
            out.extend(head(CLASS, 4));
            out.extend([self.terms.class.dscp.get() << 2, 0, 0, 0]);
            if let Some(key) = key {
                let tag = key.tag_of_tlvs(sequence, &out[at.len..]);
                out.extend(head(HMAC, TAG));
                out.extend(tag);
            }
            let padding = padding.min(usize::from(u16::MAX));
            out.extend(head(PADDING, padding));
            out.resize(out.len() + padding, 0);
        }
    }

    fn handle(&mut self, datagram: &[u8], latest: u32) -> Option<Reply> {
        let key = self.key.as_ref();
        if key.is_some_and(|key| !key.has_signed(datagram)) {
            return None;
        }
        let at = layout(key);
        let reply = Reflected::parse(datagram, at)?;
        let is_ours = reply.id == self.id || reply.id == 0;
        let number = match reply.number {
            SKIPPED => return None,
            before if before < SKIPPED => before,
            after => after - 1,
        };
        if !is_ours || number > latest {
            return None;
        }
        // A count begins at 0, and cannot have come as far as our number.
        let counts = reply.number > SKIPPED && reply.sequence < reply.number;
        let tlvs = datagram.get(at.len..).unwrap_or_default();
        let is_forged = Tlvs(tlvs).any(|(head, _)| head[0] & FORGED != 0);
        let tlvs = match key {
            _ if is_forged => None,
            Some(key) => key.signed(reply.sequence.to_be_bytes(), tlvs),
            None => Some(tlvs),
        };
        Some(Reply {
            number,
            stamps: Some(reply.stamps),
            arrived: counts.then(|| reply.sequence.saturating_add(1)),
            class: tlvs.and_then(class),
        })
    }
}

/// A reflector's packet.
struct Reflected {
    sequence: u32,
    id: u16,
    stamps: Stamps,
    number: u32,
}

impl Reflected {
    /// RFC 8762 section 4.3, with the identifier of RFC 8972 section 3.
    fn parse(octets: &[u8], at: &Layout) -> Option<Self> {
        // A reflector repeats the sender's stamp; where it is not, our own request has come back.
        if octets.len() < at.len || field(octets, at.sent) == Some([0; 8]) {
            return None;
        }
        let error = u16::from_be_bytes(field(octets, at.error)?);
        let time = |at| {
            let stamp = u64::from_be_bytes(field(octets, at)?);
            Some(if error & PTP == 0 {
                from_ntp(stamp)
            } else {
                from_ptp(stamp)
            })
        };
        Some(Self {
            sequence: u32::from_be_bytes(field(octets, 0)?),
            id: u16::from_be_bytes(field(octets, at.id)?),
            stamps: Stamps {
                received_ns: time(at.received)?,
                replied_ns: time(at.stamp)?,
            },
            number: u32::from_be_bytes(field(octets, at.number)?),
        })
    }
}

/// The DSCP and ECN field that a reflector says it saw.
fn class(tlvs: &[u8]) -> Option<TrafficClass> {
    let (_, value) = Tlvs(tlvs)
        .find(|(head, _)| head[1] == CLASS && head[0] & (UNRECOGNISED | MALFORMED) == 0)?;
    let [dscp_1, dscp_2, ..] = *value else {
        return None;
    };
    // Six bits that the sender wants, six that were seen, two of ECN (RFC 8972 section 4.4).
    let seen = (dscp_1 & 0b11) << 4 | dscp_2 >> 4;
    Some(TrafficClass {
        dscp: Dscp::new(seen)?,
        ecn: Ecn::from_bits(dscp_2 >> 2),
    })
}

/// The TLVs behind a packet: flags and type, and the value; ends where one has no room.
struct Tlvs<'a>(&'a [u8]);

impl<'a> Iterator for Tlvs<'a> {
    type Item = ([u8; 2], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let head = field(self.0, 0)?;
        let length = usize::from(u16::from_be_bytes(field(self.0, 2)?));
        let value = self.0.get(TLV..TLV + length)?;
        self.0 = &self.0[TLV + length..];
        Some((head, value))
    }
}
