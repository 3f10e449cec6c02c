//! Carries a trial out: managers, application, others and tool in threads, and the counters of the bottleneck here.

use super::Live;
use super::books::{Books, TRANSIT, since};
use super::decode::Ends;
use super::parts::Parts;
use super::plan::Plan;
use super::prober::Note;
use super::source::Seconds;
use super::summary::Tables;
use crate::dumbbell::place::Hop;
use crate::dumbbell::{Managers, Place};
use anyhow::anyhow;
use kit::control;
use kit::control::{DISPLAY, FLUSH, LOOK};
use kit::ending::Ending;
use kit::instrument::Cpus;
use kit::lab_counters::{Extra, LabCounters, LabRows};
use kit::sampler::Sampler;
use lab::Network;
use record::{Distribution, RecordWriter};
use schema::LinkTruth;
use schema::tables::{Cpu, Queue};
use session::DEFAULT_PORT;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::time::Duration;
use sys::clock;
use units::{Instant, Rate};

/// What is needed to carry a plan out.
pub type Context<'a> = control::Context<'a, Plan, Live>;

/// Where the application listens.
pub(super) const PORT: u16 = 5_001;
/// Between the counters' beginning and the application's.
pub(super) const LEAD: Duration = Duration::from_millis(100);
/// After the end what is on the way arrives.
pub(super) const DRAIN: Duration = Duration::from_secs(1);
/// A tool that is not done so long after the end is waited for no longer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Notes that may wait: of many seconds.
const MOST_NOTES: usize = 8_192;

/// What came of a run.
pub struct Outcome {
    /// How it ended: as planned, interrupted or lost.
    pub ending: Ending,
    /// All rows of its own tables.
    pub tables: Tables,
    /// How busy the host was, interval by interval.
    pub cpu: Vec<Cpu>,
    /// What the lab's links carried, queued and dropped, one entry a direction.
    pub truth: Vec<LinkTruth>,
    /// The bottleneck's rate.
    pub capacity: Rate,
    /// |actual - planned gap| of the probes, in nanoseconds: the worst of each train.
    pub gap_error_ns: Option<Distribution>,
    /// Octets that left the bottleneck, packet by packet, and by the link's own counters.
    pub captured_bytes: u64,
    /// Octets that left it by those counters; see `captured_bytes`.
    pub counted_bytes: u64,
    /// Packets that are missing from the captures, and probes that were seen behind the bottleneck only.
    pub uncaptured: u64,
    /// Probes that were seen behind the bottleneck and not before it.
    pub unmatched: u64,
}

/// When things happen.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) origin: Instant,
    pub(super) end: Instant,
}

/// Carries the plan out in `network`, writing what is found to `record` as it comes.
///
/// # Errors
/// When nothing could be begun, or the record cannot be written; everything else ends up in the outcome.
pub fn run(
    context: &Context<'_>,
    network: &Network,
    place: &Place,
    record: &mut RecordWriter,
) -> anyhow::Result<Outcome> {
    let managers = Managers::start(network, place, context.plan.carrying())?;
    let origin = clock::now() + LEAD;
    let times = Times {
        origin,
        end: origin + context.plan.duration.0,
    };
    let (notes, told) = mpsc::sync_channel(MOST_NOTES);
    let (over, seconds, cpus) = (AtomicBool::new(false), Seconds::default(), Cpus::default());
    let sampler = Sampler::new(origin, "client", &cpus);
    let whole = (Duration::ZERO, Duration::MAX);
    let mut counters = Counters {
        context,
        network,
        place,
        times,
        ends: ends(network, place)?,
        lab: LabCounters::new(network, origin, whole),
        books: Books::new(context.plan, place, &seconds, record),
        noted: told,
        cpus: &cpus,
        cpu: Vec::new(),
        uncaptured: 0,
        tool_is_over: false,
    };
    let started = std::thread::scope(|scope| {
        scope.spawn(|| sampler.run(&over));
        let parts = Parts {
            context,
            network,
            place,
            times,
            over: &over,
        };
        let started = parts.start(scope, &managers, &seconds, notes);
        let watched = started.and_then(|()| Ok(counters.watch()?));
        over.store(true, Ordering::Relaxed);
        watched
    });
    drop(managers);
    started?;
    Ok(counters.close()?)
}

/// Whose packets are whose.
fn ends(network: &Network, place: &Place) -> anyhow::Result<Ends> {
    let address = |host: &str| match network.address(host, false) {
        Some(IpAddr::V4(address)) => Ok(address),
        _ => Err(anyhow!("'{host}' has no IPv4 address in this lab")),
    };
    let both = |[one, other]: [&str; 2]| -> anyhow::Result<[Ipv4Addr; 2]> {
        Ok([address(one)?, address(other)?])
    };
    let others = place.others.as_ref();
    Ok(Ends {
        hosts: both([&place.source, &place.sink])?,
        source_port: PORT,
        overlay_port: DEFAULT_PORT,
        others: others.map(|[from, to]| both([from, to])).transpose()?,
    })
}

/// The counters of a run.
struct Counters<'a> {
    context: &'a Context<'a>,
    network: &'a Network,
    place: &'a Place,
    times: Times,
    ends: Ends,
    lab: LabCounters,
    books: Books<'a>,
    noted: Receiver<Note>,
    cpus: &'a Cpus,
    cpu: Vec<Cpu>,
    uncaptured: u64,
    tool_is_over: bool,
}

impl Counters<'_> {
    /// Keeps the counters until the run is over.
    fn watch(&mut self) -> Result<(), record::Error> {
        let (mut flushed, mut shown) = (clock::now(), Instant::ZERO);
        loop {
            let now = clock::now();
            let is_late = now >= self.times.end + PATIENCE;
            let is_over = now >= self.times.end + DRAIN && (self.tool_is_over || is_late);
            if is_over || self.context.is_interrupted() || self.books.broken.is_some() {
                return Ok(());
            }
            clock::sleep_until(now + LOOK);
            if now.since(flushed) >= FLUSH {
                flushed = now;
                let queue = self.take()?;
                let settled_ns = self.since(now - TRANSIT);
                self.books.flush(settled_ns, queue)?;
            }
            if now.since(shown) >= DISPLAY {
                shown = now;
                let live = self.books.live(now.since(self.times.origin));
                (self.context.display)(&live);
            }
        }
    }

    fn since(&self, at: Instant) -> u64 {
        since(self.times.origin, at)
    }

    /// Takes all there is; the rows of queues.
    fn take(&mut self) -> Result<Vec<Queue>, record::Error> {
        let mut rows = LabRows::default();
        self.lab.take(self.network, &mut rows);
        // A train is announced before its first probe leaves: announcements are looked at after packets were taken, and before those are.
        self.read_notes();
        self.packets(&rows.extra);
        let cpu = self.cpus.take();
        self.books.record().append(&cpu)?;
        self.cpu.extend(cpu);
        Ok(rows.queue)
    }

    fn read_notes(&mut self) {
        loop {
            match self.noted.try_recv() {
                Ok(note) => self.books.note(note),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    self.tool_is_over = true;
                    return;
                }
            }
        }
    }

    /// Counts what came to the bottleneck, then what left it.
    fn packets(&mut self, extra: &[Extra]) {
        let of = |hop: &Hop| {
            let mut directions = extra.iter();
            directions.find(|one| one.link == hop.link && one.direction == hop.direction)
        };
        let (came, left) = (of(&self.place.entry), of(&self.place.bottleneck));
        self.uncaptured = came.iter().chain(&left).map(|extra| extra.uncaptured).sum();
        for packet in came.iter().flat_map(|extra| extra.capture.iter()) {
            let (at, seen) = (self.since(packet.at), self.ends.look(packet.octets));
            self.books.ledger.entered(at, seen);
        }
        for packet in left.iter().flat_map(|extra| extra.capture.iter()) {
            let at = self.since(packet.at - self.place.behind);
            let seen = self.ends.look(packet.octets);
            self.books.ledger.left(at, packet.length, seen);
        }
        for sample in left.iter().flat_map(|extra| &extra.samples) {
            let at = (sample.at >= self.times.origin).then(|| self.since(sample.at));
            self.books
                .counted(at, sample.totals.left.bytes, sample.others);
        }
    }

    /// Writes the rest.
    fn close(mut self) -> Result<Outcome, record::Error> {
        let ending = match self.books.broken.take() {
            Some(reason) => Ending::Lost(reason),
            None => self.context.ending(),
        };
        let now = self.since(clock::now());
        let queue = self.take()?;
        let outcome = self.books.close(ending, now, queue)?;
        Ok(Outcome {
            cpu: self.cpu,
            truth: self.lab.truth(),
            uncaptured: self.uncaptured,
            ..outcome
        })
    }
}
