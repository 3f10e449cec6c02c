//! The other end: a reflector that sends back what it gets, never more than that.

use super::{CLASS, ERROR, LEN, MALFORMED, PADDING, TLV, UNRECOGNISED};
use crate::time::to_ntp;
use crate::{Request, Responder, field};
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

/// A stateful Session-Reflector (RFC 8762 section 4.3), which numbers what it reflects of each session.
#[derive(Debug)]
pub struct Reflector {
    counts: BTreeMap<Session, u32>,
    /// The sessions, the one that began first in front.
    order: VecDeque<Session>,
    most: usize,
}

impl Reflector {
    /// One that numbers up to `most` sessions, and forgets the eldest for a new one.
    pub fn new(most: usize) -> Self {
        Self {
            counts: BTreeMap::new(),
            order: VecDeque::new(),
            most: most.max(1),
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
        let octets = request.octets;
        let id = field(octets, 14).map(u16::from_be_bytes);
        let Some(id) = id.filter(|_| octets.len() >= LEN) else {
            return false;
        };
        let peer = request.peer;
        let sequence = self.number(Session { peer, id });
        out.clear();
        out.extend(sequence.to_be_bytes());
        out.extend(to_ntp(request.replied.wall_ns).to_be_bytes());
        out.extend(ERROR.to_be_bytes());
        out.extend(id.to_be_bytes());
        out.extend(to_ntp(request.received.wall_ns).to_be_bytes());
        // The sender's number, stamp and error estimate as they came.
        out.extend(&octets[..14]);
        out.extend([0, 0, request.hops_left, 0, 0, 0]);
        reflect_tlvs(&octets[LEN..], request.class, out);
        true
    }
}

/// Copies `tlvs`, fills in those that are understood, and flags what is wrong (RFC 8972 section 4).
fn reflect_tlvs(tlvs: &[u8], class: TrafficClass, out: &mut Vec<u8>) {
    let mut at = out.len();
    out.extend(tlvs);
    while let Some([flags, kind]) = field::<2>(out, at) {
        let length = field(out, at + 2).map(|octets| usize::from(u16::from_be_bytes(octets)));
        let end = length.map(|length| at + TLV + length);
        let Some(end) = end.filter(|end| *end <= out.len()) else {
            out[at] = flags & !UNRECOGNISED | MALFORMED;
            return;
        };
        match kind {
            PADDING => out[at] = flags & !UNRECOGNISED,
            CLASS if end == at + TLV + 4 => {
                out[at] = flags & !UNRECOGNISED;
                let seen = class.dscp.get();
                let wanted = out[at + TLV] & 0xfc;
                out[at + TLV] = wanted | seen >> 4;
                // The last two bits: the class that was wanted was not used (RP = 1), replies go out as best effort.
                out[at + TLV + 1] = seen << 4 | (class.ecn as u8) << 2 | u8::from(wanted != 0);
            }
            CLASS => out[at] = flags & !UNRECOGNISED | MALFORMED,
            _ => out[at] = flags | UNRECOGNISED,
        }
        at = end;
    }
}
