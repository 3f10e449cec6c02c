//! What a link's counters say: its queues every 10 ms, its output in bins of 100 us, and how well the runner kept time; for
//! those who ask, what came to the queue, which connections began and ended, single datagrams, and all packets.

use crate::capture::Capture;
use crate::options::Options;
use crate::signal::Signal;
use crate::watch::{self, Passage};
use hdrhistogram::Histogram;
use packet::Frame;
use path::{Counters, Element, Others, Packet, Pipeline};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use sys::clock;
use units::Instant;

/// Width of a counter bin.
pub const BIN: Duration = Duration::from_micros(100);
/// Most log entries of a direction and kind that wait to be taken: a minute of a busy link, some 12 MB. Older ones stay;
/// newer ones are counted as unlogged.
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
    /// All counters of the direction.
    pub totals: Counters,
    /// Other people's packets among those of the counters, which links make up ([`path::Shared`]).
    pub others: Others,
}

/// What left a direction, or came to its queue, within one bin of 100 us, by logical time. Empty bins are left out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bin {
    /// Start of the bin.
    pub at: Instant,
    /// Packets.
    pub packets: u32,
    /// Octets, with the link's overhead.
    pub bytes: u32,
}

impl Bin {
    /// Counts a packet in the last of `bins`, or in a new one.
    fn count(bins: &mut Vec<Self>, at: Instant, size: u32) {
        let width = u64::try_from(BIN.as_nanos()).unwrap_or(1);
        let at = Instant::from_nanos(at.as_nanos() / width * width);
        match bins.last_mut() {
            Some(bin) if bin.at == at => {
                bin.packets += 1;
                bin.bytes = bin.bytes.saturating_add(size);
            }
            _ => bins.push(Self {
                at,
                packets: 1,
                bytes: size,
            }),
        }
    }
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
    /// Packets that are missing from the capture because nobody took it.
    pub uncaptured: u64,
}

/// The part of a direction's counters that another thread may take.
#[derive(Debug, Default)]
pub struct Log {
    /// Queue samples not yet taken.
    pub queue: Vec<QueueSample>,
    /// Counter bins not yet taken.
    pub bins: Vec<Bin>,
    /// Bins of what came to the first queue, not yet taken; for [`Options::arrivals`].
    pub arrivals: Vec<Bin>,
    /// Single packets not yet taken; for [`Options::watch`].
    pub passages: Vec<Passage>,
    /// Beginnings and ends of connections not yet taken; for [`Options::signals`].
    pub signals: Vec<Signal>,
    /// Packets not yet taken; for [`Options::capture`].
    pub capture: Capture,
    /// The state of the counters at the last tick.
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
        arrivals: std::mem::take(&mut log.arrivals),
        passages: std::mem::take(&mut log.passages),
        signals: std::mem::take(&mut log.signals),
        capture: std::mem::take(&mut log.capture),
        totals: log.totals,
        quality: log.quality,
    }
}

/// The runner's side of a direction's counters.
pub(crate) struct Monitor {
    log: SharedLog,
    options: Options,
    /// Kept here between ticks, so that the lock is taken once a tick.
    pending: Log,
    late_ns: Histogram<u64>,
    pub(crate) unwritten: u64,
    pub(crate) malformed: u64,
    pub(crate) multicast: u64,
}

impl Monitor {
    pub(crate) fn new(log: SharedLog, options: Options) -> Self {
        Self {
            log,
            options,
            pending: Log::default(),
            late_ns: lateness_histogram(),
            unwritten: 0,
            malformed: 0,
            multicast: 0,
        }
    }

    /// Counters a packet that is written at `now`.
    pub(crate) fn left(&mut self, packet: &Packet<Frame>, now: Instant) {
        let late = u64::try_from(now.since(packet.at).as_nanos()).unwrap_or(u64::MAX);
        self.late_ns.saturating_record(late);
        let pending = &mut self.pending;
        Bin::count(&mut pending.bins, packet.at, packet.size);
        if self.options.signals {
            pending.signals.extend(Signal::of(packet));
        }
        if let Some(most) = self.options.capture {
            pending.capture.keep(packet, most);
        }
    }

    /// What is to be noted of `packet`, which is written next; nothing unless somebody watches.
    pub(crate) fn note(&self, packet: &Packet<Frame>) -> Option<Passage> {
        self.options.watch.as_ref()?.note(packet, clock::now)
    }

    /// Counters a passage, now that the kernel has taken the packet.
    pub(crate) fn passed(&mut self, passage: Option<Passage>) {
        self.pending.passages.extend(passage);
    }

    /// Publishes the counters at `now`.
    pub(crate) fn tick(&mut self, now: Instant, path: &mut Pipeline<Frame>) {
        let (totals, others) = (path.counters(), path.others());
        let pending = &mut self.pending;
        pending
            .queue
            .extend(path.backlog().map(|backlog| QueueSample {
                at: now,
                packets: backlog.packets,
                bytes: backlog.bytes,
                totals,
                others,
            }));
        for (at, size) in path.arrivals() {
            Bin::count(&mut pending.arrivals, at, size);
        }
        let open = |bin: &mut Bin| bin.at + BIN > now;
        let open = [&mut pending.bins, &mut pending.arrivals].map(|bins| bins.pop_if(open));
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let quality = &mut pending.quality;
        quality.unlogged += publish(&mut pending.queue, &mut log.queue, MOST_WAITING)
            + publish(&mut pending.bins, &mut log.bins, MOST_WAITING)
            + publish(&mut pending.arrivals, &mut log.arrivals, MOST_WAITING)
            + publish(&mut pending.signals, &mut log.signals, MOST_WAITING)
            + publish(
                &mut pending.passages,
                &mut log.passages,
                watch::MOST_WAITING,
            );
        quality.uncaptured += pending.capture.publish(&mut log.capture);
        log.totals = totals;
        let [bin, arrivals] = open;
        pending.bins.extend(bin);
        pending.arrivals.extend(arrivals);
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
            ..self.pending.quality
        }
    }
}

/// Moves `from` to the end of `to`, or drops it if that has `most` entries already; returns how many were dropped.
fn publish<T>(from: &mut Vec<T>, to: &mut Vec<T>, most: usize) -> u64 {
    if to.len() < most {
        to.append(from);
        return 0;
    }
    let dropped = from.len() as u64;
    from.clear();
    dropped
}

/// Lateness from 1 ns to 10 s with two significant digits.
fn lateness_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 10_000_000_000, 2).expect("the bounds are valid")
}
