//! pcap (draft-ietf-opsawg-pcap): one header, then packets of one link.

use super::reader::{Fault, Record};
use pcap_parser::nom::IResult;
use pcap_parser::{
    LegacyPcapBlock, PcapError, PcapHeader, parse_pcap_frame, parse_pcap_frame_be,
    parse_pcap_frame_modified,
};

type Frame = fn(&[u8]) -> IResult<&[u8], LegacyPcapBlock<'_>, PcapError<&[u8]>>;

/// What the header of the file says of its packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Legacy {
    frame: Frame,
    header_len: usize,
    link: u16,
    /// Nanoseconds in the unit of the second half of a time.
    unit: u64,
}

impl Legacy {
    pub(super) fn new(header: &PcapHeader) -> Self {
        let (frame, header_len): (Frame, usize) = if header.is_modified_format() {
            (parse_pcap_frame_modified, 24)
        } else if header.is_bigendian() {
            (parse_pcap_frame_be, 16)
        } else {
            (parse_pcap_frame, 16)
        };
        Self {
            frame,
            header_len,
            link: super::reader::link(header.network),
            unit: if header.is_nanosecond_precision() {
                1
            } else {
                1_000
            },
        }
    }

    /// The first packet of `octets`, and how many of these it takes.
    #[inline]
    pub(super) fn record(&self, octets: &[u8]) -> Result<(Record, usize), Fault> {
        let (rest, frame) = (self.frame)(octets).map_err(Fault::of)?;
        let record = Record {
            at_ns: u64::from(frame.ts_sec) * 1_000_000_000 + u64::from(frame.ts_usec) * self.unit,
            link: self.link,
            original_len: frame.origlen.max(frame.caplen),
            skip: self.header_len,
            len: frame.data.len(),
        };
        Ok((record, octets.len() - rest.len()))
    }
}
