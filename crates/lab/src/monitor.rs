//! What a link's books say: its queues every 10 ms, its output in bins of 100 us, and how well the runner kept time.

use crate::frame::Frame;
use crate::watch::{self, Passage, Watch};
use hdrhistogram::Histogram;
use path::{Counters, Element, Packet, Pipeline};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use sys::clock;
use units::Instant;

/// Width of a counter bin.
pub const BIN: Duration = Duration::from_micros(100);
/// Most log entries of a direction that wait to be taken: a minute of a busy link, some 12 MB. Older ones stay; newer
/// ones are counted as unlogged.
const MOST_WAITING: usize = 500_000;

/// A direction's queue at a moment. Totals count from the lab's start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueSample {
    /// When.
    pub at: Instant,
    /// Packets waiting.
    pub packets: u64,
    /// Octets waiting.
    pub bytes: u64,
    /// All books of the direction.
    pub totals: Counters,
}

/// What left a direction within one bin of 100 us, by logical departure. Empty bins are left out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bin {
    /// Start of the bin.
    pub at: Instant,
    /// Packets that left.
    pub packets: u32,
    /// Octets that left, with the link's overhead.
    pub bytes: u32,
}

/// How well the runner served a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// Packets moved.
    pub packets: u64,
    /// Lateness of writes behind the logical departure: median.
    pub late_p50: Duration,
    /// 99th percentile.
    pub late_p99: Duration,
    /// Worst.
    pub late_max: Duration,
    /// Packets that the kernel refused to take back.
    pub unwritten: u64,
    /// Reads that were no packet.
    pub malformed: u64,
    /// Packets to a group, which a lab does not carry.
    pub multicast: u64,
    /// Log entries that were not kept because nobody took them.
    pub unlogged: u64,
}

/// The part of a direction's books that another thread may take.
#[derive(Debug, Default)]
pub struct Log {
    /// Queue samples not yet taken.
    pub queue: Vec<QueueSample>,
    /// Counter bins not yet taken.
    pub bins: Vec<Bin>,
    /// Single packets not yet taken.
    pub passages: Vec<Passage>,
    /// The state of the books at the last tick.
    pub totals: Counters,
    /// How well the runner keeps time, from the start.
    pub quality: Quality,
}

/// A log shared between the runner and whoever records it.
pub(crate) type SharedLog = Arc<Mutex<Log>>;

/// Takes what has been logged since the last call.
pub(crate) fn take(log: &SharedLog) -> Log {
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    Log {
        queue: std::mem::take(&mut log.queue),
        bins: std::mem::take(&mut log.bins),
        passages: std::mem::take(&mut log.passages),
        totals: log.totals,
        quality: log.quality,
    }
}

/// The runner's side of a direction's books.
pub(crate) struct Monitor {
    log: SharedLog,
    /// Kept here between ticks, so that the lock is taken once a tick.
    bins: Vec<Bin>,
    watch: Option<Watch>,
    passages: Vec<Passage>,
    late_ns: Histogram<u64>,
    unlogged: u64,
    pub(crate) unwritten: u64,
    pub(crate) malformed: u64,
    pub(crate) multicast: u64,
}

impl Monitor {
    pub(crate) fn new(log: SharedLog, watch: Option<Watch>) -> Self {
        Self {
            log,
            bins: Vec::new(),
            watch,
            passages: Vec::new(),
            late_ns: lateness_histogram(),
            unlogged: 0,
            unwritten: 0,
            malformed: 0,
            multicast: 0,
        }
    }

    /// Books a packet that is written at `now`.
    pub(crate) fn left(&mut self, packet: &Packet<Frame>, now: Instant) {
        let late = u64::try_from(now.since(packet.at).as_nanos()).unwrap_or(u64::MAX);
        self.late_ns.saturating_record(late);
        let width = u64::try_from(BIN.as_nanos()).unwrap_or(1);
        let at = Instant::from_nanos(packet.at.as_nanos() / width * width);
        match self.bins.last_mut() {
            Some(bin) if bin.at == at => {
                bin.packets += 1;
                bin.bytes = bin.bytes.saturating_add(packet.size);
            }
            _ => self.bins.push(Bin {
                at,
                packets: 1,
                bytes: packet.size,
            }),
        }
    }

    /// What is to be noted of `packet`, which is written next; nothing unless somebody watches.
    pub(crate) fn note(&self, packet: &Packet<Frame>) -> Option<Passage> {
        self.watch.as_ref()?.note(packet, clock::now)
    }

    /// Books a passage, now that the kernel has taken the packet.
    pub(crate) fn passed(&mut self, passage: Option<Passage>) {
        self.passages.extend(passage);
    }

    /// Publishes the books at `now`.
    pub(crate) fn tick(&mut self, now: Instant, path: &Pipeline<Frame>) {
        let totals = path.counters();
        let backlog = path.backlog();
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.totals = totals;
        if log.queue.len() + log.bins.len() < MOST_WAITING {
            let open = self.bins.pop_if(|bin| bin.at + BIN > now);
            log.bins.append(&mut self.bins);
            self.bins.extend(open);
            log.queue.extend(backlog.map(|backlog| QueueSample {
                at: now,
                packets: backlog.packets,
                bytes: backlog.bytes,
                totals,
            }));
        } else {
            self.unlogged += 1 + self.bins.len() as u64;
            self.bins.clear();
        }
        if log.passages.len() < watch::MOST_WAITING {
            log.passages.append(&mut self.passages);
        } else {
            self.unlogged += self.passages.len() as u64;
            self.passages.clear();
        }
        log.quality = self.quality();
    }

    fn quality(&self) -> Quality {
        let late = |q: f64| Duration::from_nanos(self.late_ns.value_at_quantile(q));
        Quality {
            packets: self.late_ns.len(),
            late_p50: late(0.5),
            late_p99: late(0.99),
            late_max: Duration::from_nanos(self.late_ns.max()),
            unwritten: self.unwritten,
            malformed: self.malformed,
            multicast: self.multicast,
            unlogged: self.unlogged,
        }
    }
}

/// Lateness from 1 ns to 10 s with two significant digits.
fn lateness_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 10_000_000_000, 2).expect("the bounds are valid")
}
