//! What Linux' packet filter handed to a program: `LINKTYPE_NFLOG`, a header of four octets and then attributes, each a
//! length, a kind and a value, padded to four octets (<https://www.tcpdump.org/linktypes/LINKTYPE_NFLOG.html>).

use super::{Reason, octets};

const HEADER: usize = 4;
const ATTRIBUTE: usize = 4;
/// The attribute that is the packet, from its IP header on.
const PAYLOAD: u16 = 9;
/// There are about twenty kinds.
const MOST: usize = 64;

/// Where the packet begins.
pub(super) fn payload(packet: &[u8]) -> Result<usize, Reason> {
    let mut at = HEADER;
    for _ in 0..MOST {
        let &[a, b, c, d] = octets::<ATTRIBUTE>(packet, at)?;
        // In the order of the machine that captured. All kinds are below 256, so the octet that is zero is the upper.
        let (len, kind) = if d == 0 {
            (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]))
        } else {
            (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))
        };
        let len = usize::from(len);
        if len < ATTRIBUTE {
            return Err(Reason::Malformed);
        }
        if kind == PAYLOAD {
            return Ok(at + ATTRIBUTE);
        }
        at += len.next_multiple_of(4);
    }
    Err(Reason::Malformed)
}
