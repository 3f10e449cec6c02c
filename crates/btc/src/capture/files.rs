//! Both ends' traces on disk.

use super::{Entry, Journal, Way};
use capture::Datagram;
use capture::pcapng::{Direction, Interface, InterfaceId, Packet, Section, Statistics, Writer};
use std::fs::File;
use std::io::{self, BufWriter};
use std::net::SocketAddr;
use std::path::Path;
use transport::wire::LONGEST_ACK;

/// IPv6 header, UDP header and the longest that is kept of a datagram.
const SNAPLEN: usize = 40 + 8 + LONGEST_ACK;

/// What a reader of the files should know.
pub(super) struct About<'a> {
    pub hardware: &'a str,
    pub os: &'a str,
    /// The run's start by the client's wall clock, in nanoseconds since 1970.
    pub origin_wall_ns: u64,
    /// Half of the round trip by which the two ends' clocks were compared, in nanoseconds: how far the other end's times may
    /// be off. Nothing where there is no other end, and so no receiver's trace.
    pub clock_error_ns: Option<u64>,
    /// What packets are sent with.
    pub hop_limit: u8,
}

/// The files `sender.pcapng` and `receiver.pcapng` of a run.
pub(super) struct Traces {
    origin_wall_ns: u64,
    sender: Trace,
    receiver: Option<Trace>,
}

/// The addresses of a transfer: those of its sender and of its receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub sender: SocketAddr,
    pub receiver: SocketAddr,
}

struct Trace {
    writer: Writer<BufWriter<File>>,
    interface: InterfaceId,
    seen: Statistics,
    hop_limit: u8,
    packet: Vec<u8>,
}

impl Traces {
    /// Begins both files in `folder`.
    ///
    /// # Errors
    ///
    /// When they cannot be written; so in all methods.
    pub(super) fn create(folder: &Path, about: &About<'_>) -> io::Result<Self> {
        Ok(Self {
            origin_wall_ns: about.origin_wall_ns,
            sender: Trace::create(folder, "sender", about)?,
            receiver: about
                .clock_error_ns
                .map(|_| Trace::create(folder, "receiver", about))
                .transpose()?,
        })
    }

    /// Adds what passed the senders of transfers that ran at once.
    ///
    /// # Errors
    ///
    /// See [`Traces::create`].
    pub(super) fn add_sender(&mut self, journals: &[(Ends, &Journal)]) -> io::Result<()> {
        self.sender.add(self.origin_wall_ns, journals, |ends| {
            [ends.sender, ends.receiver]
        })
    }

    /// Adds what passed the receivers of transfers that ran at once.
    ///
    /// # Errors
    ///
    /// See [`Traces::create`].
    pub(super) fn add_receiver(&mut self, journals: &[(Ends, &Journal)]) -> io::Result<()> {
        let Some(receiver) = &mut self.receiver else {
            return Ok(());
        };
        receiver.add(self.origin_wall_ns, journals, |ends| {
            [ends.receiver, ends.sender]
        })
    }

    /// Ends both files; the packets that are in none of them for want of room.
    ///
    /// # Errors
    ///
    /// See [`Traces::create`].
    pub(super) fn finish(self) -> io::Result<u64> {
        let mut left_out = self.sender.finish()?;
        if let Some(receiver) = self.receiver {
            left_out += receiver.finish()?;
        }
        Ok(left_out)
    }
}

impl Trace {
    fn create(folder: &Path, end: &str, about: &About<'_>) -> io::Result<Self> {
        let file = File::create_new(folder.join(format!("{end}.pcapng")))?;
        let error = about.clock_error_ns.map_or_else(String::new, |ns| {
            format!(" (those of the other end within {:.3} ms)", ns as f64 / 1e6)
        });
        let comment = format!(
            "What passed the {end} of an isobath btc run. Times are the client's clock{error}. IP and UDP headers are made \
             up of what the socket knew; of a segment the header is kept, of an acknowledgement all."
        );
        let section = Section {
            hardware: about.hardware,
            os: about.os,
            application: concat!("isobath ", env!("CARGO_PKG_VERSION")),
            comment: &comment,
        };
        let mut writer = Writer::new(BufWriter::new(file), &section)?;
        let interface = writer.interface(&Interface {
            name: end,
            description: "the transfer's UDP socket",
            addresses: &[],
            snaplen: u32::try_from(SNAPLEN).unwrap_or_default(),
        })?;
        let seen = Statistics {
            start_ns: about.origin_wall_ns,
            end_ns: about.origin_wall_ns,
            received: 0,
            dropped: 0,
        };
        Ok(Self {
            writer,
            interface,
            seen,
            hop_limit: about.hop_limit,
            packet: Vec::with_capacity(SNAPLEN),
        })
    }

    /// Adds journals of transfers that ran at once, in the order of time; `own` says which of the two addresses is this end's,
    /// and the other.
    fn add(
        &mut self,
        origin_wall_ns: u64,
        journals: &[(Ends, &Journal)],
        own: impl Fn(&Ends) -> [SocketAddr; 2],
    ) -> io::Result<()> {
        let mut entries = Vec::new();
        for (ends, journal) in journals {
            self.seen.received += journal.kept() + journal.left_out();
            self.seen.dropped += journal.left_out();
            let ends = own(ends);
            entries.extend(journal.entries().map(|entry| (ends, entry)));
        }
        entries.sort_by_key(|(_, entry)| entry.t_ns);
        for (ends, entry) in entries {
            let wall_ns = origin_wall_ns.saturating_add(entry.t_ns);
            self.seen.end_ns = self.seen.end_ns.max(wall_ns);
            self.write(wall_ns, ends, &entry)?;
        }
        Ok(())
    }

    fn write(
        &mut self,
        wall_ns: u64,
        [own, other]: [SocketAddr; 2],
        entry: &Entry<'_>,
    ) -> io::Result<()> {
        let (from, to, direction) = match entry.way {
            Way::Out => (own, other, Direction::Out),
            Way::In => (other, own, Direction::In),
        };
        self.packet.clear();
        let original_len = Datagram {
            from,
            to,
            class: entry.class,
            hop_limit: self.hop_limit,
            kept: entry.octets,
            len: entry.len.into(),
        }
        .write(&mut self.packet);
        let packet = Packet {
            wall_ns,
            octets: &self.packet,
            original_len,
            direction: Some(direction),
        };
        self.writer.packet(self.interface, &packet)
    }

    /// Ends the file; the packets that are not in it.
    fn finish(mut self) -> io::Result<u64> {
        self.writer.statistics(self.interface, &self.seen)?;
        self.writer.finish()?;
        Ok(self.seen.dropped)
    }
}
