//! From the transport to what it carries.

use super::ip::{TCP, Transport, UDP};
use super::segment::{Datagram, Flags, Segment, TcpOptions};
use super::{Dissected, Reason, octets};

const UDP_HEADER: u32 = 8;
const TCP_HEADER: u32 = 20;
/// The part of the header up to the window; checksum and urgent pointer say nothing here.
const TO_WINDOW: usize = 16;
/// The largest shift of a window that is allowed (RFC 7323 section 2.3).
const MOST_SCALE: u8 = 14;

/// Kinds of options (RFC 9293 section 3.2, RFC 7323, RFC 2018).
mod kind {
    pub(super) const END: u8 = 0;
    pub(super) const NOTHING: u8 = 1;
    pub(super) const MSS: u8 = 2;
    pub(super) const WINDOW_SCALE: u8 = 3;
    pub(super) const SACK_PERMITTED: u8 = 4;
    pub(super) const TIMESTAMPS: u8 = 8;
}

/// Reads the transport's header.
#[inline]
pub(super) fn payload(at_ns: u64, transport: &Transport<'_>) -> Result<Dissected, Reason> {
    match transport.protocol {
        TCP => tcp(at_ns, transport).map(Dissected::Tcp),
        UDP => udp(at_ns, transport).map(Dissected::Udp),
        other => Err(Reason::Protocol(other)),
    }
}

/// RFC 9293 section 3.1.
#[inline]
fn tcp(at_ns: u64, transport: &Transport<'_>) -> Result<Segment, Reason> {
    let header = octets::<TO_WINDOW>(transport.octets, 0)?;
    let header_len = u32::from(header[12] >> 4) * 4;
    let payload = transport
        .len
        .checked_sub(header_len)
        .ok_or(Reason::Malformed)?;
    if header_len < TCP_HEADER {
        return Err(Reason::Malformed);
    }
    let number = |at: usize| {
        u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let short = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let mut segment = Segment {
        at_ns,
        from: transport.from,
        to: transport.to,
        seq: number(4),
        ack: number(8),
        payload,
        packet_len: transport.packet_len,
        window: short(14),
        flags: Flags(header[13]),
        options: options(transport.octets, header_len as usize),
    };
    segment.from.port = short(0);
    segment.to.port = short(2);
    Ok(segment)
}

/// RFC 768.
fn udp(at_ns: u64, transport: &Transport<'_>) -> Result<Datagram, Reason> {
    let header = octets::<6>(transport.octets, 0)?;
    let len = match u16::from_be_bytes([header[4], header[5]]) {
        0 => transport.len,
        // A first fragment says the length of the whole.
        len => u32::from(len),
    };
    let mut datagram = Datagram {
        at_ns,
        from: transport.from,
        to: transport.to,
        payload: len.checked_sub(UDP_HEADER).ok_or(Reason::Malformed)?,
        packet_len: transport.packet_len,
    };
    datagram.from.port = u16::from_be_bytes([header[0], header[1]]);
    datagram.to.port = u16::from_be_bytes([header[2], header[3]]);
    Ok(datagram)
}

/// Options of a segment whose header has `header_len` octets, as far as they were kept.
#[inline]
fn options(segment: &[u8], header_len: usize) -> TcpOptions {
    let end = header_len.min(segment.len());
    let mut rest = segment.get(TCP_HEADER as usize..end).unwrap_or_default();
    // What nearly every segment has, and nothing else (RFC 7323 appendix A).
    if let Some(
        &[
            kind::NOTHING,
            kind::NOTHING,
            kind::TIMESTAMPS,
            10,
            ref clocks @ ..,
        ],
    ) = rest.first_chunk::<12>()
        && rest.len() == 12
    {
        return TcpOptions {
            timestamps: timestamps(clocks),
            ..TcpOptions::default()
        };
    }
    let mut found = TcpOptions::default();
    while let [first, after @ ..] = rest {
        match *first {
            kind::END => break,
            kind::NOTHING => rest = after,
            kind => {
                // The length counts itself and the kind.
                let Some(body) = after.first().and_then(|&len| rest.get(2..usize::from(len)))
                else {
                    break;
                };
                option(&mut found, kind, body);
                rest = &rest[2 + body.len()..];
            }
        }
    }
    found
}

fn option(found: &mut TcpOptions, kind: u8, body: &[u8]) {
    match (kind, body) {
        (kind::MSS, &[high, low]) => found.mss = Some(u16::from_be_bytes([high, low])),
        (kind::WINDOW_SCALE, &[scale]) => found.window_scale = Some(scale.min(MOST_SCALE)),
        (kind::SACK_PERMITTED, []) => found.sack_permitted = true,
        (kind::TIMESTAMPS, clocks) => found.timestamps = timestamps(clocks),
        _ => {}
    }
}

/// Both clocks.
#[inline]
fn timestamps(octets: &[u8]) -> Option<(u32, u32)> {
    let (&ours, rest) = octets.split_first_chunk()?;
    let (&theirs, rest) = rest.split_first_chunk()?;
    let clocks = (u32::from_be_bytes(ours), u32::from_be_bytes(theirs));
    rest.is_empty().then_some(clocks)
}
