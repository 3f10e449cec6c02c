//! Vectors in the order of their starts, in bounded memory.
//!
//! Connections end in another order than they begin, and a trace may have more of them than fit into memory. So they are
//! sorted some at a time, each lot is written to a temporary file in the format of the output, and at the end all lots are
//! merged; some on the way, when there are so many that their files would be too many to be open. What the format cannot say
//! is lost several times, which is once.

use super::output::lost;
use anyhow::Context;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use vectors::Vector;
use vectors::cvec::{Format, Reader, Writer};

/// ADUs, and vectors times eight, of a lot in memory: some 16 MB.
const LOT: usize = 1 << 18;
/// Lots of one size, at which they become one of the next: no process may have many more files open. So there are at most
/// this many less one of each size, and a vector is written once for each size.
const MOST_LOTS: usize = 256;

/// Sorts vectors and writes them.
pub struct Sorted {
    /// Where there is room for the output there is room for its parts.
    folder: PathBuf,
    format: Format,
    lot: Vec<Vector>,
    weight: usize,
    /// Lots by size, the smallest first; within a size the first one was put aside first.
    lots: Vec<Vec<File>>,
    /// [`MOST_LOTS`], but in tests.
    most_lots: usize,
}

impl Sorted {
    pub(super) fn new(folder: &Path, format: Format) -> Self {
        Self {
            folder: folder.to_owned(),
            format,
            lot: Vec::new(),
            weight: 0,
            lots: Vec::new(),
            most_lots: MOST_LOTS,
        }
    }

    pub(super) fn push(&mut self, vector: Vector) -> anyhow::Result<()> {
        self.weight += 8 + vector.body.turns().len();
        self.lot.push(vector);
        if self.weight >= LOT {
            self.put_aside()?;
        }
        Ok(())
    }

    /// Writes all vectors, numbered from one.
    pub(super) fn finish(mut self, writer: &mut Writer<impl Write>) -> anyhow::Result<()> {
        if self.lots.is_empty() {
            self.sort();
            for (mut vector, number) in self.lot.into_iter().zip(1..) {
                vector.ids = [number; 2];
                writer.vector(&vector)?;
            }
            return Ok(());
        }
        self.put_aside()?;
        // Of two at once the one that was put aside first comes first: those of the largest lots.
        let lots = self.lots.into_iter().rev().flatten();
        merge(lots, writer)
    }

    /// By start; of two at once the one that ended first comes first.
    fn sort(&mut self) {
        self.lot.sort_by_key(|vector| vector.start);
    }

    fn put_aside(&mut self) -> anyhow::Result<()> {
        self.sort();
        self.weight = 0;
        let mut writer = self.aside()?;
        for vector in self.lot.drain(..) {
            writer.vector(&vector)?;
        }
        self.keep(0, rewound(writer)?)
    }

    /// Keeps a lot of a size; as many as fill one of the next size are merged.
    fn keep(&mut self, size: usize, lot: File) -> anyhow::Result<()> {
        if self.lots.len() <= size {
            self.lots.push(Vec::new());
        }
        self.lots[size].push(lot);
        if self.lots[size].len() < self.most_lots {
            return Ok(());
        }
        let full = std::mem::take(&mut self.lots[size]);
        let mut writer = self.aside()?;
        merge(full, &mut writer)?;
        self.keep(size + 1, rewound(writer)?)
    }

    /// A file without a name, for a lot.
    fn aside(&self) -> anyhow::Result<Writer<BufWriter<File>>> {
        let file = tempfile::tempfile_in(&self.folder);
        let file = file.with_context(|| lost(&self.folder))?;
        Ok(Writer::new(BufWriter::new(file), self.format))
    }
}

/// What was written, to be read.
fn rewound(writer: Writer<BufWriter<File>>) -> anyhow::Result<File> {
    let mut file = writer.finish()?.into_inner()?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

fn merge(
    lots: impl IntoIterator<Item = File>,
    writer: &mut Writer<impl Write>,
) -> anyhow::Result<()> {
    let readers = lots
        .into_iter()
        .map(|file| Reader::new(BufReader::new(file)));
    let mut readers = readers.collect::<Result<Vec<_>, _>>()?;
    let mut heads: Vec<Option<Vector>> = Vec::with_capacity(readers.len());
    let mut order: BinaryHeap<Reverse<(Duration, usize)>> = BinaryHeap::new();
    for (reader, lot) in readers.iter_mut().zip(0..) {
        let head = reader.next().transpose()?;
        order.extend(head.iter().map(|head| Reverse((head.start, lot))));
        heads.push(head);
    }
    let mut number = 0;
    while let Some(Reverse((_, lot))) = order.pop() {
        let next = readers[lot].next().transpose()?;
        order.extend(next.iter().map(|next| Reverse((next.start, lot))));
        if let Some(mut vector) = std::mem::replace(&mut heads[lot], next) {
            number += 1;
            vector.ids = [number; 2];
            writer.vector(&vector)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use vectors::{Body, Loss, Side, Transport, Turn};

    fn vector(start_us: u64) -> Vector {
        let wait = Duration::ZERO;
        Vector {
            transport: Transport::Tcp,
            start: Duration::from_micros(start_us),
            ids: [0; 2],
            windows: [1; 2],
            min_rtt: None,
            loss: [Loss::NONE; 2],
            mss: None,
            body: Body::Sequential {
                turns: vec![Turn {
                    side: Side::Initiator,
                    bytes: start_us + 1,
                    wait,
                }],
                tail: None,
            },
        }
    }

    #[test]
    fn many_lots_become_one_row() {
        let dir = tempfile::tempdir().unwrap();
        // A lot is some 29,000 of these; with two of a size at most, five lots become three sizes.
        for (count, most_lots) in [(10_u64, MOST_LOTS), (100_000, MOST_LOTS), (150_000, 2)] {
            let mut sorted = Sorted::new(dir.path(), Format::Original);
            sorted.most_lots = most_lots;
            for at in 0..count {
                // Every start once, in no order: 7 and the counts have no common factor.
                sorted.push(vector(at * 7 % count)).unwrap();
            }
            let mut writer = Writer::new(Vec::new(), Format::Original);
            sorted.finish(&mut writer).unwrap();
            let text = writer.finish().unwrap();
            let read = Reader::new(&text[..]).unwrap().map(Result::unwrap);
            let mut expected = (0..count).map(vector);
            for (found, number) in read.zip(1..) {
                let mut expected = expected.next().unwrap();
                expected.ids = [number; 2];
                assert_eq!(found, expected);
            }
            assert_eq!(expected.next(), None);
        }
    }
}
