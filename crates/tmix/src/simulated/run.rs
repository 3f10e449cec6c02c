//! The loop: virtual time goes on in steps of 10 ms, after which queues are looked at, and each second what was found goes to
//! the record.

use super::capturing::Capturing;
use super::feed::Parts;
use super::headers::{self, Shared};
use super::host::{Host, News, Stage};
use super::links::{Hop, LinkRows, Links, look, truth};
use crate::replay::collector::Outcome;
use crate::replay::counters::{self, Counters};
use crate::replay::datagrams;
use crate::replay::live::{Half, binding_window};
use crate::replay::monitors::Rows;
use crate::replay::summary::Figures;
use crate::replay::totals::Totals;
use crate::replay::workload::{Host as Which, Part};
use crate::replay::{Live as Shown, nanos};
use anyhow::Context as _;
use kit::ending::Ending;
use kit::lab_counters::LabRows;
use record::RecordWriter;
use schema::replay::plan::{Plan, Way};
use schema::replay::tables::{Connection, Epoch, Flow, Goodput};
use schema::tables::Queue;
use sim::tcp::Settings;
use sim::{Builder, NodeId, Work, World};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use transport::{CongestionControl, Options};
use units::Instant;
use vectors::Side;

/// How often queues are looked at.
const LOOK: Duration = Duration::from_millis(10);
/// How often what was found goes to the record.
const FLUSH: Duration = Duration::from_secs(1);
/// After the last connection, until the last segment has crossed the path.
const LINGER: Duration = Duration::from_millis(300);
/// Nothing new for so long, with connections open and nobody waiting by its vector: they never end.
const PATIENCE: Duration = Duration::from_secs(7_200);

/// What is needed to play.
pub struct Context<'a> {
    /// How it is to be played.
    pub plan: &'a Plan,
    /// What is to be played, in all.
    pub totals: &'a Totals,
    /// Of all connections.
    pub congestion_control: CongestionControl,
    /// Width of the bins of `counters` and `offered`; figures of arrivals need one that divides a millisecond.
    pub bins: Duration,
    /// Raised when the user interrupts.
    pub interrupt: &'a AtomicBool,
    /// Told how it goes, each second of virtual time.
    pub display: &'a dyn Fn(&Shown),
}

/// Plays `parts` over `hops`, the client's first, writing what is found to `record` as it comes.
///
/// # Errors
/// When the parts cannot be read, or the record cannot be written.
pub fn run(
    context: &Context<'_>,
    parts: Parts,
    hops: Vec<Hop>,
    record: &mut RecordWriter,
) -> anyhow::Result<(Outcome, Work)> {
    let mut run = Run::new(context, parts, hops, record)?;
    let ending = run.play()?;
    run.conclude(ending)
}

struct Run<'a> {
    context: &'a Context<'a>,
    parts: Parts,
    /// The next one, and its number; none when all have been given to the hosts.
    next: Option<(u32, Part)>,
    world: World<Host, Links>,
    headers: Option<Shared>,
    ends: [NodeId; 2],
    record: &'a mut RecordWriter,
    figures: Figures,
    counters: Counters,
    flow_counters: datagrams::Counters,
    /// Connections and flows of which one end has told.
    half_told: HashMap<u32, Rc<Part>>,
    begun: u64,
    open: u64,
    /// When the latest news came, or when somebody waited last.
    heard: Instant,
    found: Found,
}

/// Rows that wait to be written.
#[derive(Default)]
struct Found {
    connections: Vec<Connection>,
    epochs: Vec<Epoch>,
    flows: Vec<Flow>,
    queue: Vec<Queue>,
    goodput: Vec<Goodput>,
}

impl<'a> Run<'a> {
    fn new(
        context: &'a Context<'a>,
        parts: Parts,
        hops: Vec<Hop>,
        record: &'a mut RecordWriter,
    ) -> anyhow::Result<Self> {
        let wants = context.plan.capture;
        let begun = wants.then(|| Capturing::begin(record.dir())).transpose()?;
        let (capturing, headers) = begun.unzip();
        let (world, ends) = world(context, hops, (headers.clone(), capturing));
        Ok(Self {
            headers,
            context,
            parts,
            next: None,
            world,
            ends,
            record,
            figures: Figures::new(context.plan, context.totals),
            counters: Counters::default(),
            flow_counters: datagrams::Counters::default(),
            half_told: HashMap::new(),
            begun: 0,
            open: 0,
            heard: Instant::ZERO,
            found: Found::default(),
        })
    }

    fn play(&mut self) -> anyhow::Result<Ending> {
        let end = self.context.plan.duration;
        let end = end.map(|duration| Instant::ZERO + duration.0);
        let mut flush = FLUSH;
        self.read(0)?;
        loop {
            let next = self.world.now() + LOOK;
            let next = end.map_or(next, |end| next.min(end));
            if let Err(error) = self.feed(next) {
                // What was played is not lost with it.
                return Ok(Ending::Lost(format!("{error:#}")));
            }
            self.world.run_until(next);
            let now = self.world.now();
            let is_loaded = self.is_loaded(now.as_nanos());
            let queue = look(&mut self.world, is_loaded);
            self.found.queue.extend(queue);
            if now.since(Instant::ZERO) >= flush {
                flush += FLUSH;
                self.flush()?;
                if self.context.interrupt.load(Ordering::Relaxed) {
                    return Ok(Ending::Interrupted);
                }
            }
            if end.is_some_and(|end| now >= end) {
                return Ok(Ending::Complete);
            }
            let hosts = || self.ends.iter().filter_map(|end| self.world.node(*end));
            if self.next.is_none() && hosts().all(Host::is_over) {
                return Ok(Ending::Complete);
            }
            if self.next.is_some() || hosts().any(Host::is_waiting) {
                self.heard = now;
            }
            if now.since(self.heard) > PATIENCE {
                let what = "nothing was heard for two hours of virtual time";
                return Ok(Ending::Lost(what.to_owned()));
            }
        }
    }

    /// Reads the part with this number.
    fn read(&mut self, number: u32) -> anyhow::Result<()> {
        let part = self.parts.next().transpose()?;
        anyhow::ensure!(
            part.is_some() == (u64::from(number) < self.context.totals.parts()),
            "the vectors have changed since they were first read - replay them again"
        );
        self.next = part.map(|part| (number, part));
        Ok(())
    }

    /// Gives the hosts all connections that start up to `until`.
    fn feed(&mut self, until: Instant) -> anyhow::Result<()> {
        while let Some((number, part)) = self
            .next
            .take_if(|(_, part)| Instant::ZERO + part.vector.start <= until)
        {
            let [opener, other] = match part.initiator {
                Which::Client => self.ends,
                Which::Server => [self.ends[1], self.ends[0]],
            };
            if let Some(headers) = &self.headers {
                let windows = Side::BOTH.map(|side| binding_window(&part, side));
                headers.borrow_mut().begin(number, part.initiator, windows);
            }
            let part = Rc::new(part);
            if part.is_udp() {
                let theirs = Rc::clone(&part);
                self.world.act_on(other, |host, _| {
                    host.give_flow(number, theirs, Side::Acceptor);
                });
                self.world.act_on(opener, |host, _| {
                    host.give_flow(number, part, Side::Initiator);
                });
            } else {
                if let Some(host) = self.world.node_mut(other) {
                    host.expect(number, Rc::clone(&part));
                }
                self.world.act_on(opener, |host, _| host.give(number, part));
            }
            self.read(number + 1)?;
        }
        Ok(())
    }

    fn is_loaded(&self, t_ns: u64) -> bool {
        let window = self.context.plan.window(Duration::MAX).map(nanos);
        (window[0]..window[1]).contains(&t_ns)
    }

    /// Takes what hosts and links have to say, and writes it.
    fn flush(&mut self) -> anyhow::Result<()> {
        for (which, end) in Which::BOTH.into_iter().zip(self.ends) {
            if let Some(host) = self.world.node_mut(end) {
                let news = host.take_news();
                let open = host.open() as u64;
                self.open = self.open.max(open);
                self.enter(which, news);
            }
        }
        let now = self.world.now();
        let window = self.context.plan.window(Duration::MAX).map(nanos);
        let is_loaded = |t_ns| (window[0]..window[1]).contains(&t_ns);
        let LinkRows {
            counters,
            offered,
            active,
        } = self.world.tap_mut().take(now, is_loaded);
        if let Some(error) = self.world.tap_mut().capture_error() {
            return Err(error).context("cannot write the capture");
        }
        let found = std::mem::take(&mut self.found);
        let rows = LabRows {
            queue: found.queue,
            counters,
            ..LabRows::default()
        };
        self.figures.lab(&rows);
        let seen = Rows { offered, active };
        self.figures.monitors(&seen);
        self.figures.goodput(&found.goodput);
        self.record.append(&rows.queue)?;
        self.record.append(&rows.counters)?;
        self.record.append(&seen.offered)?;
        self.record.append(&seen.active)?;
        self.record.append(&found.goodput)?;
        self.record.append(&found.connections)?;
        self.record.append(&found.epochs)?;
        self.record.append(&found.flows)?;
        self.show(now);
        Ok(())
    }

    fn enter(&mut self, which: Which, news: News) {
        self.begun += news.begun;
        let now = self.world.now();
        if news.heard > 0 || news.begun > 0 {
            self.heard = now;
        }
        // Up to now is the second before.
        let second = now.as_nanos().saturating_sub(1) / 1_000_000_000;
        self.found.goodput.push(Goodput {
            t_ns: second * 1_000_000_000,
            host: which.name().into(),
            bytes: news.heard,
        });
        for (half, part) in news.halves {
            let number = half.number;
            if let Some(ends) = self.counters.enter(half) {
                self.half_told.remove(&number);
                self.end(&part, number, ends);
            } else {
                self.half_told.insert(number, part);
            }
        }
        for (half, part) in news.flows {
            let number = half.number;
            if let Some(ends) = self.flow_counters.enter(half) {
                self.half_told.remove(&number);
                self.end_flow(&part, number, &ends);
            } else {
                self.half_told.insert(number, part);
            }
        }
        for (number, was_sequential, epoch) in news.answered {
            let row = Epoch {
                connection: number.into(),
                epoch: epoch.epoch,
                t_ns: epoch.asked.as_nanos(),
                request_bytes: epoch.request,
                response_bytes: epoch.response,
                response_ms: epoch.answered.since(epoch.asked).as_secs_f64() * 1e3,
            };
            if was_sequential {
                self.figures.answered(&row);
            }
            self.found.epochs.push(row);
        }
    }

    /// A connection is over.
    fn end(&mut self, part: &Part, number: u32, ends: [Option<Half>; 2]) {
        if let Some(headers) = &self.headers {
            headers.borrow_mut().end(number, self.world.now());
        }
        let row = counters::row(part, number, ends, Instant::ZERO);
        self.figures.connection(&row);
        self.found.connections.push(row);
    }

    /// A flow is over.
    fn end_flow(&mut self, part: &Part, number: u32, ends: &[Option<datagrams::Half>; 2]) {
        if let Some(headers) = &self.headers {
            headers.borrow_mut().end(number, self.world.now());
        }
        let ports = headers::ports(number);
        let row = datagrams::counters::row(part, ports, ends, Instant::ZERO);
        if let Some(row) = row {
            self.figures.flow(&row);
            self.found.flows.push(row);
        }
    }

    fn show(&self, now: Instant) {
        let totals = self.context.totals;
        let end = self.context.plan.duration.map(|duration| duration.0);
        let open = self.world.node(self.ends[0]).map_or(0, Host::open);
        (self.context.display)(&Shown {
            elapsed: now.since(Instant::ZERO),
            planned: end.unwrap_or(totals.last_start),
            begun: self.begun,
            parts: totals.parts(),
            ended: self.figures.ended(),
            open: open as u64,
        });
    }

    fn conclude(mut self, ending: Ending) -> anyhow::Result<(Outcome, Work)> {
        let now = self.world.now();
        let length = now.since(Instant::ZERO);
        for end in self.ends {
            if let Some(host) = self.world.node_mut(end) {
                host.cut(now);
            }
        }
        if self.context.plan.duration.is_none() {
            self.world.run_until(now + LINGER);
        }
        self.flush()?;
        for ends in self.counters.rest() {
            let number = ends.iter().flatten().next().map(|half| half.number);
            let told = number.and_then(|number| self.half_told.remove_entry(&number));
            if let Some((number, part)) = told {
                self.end(&part, number, ends);
            }
        }
        for ends in self.flow_counters.rest() {
            let number = ends.iter().flatten().next().map(|half| half.number);
            let told = number.and_then(|number| self.half_told.remove_entry(&number));
            if let Some((number, part)) = told {
                self.end_flow(&part, number, &ends);
            }
        }
        self.flush()?;
        let last = self.world.now();
        let uncaptured = self.world.tap_mut().end_capture(last)?;
        let [from, to] = self.context.plan.window(length);
        let work = self.world.work();
        let outcome = Outcome {
            ending,
            truth: truth(&mut self.world, to.saturating_sub(from).as_secs_f64()),
            figures: self.figures,
            cpu: Vec::new(),
            uncaptured,
            open: self.open,
            length,
        };
        Ok((outcome, work))
    }
}

/// The client at node 0, the server at the other end of the row.
fn world(
    context: &Context<'_>,
    mut hops: Vec<Hop>,
    (headers, capturing): (Option<Shared>, Option<Capturing>),
) -> (World<Host, Links>, [NodeId; 2]) {
    let watched = slowest(&hops, context.plan.forward);
    let links = Links::new(&hops, watched, context.bins, capturing);
    let last = NodeId(u32::try_from(hops.len()).unwrap_or(u32::MAX));
    let ends = [NodeId(0), last];
    let stage = Stage {
        settings: settings(context),
        seed: context.plan.seed,
        headers,
    };
    let mut builder = Builder::default();
    builder.host(ends[0], Host::new(ends, stage.clone()));
    builder.host(ends[1], Host::new([ends[1], ends[0]], stage));
    for (number, hop) in (0..).zip(hops.drain(..)) {
        let [mut up, mut down] = hop.ways;
        up.watch_queue();
        down.watch_queue();
        builder.link(NodeId(number), NodeId(number + 1), up);
        builder.link(NodeId(number + 1), NodeId(number), down);
    }
    (builder.build_with(links), ends)
}

fn settings(context: &Context<'_>) -> Settings {
    let mut options = Options {
        congestion_control: context.congestion_control,
        ..Options::default()
    };
    if let Some(window) = context.plan.initial_window {
        options.initial_window = window;
    }
    Settings::new(options)
}

/// The place of the slowest link in direction `way`.
fn slowest(hops: &[Hop], way: Way) -> Option<usize> {
    let rates = hops.iter().enumerate();
    let rates = rates.filter_map(|(place, hop)| Some((hop.rates[way as usize]?, place)));
    rates.min().map(|(_, place)| place)
}
