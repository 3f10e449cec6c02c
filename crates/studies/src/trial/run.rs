//! Carries a trial out: managers, application, others and tool in threads, and the counters of the bottleneck here.

use super::Live;
use super::decode::Ends;
use super::ledger::{Ledger, SECOND};
use super::parts::Parts;
use super::plan::Plan;
use super::prober::Note;
use super::source::Seconds;
use super::summary::Tables;
use super::tables::SourceRow;
use super::truth::Truth;
use crate::dumbbell::place::Hop;
use crate::dumbbell::{Managers, Place};
use anyhow::anyhow;
use kit::control;
use kit::control::{DISPLAY, FLUSH, LOOK};
use kit::ending::Ending;
use kit::instrument::Cpus;
use kit::lab_counters::{Extra, LabCounters, LabRows};
use kit::sampler::Sampler;
use kit::thinned::Thinned;
use lab::Network;
use path::Others;
use record::{Distribution, RecordWriter};
use schema::LinkTruth;
use schema::tables::Cpu;
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
const LEAD: Duration = Duration::from_millis(100);
/// After the end what is on the way arrives.
const DRAIN: Duration = Duration::from_secs(1);
/// A tool that is not done so long after the end is waited for no longer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Within this time a packet has left the bottleneck, or is lost.
const TRANSIT: Duration = Duration::from_secs(1);
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
        lab: LabCounters::new(network, origin, whole),
        ledger: Ledger::new(ends(network, place)?),
        truth: Truth::new(place.rate),
        noted: told,
        seconds: &seconds,
        cpus: &cpus,
        tables: Tables::default(),
        cpu: Vec::new(),
        others: Others::default(),
        counted: None,
        uncaptured: 0,
        gap_error_ns: Thinned::default(),
        read_s: 0,
        broken: None,
        tool_is_over: false,
        record,
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
    lab: LabCounters,
    ledger: Ledger,
    truth: Truth,
    noted: Receiver<Note>,
    seconds: &'a Seconds,
    cpus: &'a Cpus,
    tables: Tables,
    cpu: Vec<Cpu>,
    /// The link's own traffic at the last look.
    others: Others,
    /// Octets that had left the bottleneck at the first look and at the last one.
    counted: Option<[u64; 2]>,
    uncaptured: u64,
    gap_error_ns: Thinned,
    /// The next second whose reading has no row yet.
    read_s: u64,
    broken: Option<String>,
    tool_is_over: bool,
    record: &'a mut RecordWriter,
}

impl Counters<'_> {
    /// Keeps the counters until the run is over.
    fn watch(&mut self) -> Result<(), record::Error> {
        let (mut flushed, mut shown) = (clock::now(), Instant::ZERO);
        loop {
            let now = clock::now();
            let is_late = now >= self.times.end + PATIENCE;
            let is_over = now >= self.times.end + DRAIN && (self.tool_is_over || is_late);
            if is_over || self.context.is_interrupted() || self.broken.is_some() {
                return Ok(());
            }
            clock::sleep_until(now + LOOK);
            if now.since(flushed) >= FLUSH {
                flushed = now;
                self.flush(self.since(now - TRANSIT))?;
            }
            if now.since(shown) >= DISPLAY {
                shown = now;
                self.show(now);
            }
        }
    }

    fn since(&self, at: Instant) -> u64 {
        u64::try_from(at.since(self.times.origin).as_nanos()).unwrap_or(u64::MAX)
    }

    /// Takes all there is, and writes what can no longer change: all before `settled_ns`.
    fn flush(&mut self, settled_ns: u64) -> Result<(), record::Error> {
        let mut rows = LabRows::default();
        self.lab.take(self.network, &mut rows);
        // A train is announced before its first probe leaves: announcements are looked at after packets were taken, and before those are.
        self.read_notes();
        self.packets(&rows.extra);
        self.ledger.settle(settled_ns);
        let (throughput, trains, losses) = self.ledger.take();
        self.truth.carried(&throughput);
        let estimates = self.truth.take(settled_ns);
        let source = self.read(settled_ns);
        let place = self.place;
        rows.queue.retain(|row| {
            row.link == place.bottleneck.link && row.direction == place.bottleneck.direction
        });
        let cpu = self.cpus.take();
        self.record.append(&rows.queue)?;
        self.record.append(&throughput)?;
        self.record.append(&trains)?;
        self.record.append(&losses)?;
        self.record.append(&estimates)?;
        self.record.append(&source)?;
        self.record.append(&cpu)?;
        let tables = &mut self.tables;
        tables.throughput.extend(throughput);
        tables.trains.extend(trains);
        tables.losses.extend(losses);
        tables.estimates.extend(estimates);
        tables.source.extend(source);
        self.cpu.extend(cpu);
        self.record.flush()
    }

    fn read_notes(&mut self) {
        loop {
            match self.noted.try_recv() {
                Ok(Note::Offered(number, train)) => self.ledger.offered(number, &train),
                Ok(Note::Told(number, outcome)) => {
                    self.gap_error_ns
                        .add(outcome.worst_error().as_nanos() as f64);
                    self.ledger.told(number, &outcome);
                }
                Ok(Note::Estimated(estimated)) => self.truth.estimated(estimated),
                Ok(Note::Broken(reason)) => self.broken = Some(reason),
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
            self.ledger.entered(self.since(packet.at), packet.octets);
        }
        for packet in left.iter().flat_map(|extra| extra.capture.iter()) {
            let at = self.since(packet.at - self.place.behind);
            self.ledger.left(at, packet.length, packet.octets);
        }
        for sample in left.iter().flat_map(|extra| &extra.samples) {
            let own = sample
                .totals
                .left
                .bytes
                .saturating_sub(sample.others.left.bytes);
            let first = self.counted.map_or(own, |[first, _]| first);
            self.counted = Some([first, own]);
            let (before, after) = (self.others.left, sample.others.left);
            self.others = sample.others;
            if sample.at >= self.times.origin {
                let at = self.since(sample.at);
                let packets = after.packets - before.packets;
                self.ledger.cross(at, packets, after.bytes - before.bytes);
            }
        }
    }

    /// What the application read in the seconds before `settled_ns`.
    fn read(&mut self, settled_ns: u64) -> Vec<SourceRow> {
        let planned = self.context.plan.duration.0.as_secs();
        let until = (settled_ns / SECOND).min(planned).max(self.read_s);
        let seconds = self.seconds.of(self.read_s..until);
        self.read_s = until;
        let row = |(second, bytes)| SourceRow {
            t_ns: second * SECOND,
            bytes,
        };
        seconds.into_iter().map(row).collect()
    }

    fn show(&self, now: Instant) {
        let last = self.tables.source.last();
        let whole = self.context.plan.duration.0.as_secs_f64();
        (self.context.display)(&Live {
            done: now.since(self.times.origin).as_secs_f64() / whole,
            source_mbps: last.map_or(0.0, |row| row.bytes as f64 * 8e-6),
            trains: self.tables.trains.len() as u64,
            riders: self.ledger.carried,
            estimates: self.tables.estimates.len(),
        });
    }

    /// Writes the rest. Of a run that was cut short the last second is not whole and has no row.
    fn close(mut self) -> Result<Outcome, record::Error> {
        let ending = match self.broken.take() {
            Some(reason) => Ending::Lost(reason),
            None => self.context.ending(),
        };
        let until = match ending {
            Ending::Complete => u64::MAX,
            _ => self.since(clock::now() - TRANSIT),
        };
        self.flush(until)?;
        self.tables.tenths = self.ledger.tenths();
        self.record.append(&self.tables.tenths)?;
        self.record.flush()?;
        let [first, last] = self.counted.unwrap_or_default();
        Ok(Outcome {
            ending,
            cpu: self.cpu,
            truth: self.lab.truth(),
            capacity: self.place.rate,
            gap_error_ns: self.gap_error_ns.distribution(),
            captured_bytes: self.ledger.octets,
            counted_bytes: last - first,
            uncaptured: self.uncaptured,
            unmatched: self.ledger.unmatched,
            tables: self.tables,
        })
    }
}
