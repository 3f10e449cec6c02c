//! Captures in, connections out.

use anyhow::Context;
use capture::dissect::{Datagram, Dissected, Reason, Segment, dissect};
use capture::read::{Error, Reader};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use sys::clock;
use vectors::extract::{Books, Extracted, Extractor, Options};

/// Packets that go from thread to thread at once, and how often before the reader waits.
const PACKETS: usize = 4_096;
const WAITING: usize = 8;

/// Packets in the order of the capture, TCP and UDP apart: neither says anything of the other.
#[derive(Debug, Default)]
struct Batch {
    segments: Vec<Segment>,
    datagrams: Vec<Datagram>,
}

impl Batch {
    const fn len(&self) -> usize {
        self.segments.len() + self.datagrams.len()
    }

    fn clear(&mut self) {
        self.segments.clear();
        self.datagrams.clear();
    }
}

/// What was read.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) packets: u64,
    /// Octets that these had.
    pub(crate) bytes: u64,
    pub(crate) udp: u64,
    /// Packets that are neither TCP nor UDP, by reason.
    pub(crate) others: BTreeMap<Reason, u64>,
    pub(crate) books: Books,
    /// The most connections that were open at once, and flows of UDP.
    pub(crate) most_open: usize,
    pub(crate) most_flows: usize,
    /// Flows of UDP that the output's format could not say.
    pub(crate) left_out: u64,
    pub(crate) seconds: f64,
    /// Captures that end within a packet, with what is known about it.
    pub(crate) cut: Vec<String>,
    /// Captures that could not be read on.
    pub(crate) damaged: Vec<String>,
}

/// Captures that have been opened: parts of one trace, in order.
pub(crate) struct Captures(Vec<Capture>);

impl Captures {
    /// Opens captures; `-` is standard input.
    pub(crate) fn open(files: &[PathBuf]) -> anyhow::Result<Self> {
        let captures = files.iter().map(|path| open(path));
        captures.collect::<anyhow::Result<_>>().map(Self)
    }

    /// Reads them and hands every connection that has a vector to `sink`.
    pub(crate) fn extract(
        self,
        options: Options,
        mut sink: impl FnMut(Extracted) -> anyhow::Result<()>,
    ) -> anyhow::Result<Found> {
        let begun = clock::now();
        let mut extractor = Extractor::new(options);
        let (full_to, full) = sync_channel(WAITING);
        let (empty_to, empty) = channel();
        let mut found = thread::scope(|scope| {
            let reader = scope.spawn(move || read(self.0, &full_to, &empty));
            let handled = handle(&mut extractor, &full, &empty_to, &mut sink);
            // The reader ends when nobody takes what it reads.
            drop(full);
            let found = reader.join();
            let found = found.map_err(|_| anyhow::anyhow!("the reading thread failed"))?;
            handled.map(|()| found)
        })?;
        found.books = *extractor.books();
        found.most_open = extractor.open().1;
        found.most_flows = extractor.open_flows().1;
        found.seconds = clock::now().since(begun).as_secs_f64();
        Ok(found)
    }
}

/// Finds connections in the segments that come, until none do.
fn handle(
    extractor: &mut Extractor,
    full: &Receiver<Batch>,
    empty: &Sender<Batch>,
    sink: &mut impl FnMut(Extracted) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for mut batch in full {
        for datagram in &batch.datagrams {
            extractor.handle_datagram(datagram);
        }
        extractor.handle_segments(&batch.segments);
        while let Some(ended) = extractor.poll() {
            sink(ended)?;
        }
        batch.clear();
        // A reader that has ended needs none.
        let _ = empty.send(batch);
    }
    extractor.finish();
    while let Some(ended) = extractor.poll() {
        sink(ended)?;
    }
    Ok(())
}

/// A capture and its name.
type Capture = (String, Reader<Box<dyn Read + Send>>);

fn open(path: &Path) -> anyhow::Result<Capture> {
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

/// Reads all captures into segments, and whatever is wrong with one of them into the findings.
fn read(captures: Vec<Capture>, full: &SyncSender<Batch>, empty: &Receiver<Batch>) -> Found {
    let mut found = Found::default();
    let mut batch = Batch::default();
    for (name, mut reader) in captures {
        loop {
            match reader.packet() {
                Ok(Some(packet)) => {
                    found.packets += 1;
                    found.bytes += u64::from(packet.original_len);
                    match dissect(&packet) {
                        Dissected::Tcp(segment) => batch.segments.push(segment),
                        Dissected::Udp(datagram) => {
                            found.udp += 1;
                            batch.datagrams.push(datagram);
                        }
                        Dissected::Other(reason) => *found.others.entry(reason).or_default() += 1,
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
            if batch.len() >= PACKETS {
                let next = empty.try_recv().unwrap_or_default();
                if full.send(std::mem::replace(&mut batch, next)).is_err() {
                    return found;
                }
            }
        }
    }
    // Nobody takes them when the other thread has failed, and it tells why.
    let _ = full.send(batch);
    found
}
