//! The other end: a reflector that sends back what it gets, never more than that.

use super::key::TAG;
use super::layout::{Layout, put};
use super::{CLASS, ERROR, FORGED, HMAC, Key, MALFORMED, PADDING, TLV, Tlvs, UNRECOGNISED, layout};
use crate::time::to_ntp;
use crate::{Moment, Request, Responder, field};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use units::TrafficClass;

/// Who a session's packets come from, and its identifier (RFC 8972 section 3).
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Session {
    /// The sender.
    pub peer: SocketAddr,
    /// Its session's identifier, 0 where it has none.
    pub id: u16,
}

/// A Session-Reflector (RFC 8762 section 4): a stateful one numbers what it reflects of each session, a stateless one repeats the
/// number of the request.
#[derive(Debug)]
pub struct Reflector {
    counts: BTreeMap<Session, u32>,
    /// The sessions, the one that began first in front.
    order: VecDeque<Session>,
    /// How many sessions are numbered; none by a stateless one.
    most: usize,
    key: Option<Key>,
}

impl Reflector {
    /// A stateless one. With a key it answers what is signed, and nothing else.
    pub fn stateless(key: Option<Key>) -> Self {
        Self {
            most: 0,
            ..Self::new(1, key)
        }
    }

    /// A stateful one: it numbers up to `most` sessions, and forgets the eldest for a new one. With a key it answers what is signed, and nothing else.
    pub fn new(most: usize, key: Option<Key>) -> Self {
        Self {
            counts: BTreeMap::new(),
            order: VecDeque::new(),
            most: most.max(1),
            key,
        }
    }

    /// The number of a session's next reply.
    fn number(&mut self, session: Session) -> u32 {
        if let Some(count) = self.counts.get_mut(&session) {
            *count = count.wrapping_add(1);
            return *count;
        }
        if self.order.len() == self.most {
            let eldest = self.order.pop_front();
            eldest.and_then(|eldest| self.counts.remove(&eldest));
        }
        self.order.push_back(session);
        self.counts.insert(session, 0);
        0
    }
}

impl Responder for Reflector {
    fn respond(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> bool {
        let (octets, key) = (request.octets, self.key.clone());
        let at = layout(key.as_ref());
        let Some((packet, tlvs)) = octets.split_at_checked(at.len) else {
            return false;
        };
        if key.as_ref().is_some_and(|key| !key.has_signed(packet)) {
            return false;
        }
        let id = field(packet, at.id).unwrap_or_default();
        let number = field(packet, 0).unwrap_or_default();
        let session = Session {
            peer: request.peer,
            id: u16::from_be_bytes(id),
        };
        let sequence = match self.most {
            0 => u32::from_be_bytes(number),
            _ => self.number(session),
        };
        out.clear();
        out.resize(at.len, 0);
        put_reply(out, at, sequence, request);
        put(out, at.id, &id);
        let sequence = sequence.to_be_bytes();
        let key = key.as_ref();
        if let Some(key) = key {
            key.sign(out);
        }
        if key.is_some_and(|key| is_forged(key, number, tlvs)) {
            flag_forged(tlvs, out);
        } else {
            reflect_tlvs(tlvs, request.class, key.map(|key| (key, sequence)), out);
        }
        true
    }
}

/// Writes into a reply what every reflector says: its number and times, and what the sender said.
pub(crate) fn put_reply(out: &mut [u8], at: &Layout, sequence: u32, request: &Request<'_>) {
    let mut copy = |to, from: usize, length: usize| {
        put(
            out,
            to,
            request.octets.get(from..from + length).unwrap_or_default(),
        );
    };
    copy(at.number, 0, 4);
    copy(at.sent, at.stamp, 8);
    copy(at.sent_error, at.error, 2);
    put(out, at.hops, &[request.hops_left]);
    put(out, 0, &sequence.to_be_bytes());
    let time = |moment: Moment| to_ntp(moment.wall_ns).to_be_bytes();
    put(out, at.stamp, &time(request.replied));
    put(out, at.error, &ERROR.to_be_bytes());
    put(out, at.received, &time(request.received));
}

/// Whether there are TLVs that should have a tag, and have none that holds. Padding needs none (RFC 8972 section 4.8; where it is the only
/// TLV, but nothing is read in more of it).
fn is_forged(key: &Key, number: [u8; 4], tlvs: &[u8]) -> bool {
    Tlvs(tlvs).any(|(head, _)| head[1] != PADDING) && key.signed(number, tlvs).is_none()
}

/// Copies `tlvs`, and flags each.
fn flag_forged(tlvs: &[u8], out: &mut Vec<u8>) {
    let mut at = out.len();
    out.extend(tlvs);
    for (_, value) in Tlvs(tlvs) {
        out[at] = FORGED;
        at += TLV + value.len();
    }
    // The last one may be cut.
    if let Some(flags) = out.get_mut(at) {
        *flags = FORGED | MALFORMED;
    }
}

/// Copies `tlvs`, fills in those that are understood, and flags what is wrong (RFC 8972 section 4); signs them anew as those of the packet
/// with this sequence number.
fn reflect_tlvs(
    tlvs: &[u8],
    class: TrafficClass,
    sign: Option<(&Key, [u8; 4])>,
    out: &mut Vec<u8>,
) {
    let begin = out.len();
    let mut at = begin;
    out.extend(tlvs);
    while let Some([_, kind]) = field::<2>(out, at) {
        let length = field(out, at + 2).map(|octets| usize::from(u16::from_be_bytes(octets)));
        let end = length.map(|length| at + TLV + length);
        let Some(end) = end.filter(|end| *end <= out.len()) else {
            out[at] = MALFORMED;
            return;
        };
        match (kind, sign) {
            (PADDING, _) => out[at] = 0,
            (CLASS, _) if end == at + TLV + 4 => {
                out[at] = 0;
                let seen = class.dscp.get();
                let wanted = out[at + TLV] & 0xfc;
                out[at + TLV] = wanted | seen >> 4;
                // The last two bits: the class that was wanted was not used (RP = 1), replies go out as best effort.
                out[at + TLV + 1] = seen << 4 | (class.ecn as u8) << 2 | u8::from(wanted != 0);
            }
            (CLASS, _) => out[at] = MALFORMED,
            (HMAC, Some((key, sequence))) if end == at + TLV + TAG => {
                out[at] = 0;
                let tag = key.tag_of_tlvs(sequence, &out[begin..at]);
                put(out, at + TLV, &tag);
            }
            _ => out[at] = UNRECOGNISED,
        }
        at = end;
    }
}
