//! Puts together what the hosts and the lab say, while a replay goes on, and ends it.

use super::counters::{self, Counters};
use super::engine::{News, Stage};
use super::live::Half;
use super::monitors::{Monitors, Rows};
use super::plan::{Plan, Way};
use super::summary::Figures;
use super::tables::{Connection, Epoch, Flow, Goodput};
use super::workload::{Host, Workload};
use super::{Live as Shown, datagrams};
use kit::control::{DISPLAY, FLUSH};
use kit::ending::Ending;
use kit::instrument::Cpus;
use kit::lab_counters::{LabCounters, LabRows};
use lab::{Network, Topology};
use record::RecordWriter;
use schema::LinkTruth;
use schema::tables::Cpu;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use sys::clock;
use units::Instant;

/// After the last connection, until the last segment has crossed the path.
const LINGER: Duration = Duration::from_millis(300);
/// After the last connection of this host, until the other one has told of its end.
const PATIENCE: Duration = Duration::from_secs(5);
/// Seconds for which news may be late.
const LATE: u64 = 2;
/// In nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// What is needed to play.
pub struct Context<'a> {
    /// How it is to be played.
    pub plan: &'a Plan,
    /// What is to be played.
    pub workload: &'a Workload,
    /// The emulated network, if it is played in one.
    pub lab: Option<&'a Network>,
    /// Raised when the user interrupts.
    pub interrupt: &'a AtomicBool,
    /// Told how it goes.
    pub display: &'a dyn Fn(&Shown),
}

/// What came of it, beside the tables.
pub struct Outcome {
    /// How it ended: as planned, interrupted or lost.
    pub ending: Ending,
    /// What the summary is made of.
    pub figures: Figures,
    /// How busy the host was, interval by interval.
    pub cpu: Vec<Cpu>,
    /// What the lab's links carried, queued and dropped, one entry a direction; empty between two hosts.
    pub truth: Vec<LinkTruth>,
    /// Packets that should be in the capture and are not.
    pub uncaptured: u64,
    /// The most connections that were seen open at once.
    pub open: u64,
    /// From the first planned start to the end.
    pub length: Duration,
}

/// Puts together what the hosts and the lab say.
pub(super) struct Collector<'a> {
    context: &'a Context<'a>,
    stage: &'a Stage<'a>,
    record: &'a mut RecordWriter,
    origin: Instant,
    /// Why there is no other host any more.
    lost: &'a OnceLock<String>,
    counters: Counters,
    flow_counters: datagrams::Counters,
    lab: Option<Lab<'a>>,
    figures: Figures,
    /// What was heard in seconds, and by which hosts, that are not over yet.
    heard: BTreeMap<u64, [u64; 2]>,
    cpus: &'a Cpus,
    cpu: Vec<Cpu>,
    connections: Vec<Connection>,
    epochs: Vec<Epoch>,
    flows: Vec<Flow>,
    open: u64,
    /// Since when no connection is open, nor to be opened.
    over: Option<Instant>,
    flushed: Instant,
    shown: Instant,
}

/// What only a lab has.
struct Lab<'a> {
    network: &'a Network,
    counters: LabCounters,
    monitors: Monitors,
}

impl<'a> Lab<'a> {
    fn new(network: &'a Network, plan: &Plan, origin: Instant, folder: &Path) -> io::Result<Self> {
        let window = plan.window(Duration::MAX);
        let link = bottleneck(network.topology(), plan.forward);
        Ok(Self {
            network,
            counters: LabCounters::new(network, origin, (window[0], window[1])),
            monitors: Monitors::new(plan, link, origin, folder)?,
        })
    }
}

impl<'a> Collector<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        stage: &'a Stage<'a>,
        record: &'a mut RecordWriter,
        (origin, lost): (Instant, &'a OnceLock<String>),
        cpus: &'a Cpus,
    ) -> io::Result<Self> {
        let lab = context
            .lab
            .map(|network| Lab::new(network, context.plan, origin, record.dir()));
        Ok(Self {
            context,
            stage,
            record,
            origin,
            lost,
            counters: Counters::default(),
            flow_counters: datagrams::Counters::default(),
            lab: lab.transpose()?,
            figures: Figures::new(context.plan, &context.workload.totals()),
            heard: BTreeMap::new(),
            cpus,
            cpu: Vec::new(),
            connections: Vec::new(),
            epochs: Vec::new(),
            flows: Vec::new(),
            open: 0,
            over: None,
            flushed: origin,
            shown: Instant::ZERO,
        })
    }

    /// Until the replay is over; then tells all threads to stop, and waits for their last news.
    ///
    /// # Errors
    /// When the record cannot be written.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "when this ends nobody may wait to be heard any more"
    )]
    pub(super) fn collect(mut self, news: Receiver<News>) -> anyhow::Result<Outcome> {
        let ending = loop {
            match news.recv_timeout(DISPLAY) {
                Ok(news) => self.enter(news),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    break Ending::Lost("a host of the replay ended".to_owned());
                }
            }
            let now = clock::now();
            self.open = self.open.max(self.open_now());
            self.show(now);
            if now.since(self.flushed) >= FLUSH {
                self.flush(now)?;
            }
            if self.context.interrupt.load(Ordering::Relaxed) {
                break Ending::Interrupted;
            }
            if let Some(reason) = self.lost.get() {
                break Ending::Lost(reason.clone());
            }
            if self.is_over(now) {
                break Ending::Complete;
            }
        };
        let length = clock::now().since(self.origin);
        if self.all_over() {
            clock::sleep_until(clock::now() + LINGER);
        }
        self.stage.stop.store(true, Ordering::Relaxed);
        while let Ok(news) = news.recv() {
            self.enter(news);
        }
        let ending = match (ending, self.lost.get()) {
            // It was there until the end, and did not tell all that it had seen.
            (Ending::Complete, Some(reason)) => Ending::Lost(reason.clone()),
            (ending, _) => ending,
        };
        for ends in self.counters.rest() {
            self.end(ends);
        }
        for ends in self.flow_counters.rest() {
            self.end_flow(&ends);
        }
        let now = clock::now();
        self.flush(now)?;
        self.told(u64::MAX)?;
        let (mut truth, mut uncaptured) = (Vec::new(), 0);
        if let Some(lab) = self.lab {
            let mut seen = Rows::default();
            uncaptured = lab.monitors.finish(now, &mut seen)?;
            self.figures.monitors(&seen);
            self.record.append(&seen.active)?;
            truth = lab.counters.truth();
        }
        Ok(Outcome {
            ending,
            uncaptured,
            figures: self.figures,
            cpu: self.cpu,
            truth,
            open: self.open,
            length,
        })
    }

    fn is_over(&mut self, now: Instant) -> bool {
        let time_is_up = self.context.plan.duration;
        if time_is_up.is_some_and(|duration| now >= self.origin + duration.0) {
            return true;
        }
        if !self.all_over() {
            return false;
        }
        // In a lab both hosts' ends are counted; another host has its own.
        let since = *self.over.get_or_insert(now);
        self.lab.is_some() || self.all_told() || now >= since + PATIENCE
    }

    /// Whether both ends have told of every connection.
    fn all_told(&self) -> bool {
        self.figures.ended() >= self.context.workload.parts.len() as u64
    }

    fn all_over(&self) -> bool {
        let begun = self.stage.begun.load(Ordering::Acquire);
        let all_begun = begun >= self.context.workload.parts.len() as u64;
        all_begun && self.stage.open.load(Ordering::Acquire) == 0 && self.stage.flows.are_over()
    }

    fn enter(&mut self, news: News) {
        if let Some((host, at, octets)) = news.heard
            && octets > 0
        {
            let second = self.since_origin(at) / SECOND;
            let heard = &mut self.heard.entry(second).or_default()[host as usize];
            *heard = heard.saturating_add(octets);
        }
        for half in news.halves {
            if let Some(ends) = self.counters.enter(half) {
                self.end(ends);
            }
        }
        for half in news.flows {
            if let Some(ends) = self.flow_counters.enter(half) {
                self.end_flow(&ends);
            }
        }
        for (number, epoch) in news.answered {
            let row = Epoch {
                connection: number.into(),
                epoch: epoch.epoch,
                t_ns: self.since_origin(epoch.asked),
                request_bytes: epoch.request,
                response_bytes: epoch.response,
                response_ms: epoch.answered.since(epoch.asked).as_secs_f64() * 1e3,
            };
            let part = self.context.workload.parts.get(number as usize);
            if part.is_some_and(|part| part.was_sequential) {
                self.figures.answered(&row);
            }
            self.epochs.push(row);
        }
    }

    /// What was heard in the seconds before this one is certain.
    fn told(&mut self, second: u64) -> anyhow::Result<()> {
        let later = self.heard.split_off(&second);
        let mut rows = Vec::new();
        for (second, octets) in std::mem::replace(&mut self.heard, later) {
            rows.extend(Host::BOTH.map(|host| Goodput {
                t_ns: second.saturating_mul(SECOND),
                host: host.name().into(),
                bytes: octets[host as usize],
            }));
        }
        self.figures.goodput(&rows);
        Ok(self.record.append(&rows)?)
    }

    /// A connection is over.
    fn end(&mut self, ends: [Option<Half>; 2]) {
        let Some(number) = ends.iter().flatten().next().map(|half| half.number) else {
            return;
        };
        let Some(part) = self.context.workload.parts.get(number as usize) else {
            return;
        };
        let row = counters::row(part, number, ends, self.origin);
        self.figures.connection(&row);
        self.connections.push(row);
    }

    /// A flow is over.
    fn end_flow(&mut self, ends: &[Option<datagrams::Half>; 2]) {
        let Some(number) = ends.iter().flatten().next().map(|half| half.number) else {
            return;
        };
        let part = self.context.workload.parts.get(number as usize);
        let row = part.zip(self.stage.flows.ports(number));
        let row =
            row.and_then(|(part, ports)| datagrams::counters::row(part, ports, ends, self.origin));
        if let Some(row) = row {
            self.figures.flow(&row);
            self.flows.push(row);
        }
    }

    fn since_origin(&self, at: Instant) -> u64 {
        u64::try_from(at.since(self.origin).as_nanos()).unwrap_or(u64::MAX)
    }

    fn flush(&mut self, now: Instant) -> anyhow::Result<()> {
        self.flushed = now;
        self.watch(now)?;
        self.told((self.since_origin(now) / SECOND).saturating_sub(LATE))?;
        self.record.append(&self.connections)?;
        self.record.append(&self.epochs)?;
        self.record.append(&self.flows)?;
        self.connections.clear();
        self.epochs.clear();
        self.flows.clear();
        let cpu = self.cpus.take();
        self.record.append(&cpu)?;
        self.cpu.extend(cpu);
        Ok(self.record.flush()?)
    }

    /// Takes the lab's counters.
    fn watch(&mut self, now: Instant) -> anyhow::Result<()> {
        let Some(lab) = &mut self.lab else {
            return Ok(());
        };
        let mut rows = LabRows::default();
        lab.counters.take(lab.network, &mut rows);
        self.figures.lab(&rows);
        let mut seen = Rows::default();
        for extra in rows.extra {
            lab.monitors.enter(extra, &mut seen);
        }
        lab.monitors.settle(now, &mut seen)?;
        self.figures.monitors(&seen);
        self.record.append(&rows.queue)?;
        self.record.append(&rows.counters)?;
        self.record.append(&seen.offered)?;
        Ok(self.record.append(&seen.active)?)
    }

    fn show(&mut self, now: Instant) {
        if now.since(self.shown) < DISPLAY {
            return;
        }
        self.shown = now;
        let workload = self.context.workload;
        let end = self.context.plan.duration.map(|duration| duration.0);
        (self.context.display)(&Shown {
            elapsed: now.since(self.origin),
            planned: end.unwrap_or_else(|| workload.last_start()),
            begun: self.stage.begun.load(Ordering::Relaxed),
            parts: workload.parts.len() as u64,
            ended: self.figures.ended(),
            open: self.open_now(),
        });
    }

    /// Connections that are open: in a lab each has two ends.
    fn open_now(&self) -> u64 {
        let ends = self.stage.open.load(Ordering::Relaxed);
        if self.lab.is_some() { ends / 2 } else { ends }
    }
}

/// The name of the slowest link in direction `way`.
fn bottleneck(topology: &Topology, way: Way) -> Option<String> {
    let rates = topology.links.iter().filter_map(|link| {
        let spec = match way {
            Way::Up => &link.up,
            Way::Down => &link.down,
        };
        Some((lab::profiles::rate(spec)?, link.between.join("-")))
    });
    rates.min_by_key(|(rate, _)| *rate).map(|(_, name)| name)
}
