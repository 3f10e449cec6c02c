//! Captures, read into the shares of those who find connections.

use super::extract::Found;
use anyhow::Context;
use capture::dissect::{Datagram, Dissected, Dissector, Segment};
use capture::read::{Error, Reader};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender};
use vectors::extract::{SHARES, share};

/// Packets that go from thread to thread at once, for all shares together.
const PACKETS: usize = 4_096;

/// A capture and its name.
pub(super) type Capture = (String, Reader<Box<dyn Read + Send>>);

/// Packets of a share in the order of the capture, TCP and UDP apart: neither says anything of the other.
#[derive(Debug, Default)]
pub(super) struct Packets {
    pub(super) segments: Vec<Segment>,
    pub(super) datagrams: Vec<Datagram>,
}

/// The packets of a worker's shares.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The first packet of the trace.
    pub(super) origin_ns: u64,
    pub(super) shares: Vec<Packets>,
}

impl Batch {
    /// Of so many shares, and empty.
    fn cleared(mut self, shares: usize) -> Self {
        self.shares.resize_with(shares, Packets::default);
        for packets in &mut self.shares {
            packets.segments.clear();
            packets.datagrams.clear();
        }
        self
    }
}

/// A worker, as the reader sees it.
pub(super) struct Worker {
    pub(super) shares: usize,
    pub(super) full: SyncSender<Batch>,
    pub(super) empty: Receiver<Batch>,
}

/// Opens a capture; `-` is standard input.
pub(super) fn open(path: &Path) -> anyhow::Result<Capture> {
    let (name, input): (_, Box<dyn Read + Send>) = if path == Path::new("-") {
        ("standard input".to_owned(), Box::new(io::stdin()))
    } else {
        let name = path.display().to_string();
        let file =
            File::open(path).context("cannot be opened - check the path and its permissions");
        let file = file.with_context(|| name.clone())?;
        (name, Box::new(file))
    };
    let reader = Reader::new(input).with_context(|| format!("{name} cannot be read"))?;
    Ok((name, reader))
}

/// Reads all captures, hands their packets to the workers, and puts whatever is wrong with a capture into the findings. Ends
/// early when a worker takes no more.
pub(super) fn read(
    captures: Vec<Capture>,
    mut dissector: Dissector,
    workers: Vec<Worker>,
) -> Found {
    let mut found = Found::default();
    let mut sorting = Sorting::new(workers);
    for (name, mut reader) in captures {
        loop {
            match reader.packet() {
                Ok(Some(packet)) => {
                    found.packets += 1;
                    found.bytes += u64::from(packet.original_len);
                    match dissector.dissect(&packet) {
                        Dissected::Tcp(segment) => {
                            sorting
                                .packets(share(segment.from, segment.to), segment.at_ns)
                                .segments
                                .push(segment);
                        }
                        Dissected::Udp(datagram) => {
                            found.udp += 1;
                            sorting
                                .packets(share(datagram.from, datagram.to), datagram.at_ns)
                                .datagrams
                                .push(datagram);
                        }
                        Dissected::Other(reason) => found.other(reason),
                    }
                }
                Ok(None) => break,
                Err(error @ Error::Cut { .. }) => {
                    found.cut.push(format!("{name}: {error}"));
                    break;
                }
                Err(error) => {
                    found.damaged.push(format!("{name}: {error}"));
                    break;
                }
            }
            found.tunnelled = dissector.tunnelled;
            if sorting.count >= PACKETS && !sorting.send() {
                return found;
            }
        }
    }
    // Nobody takes them when another thread has failed, and that one tells why.
    let _ = sorting.send();
    found
}

/// Packets of all shares, not yet sent.
struct Sorting {
    workers: Vec<Worker>,
    /// In the order of the workers, and of their shares.
    shares: Vec<Packets>,
    count: usize,
    origin_ns: Option<u64>,
}

impl Sorting {
    fn new(workers: Vec<Worker>) -> Self {
        Self {
            workers,
            shares: (0..SHARES).map(|_| Packets::default()).collect(),
            count: 0,
            origin_ns: None,
        }
    }

    /// Where a packet belongs.
    #[inline]
    fn packets(&mut self, share: usize, at_ns: u64) -> &mut Packets {
        self.count += 1;
        self.origin_ns.get_or_insert(at_ns);
        &mut self.shares[share]
    }

    /// Hands everything to the workers; whether they all took it.
    fn send(&mut self) -> bool {
        self.count = 0;
        let mut shares = self.shares.as_mut_slice();
        self.workers.iter().all(|worker| {
            let batch = worker.empty.try_recv().unwrap_or_default();
            let mut batch = batch.cleared(worker.shares);
            batch.origin_ns = self.origin_ns.unwrap_or_default();
            let (ours, rest) = std::mem::take(&mut shares).split_at_mut(worker.shares);
            shares = rest;
            ours.swap_with_slice(&mut batch.shares);
            worker.full.send(batch).is_ok()
        })
    }
}
