//! The capture of a replay: the headers of what left the bottleneck.

use capture::pcapng::{Interface, InterfaceId, Packet, Section, Statistics, Writer};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use units::{Instant, Stamp};

/// The name of the capture in the record's folder.
pub const CAPTURE: &str = "bottleneck.pcapng";
/// Octets that are kept of a packet: the headers of IPv6 and TCP with all their options.
pub const SNAP: u16 = 100;
/// Most octets of a capture; what comes after is counted.
const MOST: u64 = 4 << 30;

/// See the module.
pub struct Capture {
    writer: Writer<BufWriter<File>>,
    ways: [InterfaceId; 2],
    stamp: Stamp,
    begun: u64,
    written: u64,
    seen: [u64; 2],
    /// What was not kept, and what there was no more room for.
    lost: [u64; 2],
    dropped: [u64; 2],
}

impl Capture {
    /// Begins one at `path`, whose times are told by `stamp`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(path: &Path, stamp: Stamp) -> io::Result<Self> {
        let section = Section {
            hardware: "",
            os: "",
            application: concat!("isobath ", env!("CARGO_PKG_VERSION")),
            comment: "What left the bottleneck of an isobath replay, both directions, by the logical time at which it left. Only headers are kept.",
        };
        let mut writer = Writer::new(BufWriter::new(File::create_new(path)?), &section)?;
        let mut interface = |name| {
            writer.interface(&Interface {
                name,
                description: "the far end of a direction of the bottleneck",
                addresses: &[],
                snaplen: SNAP.into(),
            })
        };
        let ways = [interface("up")?, interface("down")?];
        Ok(Self {
            writer,
            ways,
            stamp,
            begun: stamp.wall_ns,
            written: 0,
            seen: [0; 2],
            lost: [0; 2],
            dropped: [0; 2],
        })
    }

    /// So many packets of a direction were not kept in all.
    pub const fn lost(&mut self, is_up: bool, packets: u64) {
        self.lost[if is_up { 0 } else { 1 }] = packets;
    }

    /// A packet left at `at`; it had `length` octets, of which these were kept.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(
        &mut self,
        is_up: bool,
        at: Instant,
        octets: &[u8],
        length: u32,
    ) -> io::Result<()> {
        let way = usize::from(!is_up);
        self.seen[way] += 1;
        if self.written >= MOST {
            self.dropped[way] += 1;
            return Ok(());
        }
        self.written += octets.len() as u64 + 32;
        self.writer.packet(
            self.ways[way],
            &Packet {
                wall_ns: self.stamp.wall_at(at),
                octets,
                original_len: length as usize,
                direction: None,
            },
        )
    }

    /// Ends it at `now`; the packets that are not in it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self, now: Instant) -> io::Result<u64> {
        for way in 0..2 {
            let statistics = Statistics {
                start_ns: self.begun,
                end_ns: self.stamp.wall_at(now),
                received: self.seen[way] + self.lost[way],
                dropped: self.lost[way] + self.dropped[way],
            };
            self.writer.statistics(self.ways[way], &statistics)?;
        }
        self.writer
            .finish()?
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        Ok(self.lost.iter().chain(&self.dropped).sum())
    }
}
