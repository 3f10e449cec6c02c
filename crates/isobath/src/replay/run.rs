//! A replay in a lab: both hosts play, the path is emulated, and everybody's books go into the record.
//!
//! Each host has a thread of its own in its namespace ([`Engine`]). The calling thread puts their news together, takes the
//! lab's books, writes all of it down, shows how it goes, and ends the replay: when all is over, when its time is up, or when
//! the user has had enough.

use super::Live as Shown;
use super::books::{self, Books};
use super::cast::{Cast, Host, Part};
use super::engine::{Engine, News, Stage};
use super::monitors::{Monitors, Rows};
use super::plan::{Plan, Way};
use super::summary::Figures;
use super::tables::{Connection, Epoch};
use super::tuples::Tuples;
use crate::dialogue::{DISPLAY, FLUSH};
use crate::instrument::Cpus;
use crate::rrul::lab_books::{LabBooks, LabRows, LinkTruth};
use crate::rrul::run::Ending;
use crate::rrul::sampler::Sampler;
use crate::serve::StopOnDrop;
use lab::{Network, Topology};
use path::Assigned;
use record::RecordWriter;
use record::tables::Cpu;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;
use sys::clock;
use units::Instant;

/// From the word to begin to the first planned start.
const LEAD: Duration = Duration::from_millis(300);
/// Bundles of news that may wait.
const QUEUE: usize = 64;
/// After the last connection, until the last segment has crossed the path.
const LINGER: Duration = Duration::from_millis(300);

/// What is needed to play.
pub(crate) struct Context<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) cast: &'a Cast,
    pub(crate) network: &'a Network,
    pub(crate) delays: &'a Assigned,
    /// Pairs of ports for the connections that client and server open.
    pub(crate) tuples: [u32; 2],
    pub(crate) v6: bool,
    pub(crate) interrupt: &'a AtomicBool,
    pub(crate) display: &'a dyn Fn(&Shown),
}

/// What came of it, beside the tables.
pub(crate) struct Outcome {
    pub(crate) ending: Ending,
    pub(crate) figures: Figures,
    pub(crate) cpu: Vec<Cpu>,
    pub(crate) truth: Vec<LinkTruth>,
    /// Packets that should be in the capture and are not.
    pub(crate) uncaptured: u64,
    /// The most connections that were seen open at once.
    pub(crate) open: u64,
    /// From the first planned start to the end.
    pub(crate) length: Duration,
}

/// Plays, writing what is found to `record` as it comes.
///
/// # Errors
/// When a host cannot get ready, or the record cannot be written.
pub(crate) fn run(context: &Context<'_>, record: &mut RecordWriter) -> anyhow::Result<Outcome> {
    let stop = AtomicBool::new(false);
    let plan = context.plan;
    let split = |part: &Part| plan.rtt_at.split(part.vector.min_rtt.unwrap_or_default());
    let stage = Stage {
        parts: &context.cast.parts,
        tuples: context.tuples()?,
        delays: Some(context.delays.clone()),
        split: &split,
        congestion_control: plan.congestion_control.as_deref(),
        stop: &stop,
        begun: AtomicU64::new(0),
        open: AtomicU64::new(0),
    };
    let (tell, news) = mpsc::sync_channel(QUEUE);
    let cpus = Cpus::default();
    std::thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        let (ready, readiness) = mpsc::sync_channel(Host::BOTH.len());
        let mut signals = Vec::new();
        for host in Host::BOTH {
            let (go, going) = mpsc::sync_channel::<Instant>(1);
            signals.push(go);
            let (ready, tell, stage) = (ready.clone(), tell.clone(), &stage);
            let node = context.network.node(context.node(host))?;
            std::thread::Builder::new()
                .name(host.name().to_owned())
                .spawn_scoped(scope, move || {
                    // The kernel may wake a thread 50 us late on purpose.
                    let _ = clock::timer_slack(1);
                    let engine = node.enter().and_then(|()| Engine::new(host, stage, tell));
                    match engine {
                        Ok(engine) => {
                            let _ = ready.send(Ok(()));
                            // Without a word the other host could not get ready.
                            if let Ok(origin) = going.recv() {
                                engine.run(origin);
                            }
                        }
                        Err(error) => drop(ready.send(Err(error))),
                    }
                })?;
        }
        drop((ready, tell));
        for _ in Host::BOTH {
            readiness.recv()??;
        }
        let origin = clock::now() + LEAD;
        for go in signals {
            go.send(origin)?;
        }
        let sampler = Sampler::new(origin, "client", &cpus);
        let stopped = &stop;
        scope.spawn(move || sampler.run(stopped));
        Collector::new(context, &stage, record, origin, &cpus)?.collect(&news)
    })
}

impl Context<'_> {
    /// The pairs of ports of the connections that client and server open.
    fn tuples(&self) -> anyhow::Result<[Tuples; 2]> {
        let [client, server] = self.addresses()?;
        let [from_client, from_server] = self.tuples;
        Ok([
            Tuples::new(client, server, from_client),
            Tuples::new(server, client, from_server),
        ])
    }

    fn addresses(&self) -> anyhow::Result<[IpAddr; 2]> {
        let address = |host| {
            let name = self.node(host);
            let address = self.network.address(name, self.v6);
            address.ok_or_else(|| anyhow::anyhow!("{name} has no such address in this lab"))
        };
        Ok([address(Host::Client)?, address(Host::Server)?])
    }

    fn node(&self, host: Host) -> &str {
        let topology = self.network.topology();
        match host {
            Host::Client => &topology.client,
            Host::Server => topology.servers().first().copied().unwrap_or_default(),
        }
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

/// Puts together what the hosts and the lab say.
struct Collector<'a> {
    context: &'a Context<'a>,
    stage: &'a Stage<'a>,
    record: &'a mut RecordWriter,
    origin: Instant,
    books: Books,
    lab: LabBooks,
    monitors: Monitors,
    figures: Figures,
    cpus: &'a Cpus,
    cpu: Vec<Cpu>,
    connections: Vec<Connection>,
    epochs: Vec<Epoch>,
    open: u64,
    flushed: Instant,
    shown: Instant,
}

impl<'a> Collector<'a> {
    fn new(
        context: &'a Context<'a>,
        stage: &'a Stage<'a>,
        record: &'a mut RecordWriter,
        origin: Instant,
        cpus: &'a Cpus,
    ) -> io::Result<Self> {
        let window = context.plan.window(Duration::MAX);
        let link = bottleneck(context.network.topology(), context.plan.forward);
        let monitors = Monitors::new(context.plan, link, origin, record.dir())?;
        Ok(Self {
            context,
            stage,
            record,
            origin,
            books: Books::default(),
            lab: LabBooks::new(context.network, origin, (window[0], window[1])),
            monitors,
            figures: Figures::new(context.plan, context.cast),
            cpus,
            cpu: Vec::new(),
            connections: Vec::new(),
            epochs: Vec::new(),
            open: 0,
            flushed: origin,
            shown: Instant::ZERO,
        })
    }

    fn collect(mut self, news: &Receiver<News>) -> anyhow::Result<Outcome> {
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
        for ends in self.books.rest().collect::<Vec<_>>() {
            self.end(ends);
        }
        let now = clock::now();
        self.flush(now)?;
        let mut seen = Rows::default();
        let uncaptured = self.monitors.finish(now, &mut seen)?;
        self.figures.monitors(&seen);
        self.record.append(&seen.active)?;
        Ok(Outcome {
            ending,
            uncaptured,
            figures: self.figures,
            cpu: self.cpu,
            truth: self.lab.truth(),
            open: self.open,
            length,
        })
    }

    fn is_over(&self, now: Instant) -> bool {
        let time_is_up = self.context.plan.duration;
        let time_is_up = time_is_up.is_some_and(|duration| now >= self.origin + duration.0);
        time_is_up || self.all_over()
    }

    fn all_over(&self) -> bool {
        let begun = self.stage.begun.load(Ordering::Relaxed);
        let all_begun = begun >= self.context.cast.parts.len() as u64;
        all_begun && self.stage.open.load(Ordering::Relaxed) == 0
    }

    fn enter(&mut self, news: News) {
        for half in news.halves {
            if let Some(ends) = self.books.enter(half) {
                self.end(ends);
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
            let part = self.context.cast.parts.get(number as usize);
            if part.is_some_and(|part| part.was_sequential) {
                self.figures.answered(&row);
            }
            self.epochs.push(row);
        }
    }

    /// A connection is over.
    fn end(&mut self, ends: [Option<super::live::Half>; 2]) {
        let Some(number) = ends.iter().flatten().next().map(|half| half.number) else {
            return;
        };
        let Some(part) = self.context.cast.parts.get(number as usize) else {
            return;
        };
        let row = books::row(part, number, ends, &self.stage.tuples, self.origin);
        self.figures.connection(&row);
        self.connections.push(row);
    }

    fn since_origin(&self, at: Instant) -> u64 {
        u64::try_from(at.since(self.origin).as_nanos()).unwrap_or(u64::MAX)
    }

    fn flush(&mut self, now: Instant) -> anyhow::Result<()> {
        self.flushed = now;
        let mut rows = LabRows::default();
        self.lab.take(self.context.network, &mut rows);
        self.figures.lab(&rows);
        let mut seen = Rows::default();
        for extra in rows.extra {
            self.monitors.enter(extra, &mut seen);
        }
        self.monitors.settle(now, &mut seen)?;
        self.figures.monitors(&seen);
        self.record.append(&rows.queue)?;
        self.record.append(&rows.counters)?;
        self.record.append(&seen.offered)?;
        self.record.append(&seen.active)?;
        self.record.append(&self.connections)?;
        self.record.append(&self.epochs)?;
        self.connections.clear();
        self.epochs.clear();
        let cpu = self.cpus.take();
        self.record.append(&cpu)?;
        self.cpu.extend(cpu);
        Ok(self.record.flush()?)
    }

    fn show(&mut self, now: Instant) {
        if now.since(self.shown) < DISPLAY {
            return;
        }
        self.shown = now;
        let cast = self.context.cast;
        let end = self.context.plan.duration.map(|duration| duration.0);
        (self.context.display)(&Shown {
            elapsed: now.since(self.origin),
            planned: end.unwrap_or_else(|| cast.last_start()),
            begun: self.stage.begun.load(Ordering::Relaxed),
            parts: cast.parts.len() as u64,
            ended: self.figures.ended(),
            open: self.open_now(),
        });
    }

    /// Connections that are open: each has two ends.
    fn open_now(&self) -> u64 {
        self.stage.open.load(Ordering::Relaxed) / 2
    }
}
