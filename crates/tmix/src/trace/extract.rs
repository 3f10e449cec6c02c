//! Captures in, connections out, on all processors.
//!
//! One thread reads and sorts packets into the [shares](vectors::extract::share) of a capture; workers find the connections of some
//! shares each; the thread that asked collects what they found. Batch for batch it waits for all workers, and puts what ended
//! in the batch into the order of the last packets. So what comes out, and in which order, does not depend on the number of
//! workers.

use super::reading::{self, Capture, Worker, open};
use super::working::{Message, last_packet, work};
use anyhow::anyhow;
use capture::dissect::{Dissector, Reason};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::thread;
use sys::clock;
use vectors::extract::{Counters, Extracted, Options, SHARES};

/// Reasons that are counted apart; no capture in use has so many.
const REASONS: usize = 4_096;
/// Batches that may wait for a worker, and for the collector.
const WAITING: usize = 8;

/// What was read.
#[derive(Debug, Default)]
pub struct Found {
    /// Packets.
    pub packets: u64,
    /// Octets that these had.
    pub bytes: u64,
    /// Datagrams of UDP.
    pub udp: u64,
    /// Segments and datagrams that were within a tunnel.
    pub tunnelled: u64,
    /// Packets that are neither TCP nor UDP, by reason; and those of further reasons, when there are too many.
    pub others: BTreeMap<Reason, u64>,
    /// See `others`.
    pub more_others: u64,
    /// What became of connections and flows.
    pub counters: Counters,
    /// The most connections that were open at once, and flows of UDP.
    pub most_open: usize,
    /// See `most_open`.
    pub most_flows: usize,
    /// Flows of UDP that the output's format could not say.
    pub left_out: u64,
    /// Time that it took.
    pub seconds: f64,
    /// Captures that end within a packet, with what is known about it.
    pub cut: Vec<String>,
    /// Captures that could not be read on.
    pub damaged: Vec<String>,
}

impl Found {
    /// Another packet that is neither.
    pub(super) fn other(&mut self, reason: Reason) {
        if self.others.len() < REASONS || self.others.contains_key(&reason) {
            *self.others.entry(reason).or_default() += 1;
        } else {
            self.more_others += 1;
        }
    }
}

/// Captures that have been opened: parts of one trace, in order.
pub struct Captures {
    captures: Vec<Capture>,
    dissector: Dissector,
}

impl Captures {
    /// Opens captures; `-` is standard input.
    ///
    /// # Errors
    /// When a file cannot be opened, or is no capture.
    pub fn open(files: &[PathBuf]) -> anyhow::Result<Self> {
        let captures = files.iter().map(|path| open(path));
        Ok(Self {
            captures: captures.collect::<anyhow::Result<_>>()?,
            dissector: Dissector::default(),
        })
    }

    /// Whether tunnels are left alone: what they carry is of their own ends.
    #[must_use]
    pub const fn outer(mut self, outer: bool) -> Self {
        self.dissector.outer = outer;
        self
    }

    /// Reads them and hands every connection that has a vector to `sink`.
    ///
    /// # Errors
    /// When a capture cannot be read, or the vectors cannot be written.
    pub fn extract(
        self,
        options: Options,
        sink: impl FnMut(Extracted) -> anyhow::Result<()>,
    ) -> anyhow::Result<Found> {
        let workers = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.extract_with(workers.clamp(1, SHARES), options, sink)
    }

    /// The same with so many workers, at most as many as there are shares.
    fn extract_with(
        self,
        workers: usize,
        options: Options,
        mut sink: impl FnMut(Extracted) -> anyhow::Result<()>,
    ) -> anyhow::Result<Found> {
        let begun = clock::now();
        let mut found = thread::scope(|scope| {
            let mut to_workers = Vec::new();
            let mut from_workers = Vec::new();
            let mut running = Vec::new();
            for number in 0..workers {
                let shares = (number + 1) * SHARES / workers - number * SHARES / workers;
                let (full, batches) = sync_channel(WAITING);
                let (empties, empty) = channel();
                let (told, heard) = sync_channel(WAITING);
                to_workers.push(Worker {
                    shares,
                    full,
                    empty,
                });
                from_workers.push(heard);
                running.push(scope.spawn(move || work(shares, options, &batches, &empties, &told)));
            }
            let reader =
                scope.spawn(move || reading::read(self.captures, self.dissector, to_workers));
            let collected = collect(from_workers, &mut sink);
            // Whoever fails, the others end: nobody takes what they have.
            let found = reader.join();
            let mut found = found.map_err(|_| anyhow!("the reading thread failed"))?;
            for worker in running {
                let counters = worker.join();
                found.counters +=
                    counters.map_err(|_| anyhow!("a thread that finds connections failed"))?;
            }
            [found.most_open, found.most_flows] = collected?;
            anyhow::Ok(found)
        })?;
        found.seconds = clock::now().since(begun).as_secs_f64();
        Ok(found)
    }
}

/// Hands on what the workers find; says the most connections and flows that were open at once.
fn collect(
    workers: Vec<Receiver<Message>>,
    sink: &mut impl FnMut(Extracted) -> anyhow::Result<()>,
) -> anyhow::Result<[usize; 2]> {
    let mut most_open = [0; 2];
    while let Some((ended, open)) = batch(&workers) {
        most_open = [most_open[0].max(open[0]), most_open[1].max(open[1])];
        merge(ended, sink)?;
    }
    for worker in workers {
        for message in worker {
            if let Message::Left(left) = message {
                left.into_iter().try_for_each(&mut *sink)?;
            }
        }
    }
    Ok(most_open)
}

/// What ended in the next batch, by worker, and what was open in it; nothing when the capture has ended. All workers have the
/// same number of batches.
fn batch(workers: &[Receiver<Message>]) -> Option<(Vec<Vec<Extracted>>, [usize; 2])> {
    let mut all = Vec::with_capacity(workers.len());
    let mut open = [0; 2];
    for worker in workers {
        if let Ok(Message::Batch(ended, most)) = worker.recv() {
            all.push(ended);
            open = [open[0] + most[0], open[1] + most[1]];
        }
    }
    (all.len() == workers.len()).then_some((all, open))
}

/// Hands on what all workers found in a batch in the order of last packets; of two at once the one of the lower share.
fn merge(
    ended: Vec<Vec<Extracted>>,
    sink: &mut impl FnMut(Extracted) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut lists: Vec<_> = ended
        .into_iter()
        .map(|list| list.into_iter().peekable())
        .collect();
    loop {
        let heads = lists.iter_mut().enumerate();
        let heads = heads.filter_map(|(at, list)| Some((last_packet(list.peek()?), at)));
        let Some((_, first)) = heads.min() else {
            return Ok(());
        };
        lists[first].next().map_or(Ok(()), &mut *sink)?;
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tshark;
