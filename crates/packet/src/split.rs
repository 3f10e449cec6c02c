//! Cutting a burst into packets, as a network card with segmentation offload does.

use super::header::{self, VirtioHeader, be16, be32, put16, tcp, v4, v6};
use super::{Frame, Partial};
use crate::header::VNET_HEADER;
use units::Instant;

/// Buffers that have been used and can be used again, so that moving packets allocates nothing.
#[derive(Debug, Default)]
pub struct Pool(Vec<Vec<u8>>);

impl Pool {
    const MOST: usize = 8_192;

    /// An empty buffer.
    fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_else(|| Vec::with_capacity(2_048))
    }

    /// Takes a packet's buffer back.
    pub fn give(&mut self, frame: Frame) {
        if self.0.len() < Self::MOST {
            let mut bytes = frame.bytes;
            bytes.clear();
            self.0.push(bytes);
        }
    }
}

/// Cuts what one read from a TUN device returned (header and all, at `entered`) into packets, in order.
///
/// Returns how many there were; zero for what cannot be understood.
pub fn split(read: &[u8], entered: Instant, pool: &mut Pool, mut each: impl FnMut(Frame)) -> usize {
    let Some(header) = VirtioHeader::parse(read) else {
        return 0;
    };
    let packet = &read[VNET_HEADER..];
    match header.gso_type {
        VirtioHeader::GSO_NONE if !packet.is_empty() => {
            let mut bytes = pool.take();
            bytes.extend_from_slice(packet);
            each(Frame {
                bytes,
                partial: partial(&header),
                entered,
            });
            1
        }
        VirtioHeader::GSO_TCP4 | VirtioHeader::GSO_TCP6 => {
            Template::new(&header, packet).map_or(0, |template| template.cut(entered, pool, each))
        }
        _ => 0,
    }
}

fn partial(header: &VirtioHeader) -> Option<Partial> {
    (header.flags & VirtioHeader::NEEDS_CHECKSUM != 0).then_some(Partial {
        start: header.checksum_start,
        offset: header.checksum_offset,
    })
}

/// The headers that every packet of a burst shares, and where in them it differs.
struct Template<'a> {
    header: &'a [u8],
    payload: &'a [u8],
    /// Octets of payload in each packet but the last.
    size: usize,
    /// Offset of the TCP header.
    start: usize,
    sequence: u32,
    identification: u16,
    /// The checksum field: sum of the pseudo-header of the whole burst.
    sum: u16,
}

impl<'a> Template<'a> {
    fn new(header: &VirtioHeader, packet: &'a [u8]) -> Option<Self> {
        let start = usize::from(header.checksum_start);
        let least = if header.gso_type == VirtioHeader::GSO_TCP4 {
            20
        } else {
            v6::LENGTH
        };
        let length = usize::from(*packet.get(start + tcp::DATA_OFFSET)? >> 4) * 4;
        let size = usize::from(header.gso_size);
        if size == 0 || start < least || length < 20 || packet.len() <= start + length {
            return None;
        }
        let (head, payload) = packet.split_at(start + length);
        Some(Self {
            header: head,
            payload,
            size,
            start,
            sequence: be32(head, start + tcp::SEQUENCE)?,
            identification: be16(head, v4::IDENTIFICATION)?,
            sum: be16(head, start + tcp::CHECKSUM)?,
        })
    }

    fn cut(&self, entered: Instant, pool: &mut Pool, mut each: impl FnMut(Frame)) -> usize {
        let chunks = self.payload.chunks(self.size);
        let count = chunks.len();
        for (index, chunk) in chunks.enumerate() {
            let mut bytes = pool.take();
            bytes.extend_from_slice(self.header);
            self.amend(&mut bytes, index, chunk.len(), index + 1 == count);
            bytes.extend_from_slice(chunk);
            // Both offsets came out of 16-bit fields.
            let partial = Partial {
                start: self.start as u16,
                offset: tcp::CHECKSUM as u16,
            };
            each(Frame {
                bytes,
                partial: Some(partial),
                entered,
            });
        }
        count
    }

    /// Makes a copy of the shared header that of packet number `index` with `payload` octets.
    fn amend(&self, header: &mut [u8], index: usize, payload: usize, last: bool) {
        // A burst is at most 64 KiB, so lengths fit 16 bits and offsets 32.
        let segment = header.len() - self.start + payload;
        let sequence = self.sequence.wrapping_add((index * self.size) as u32);
        header[self.start + tcp::SEQUENCE..][..4].copy_from_slice(&sequence.to_be_bytes());
        if !last {
            header[self.start + tcp::FLAGS] &= !(tcp::FIN | tcp::PSH);
        }
        let whole = self.header.len() - self.start + self.payload.len();
        put16(
            header,
            self.start + tcp::CHECKSUM,
            resum(self.sum, whole, segment),
        );
        if header[0] >> 4 == 4 {
            put16(header, v4::TOTAL_LENGTH, (header.len() + payload) as u16);
            put16(
                header,
                v4::IDENTIFICATION,
                self.identification.wrapping_add(index as u16),
            );
            header::set_v4_checksum(header);
        } else {
            put16(
                header,
                v6::PAYLOAD_LENGTH,
                (header.len() - v6::LENGTH + payload) as u16,
            );
        }
    }
}

/// The pseudo-header's sum when the segment's length changes from `old` to `new` octets (RFC 1624).
pub(super) fn resum(sum: u16, old: usize, new: usize) -> u16 {
    crate::sum::fold(u32::from(sum) + u32::from(!(old as u16)) + u32::from(new as u16))
}
