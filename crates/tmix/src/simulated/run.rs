//! The loop: virtual time goes on in steps of 10 ms, after which queues are looked at, and each second what was found goes to
//! the record.

use super::host::{Host, News, Stage};
use super::links::{Hop, LinkRows, Links, look, truth};
use crate::replay::collector::Outcome;
use crate::replay::counters::{self, Counters};
use crate::replay::monitors::Rows;
use crate::replay::summary::Figures;
use crate::replay::workload::{Host as Which, Part, Workload};
use crate::replay::{Live as Shown, nanos};
use kit::ending::Ending;
use kit::lab_counters::LabRows;
use path::Assigned;
use record::RecordWriter;
use schema::replay::plan::{Plan, Way};
use schema::replay::tables::{Connection, Epoch, Goodput};
use schema::tables::Queue;
use sim::tcp::Settings;
use sim::{Builder, NodeId, Work, World};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use transport::{CongestionControl, Options};
use units::Instant;

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
    /// What is to be played.
    pub workload: &'a Workload,
    /// Of all connections.
    pub congestion_control: CongestionControl,
    /// Raised when the user interrupts.
    pub interrupt: &'a AtomicBool,
    /// Told how it goes, each second of virtual time.
    pub display: &'a dyn Fn(&Shown),
}

/// How far the connections of `workload` are, for the path that they are to be played over: [`sim::tcp`]'s numbers of flows are
/// twice those of the parts, and one more on the way back.
pub fn delays(plan: &Plan, workload: &Workload) -> Assigned {
    let of_part = |part: &Part| {
        let mut ways = plan.rtt_at.split(part.vector.min_rtt.unwrap_or_default());
        if part.initiator == Which::Server {
            ways.reverse();
        }
        ways
    };
    Assigned::settled(workload.parts.iter().flat_map(of_part))
}

/// Plays over `hops`, the client's first, writing what is found to `record` as it comes.
///
/// # Errors
/// When the record cannot be written.
pub fn run(
    context: &Context<'_>,
    hops: Vec<Hop>,
    record: &mut RecordWriter,
) -> anyhow::Result<(Outcome, Work)> {
    let mut run = Run::new(context, hops, record);
    let ending = run.play()?;
    run.conclude(ending)
}

struct Run<'a> {
    context: &'a Context<'a>,
    world: World<Host<'a>, Links>,
    ends: [NodeId; 2],
    record: &'a mut RecordWriter,
    figures: Figures,
    counters: Counters,
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
    queue: Vec<Queue>,
    goodput: Vec<Goodput>,
}

impl<'a> Run<'a> {
    fn new(context: &'a Context<'a>, hops: Vec<Hop>, record: &'a mut RecordWriter) -> Self {
        let (world, ends) = world(context, hops);
        Self {
            context,
            world,
            ends,
            record,
            figures: Figures::new(context.plan, context.workload),
            counters: Counters::default(),
            begun: 0,
            open: 0,
            heard: Instant::ZERO,
            found: Found::default(),
        }
    }

    fn play(&mut self) -> anyhow::Result<Ending> {
        let end = self.context.plan.duration;
        let end = end.map(|duration| Instant::ZERO + duration.0);
        let mut flush = FLUSH;
        loop {
            let next = self.world.now() + LOOK;
            self.world.run_until(end.map_or(next, |end| next.min(end)));
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
            if hosts().all(Host::is_over) {
                return Ok(Ending::Complete);
            }
            if hosts().any(Host::is_waiting) {
                self.heard = now;
            }
            if now.since(self.heard) > PATIENCE {
                let what = "nothing was heard for two hours of virtual time";
                return Ok(Ending::Lost(what.to_owned()));
            }
        }
    }

    fn is_loaded(&self, t_ns: u64) -> bool {
        let window = self.context.plan.window(Duration::MAX).map(nanos);
        (window[0]..window[1]).contains(&t_ns)
    }

    /// Takes what hosts and links have to say, and writes it.
    fn flush(&mut self) -> anyhow::Result<()> {
        for (which, end) in Which::BOTH.into_iter().zip(self.ends) {
            if let Some(host) = self.world.node_mut(end) {
                let news = std::mem::take(&mut host.news);
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
        for half in news.halves {
            if let Some(ends) = self.counters.enter(half) {
                self.end(ends);
            }
        }
        for (number, epoch) in news.answered {
            let row = Epoch {
                connection: number.into(),
                epoch: epoch.epoch,
                t_ns: epoch.asked.as_nanos(),
                request_bytes: epoch.request,
                response_bytes: epoch.response,
                response_ms: epoch.answered.since(epoch.asked).as_secs_f64() * 1e3,
            };
            let part = self.context.workload.parts.get(number as usize);
            if part.is_some_and(|part| part.was_sequential) {
                self.figures.answered(&row);
            }
            self.found.epochs.push(row);
        }
    }

    /// A connection is over.
    fn end(&mut self, ends: [Option<crate::replay::live::Half>; 2]) {
        let Some(number) = ends.iter().flatten().next().map(|half| half.number) else {
            return;
        };
        let Some(part) = self.context.workload.parts.get(number as usize) else {
            return;
        };
        let row = counters::row(part, number, ends, Instant::ZERO);
        self.figures.connection(&row);
        self.found.connections.push(row);
    }

    fn show(&self, now: Instant) {
        let workload = self.context.workload;
        let end = self.context.plan.duration.map(|duration| duration.0);
        let open = self.world.node(self.ends[0]).map_or(0, Host::open);
        (self.context.display)(&Shown {
            elapsed: now.since(Instant::ZERO),
            planned: end.unwrap_or_else(|| workload.last_start()),
            begun: self.begun,
            parts: workload.parts.len() as u64,
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
        for ends in self.counters.rest().collect::<Vec<_>>() {
            self.end(ends);
        }
        self.flush()?;
        let [from, to] = self.context.plan.window(length);
        let work = self.world.work();
        let outcome = Outcome {
            ending,
            truth: truth(&mut self.world, to.saturating_sub(from).as_secs_f64()),
            figures: self.figures,
            cpu: Vec::new(),
            uncaptured: 0,
            open: self.open,
            length,
        };
        Ok((outcome, work))
    }
}

/// The client at node 0, the server at the other end of the row.
fn world<'a>(
    context: &'a Context<'a>,
    mut hops: Vec<Hop>,
) -> (World<Host<'a>, Links>, [NodeId; 2]) {
    let watched = slowest(&hops, context.plan.forward);
    let links = Links::new(&hops, watched);
    let last = NodeId(u32::try_from(hops.len()).unwrap_or(u32::MAX));
    let ends = [NodeId(0), last];
    let stage = Stage {
        parts: &context.workload.parts,
        settings: settings(context),
        seed: context.plan.seed,
    };
    let mut builder = Builder::default();
    builder.host(ends[0], Host::new(Which::Client, ends, stage.clone()));
    builder.host(ends[1], Host::new(Which::Server, [ends[1], ends[0]], stage));
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
