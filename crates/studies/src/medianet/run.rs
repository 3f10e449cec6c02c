//! A run from its first frame to its end: threads at both ends and one that asks, and the global scheduler, which listens to all.

use super::asking::{self, Patience, Service};
use super::collector::{Collector, Seen};
use super::global::Configuration;
use super::news::{self, News, Teller};
use super::plan::{Bottleneck, LINKING, Plan};
use super::sender::{Sender, Times};
use super::summary::Rows;
use super::{Live, receiver};
use crate::dumbbell::managers::{FAR, PEER};
use crate::dumbbell::{Managers, Place};
use anyhow::Context as _;
use kit::control;
use kit::control::DISPLAY;
use kit::ending::Ending;
use kit::far::StopOnDrop;
use kit::instrument::Cpus;
use kit::lab_counters::{LabCounters, LabRows};
use kit::sampler::Sampler;
use lab::Network;
use record::RecordWriter;
use schema::LinkTruth;
use schema::tables::{Counters, Cpu};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;
use sys::{Error, clock, tcp};
use units::Instant;

/// What is needed to carry a plan out.
pub type Context<'a> = control::Context<'a, Plan, Live>;

/// The port of the receiver.
const PORT: u16 = 4_899;
/// After the last frame was sent, those under way may take so long.
const DRAIN: Duration = Duration::from_secs(5);
/// Threads that are told to stop have ended within this time.
const ENDING: Duration = Duration::from_secs(1);
/// Configurations that may wait for the sender.
const CONFIGURATIONS: usize = 64;

/// What came of a run.
pub struct Outcome {
    /// How it ended: as planned, interrupted or lost.
    pub ending: Ending,
    /// How long frames were sent.
    pub seconds: f64,
    /// All rows of its own tables.
    pub rows: Rows,
    /// How busy the host was, interval by interval.
    pub cpu: Vec<Cpu>,
    /// What the lab's links carried, queued and dropped, one entry a direction.
    pub truth: Vec<LinkTruth>,
}

/// Carries the plan out in the lab, writing what is found to `record` as it comes.
///
/// # Errors
/// When a host cannot get ready, or the record cannot be written.
pub fn run(
    context: &Context<'_>,
    network: &Network,
    place: &Place,
    record: &mut RecordWriter,
) -> anyhow::Result<Outcome> {
    let plan = context.plan;
    // The lab's first packet is theirs, and others' begin with it.
    let begin = clock::now() + LINKING;
    let managers = Managers::start(network, place, plan.carrying())?;
    let bottleneck = &Bottleneck::from(place);
    let times = Times {
        begin: begin.max(clock::now()),
        end: begin.max(clock::now()) + plan.duration.0,
        interval: plan.interval.0,
    };
    let listener = listen(network)?;
    let (tell, news) = news::channel();
    let (configure, configurations) = mpsc::sync_channel(CONFIGURATIONS);
    let to = SocketAddr::new(sink(network, place, plan)?, PORT);
    let stop = AtomicBool::new(false);
    let service = service(plan, &managers);
    let (patience, cpus) = (Patience::default(), Cpus::default());
    std::thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        let _ = clock::timer_slack(1);
        let (teller, stopped) = (tell.clone(), &stop);
        scope.spawn(move || {
            let received = receiver::run(&listener, &teller, stopped);
            ended(&teller, "the receiver", received);
        });
        let sender = || Sender::connect(to, times, configurations, tell.clone(), stopped);
        let client = &network.topology().client;
        let sender = network
            .node(client)?
            .run(|| sender().map_err(|e| Error::io("connect with", "the receiver", e)))?;
        let teller = tell.clone();
        scope.spawn(move || ended(&teller, "the sender", sender.run()));
        if let Some(service) = &service {
            let (patience, teller) = (&patience, tell.clone());
            scope.spawn(move || {
                clock::sleep_until(times.begin);
                asking::run(service, patience, &teller, stopped);
            });
        }
        drop(tell);
        let sampler = Sampler::new(times.begin, "client", &cpus);
        scope.spawn(move || sampler.run(stopped));
        let collector = Collector::new(context, times, record);
        let run = Run {
            context,
            times,
            patience: &patience,
            stop: &stop,
            configure,
            collector,
            counters: LabLink::new(context, network, bottleneck, times, &cpus),
        };
        run.carry_out(news)
    })
}

/// Where the streams go to.
fn sink(network: &Network, place: &Place, plan: &Plan) -> anyhow::Result<IpAddr> {
    if plan.riding {
        return Ok(FAR);
    }
    let address = network.address(&place.sink, false);
    address.with_context(|| format!("'{}' has no IPv4 address in this lab", place.sink))
}

/// Whom the global scheduler asks; nobody when it is told by reports alone.
fn service(plan: &Plan, managers: &Managers) -> Option<Service> {
    Some(Service {
        socket: managers.service(),
        peer: PEER,
        method: plan.probes.method()?,
    })
}

/// The receiver's socket, on the far host.
fn listen(network: &Network) -> anyhow::Result<TcpListener> {
    let bind = || {
        let any = (Ipv4Addr::UNSPECIFIED, PORT);
        tcp::listen(any.into()).map_err(|error| Error::io("bind", "the receiver", error))
    };
    let server = network.node(&network.topology().server)?;
    server.run(bind).context("the far host")
}

/// Tells of an end that broke.
fn ended(teller: &Teller, who: &str, result: std::io::Result<()>) {
    if let Err(error) = result {
        teller.tell(News::Broken(format!("{who}: {error}")));
    }
}

/// The thread that listens to all.
struct Run<'a> {
    context: &'a Context<'a>,
    times: Times,
    patience: &'a Patience,
    stop: &'a AtomicBool,
    configure: SyncSender<Configuration>,
    collector: Collector<'a>,
    counters: LabLink<'a>,
}

/// The lab's counters of the link that is shared, and the processors'.
struct LabLink<'a> {
    network: &'a Network,
    bottleneck: &'a Bottleneck,
    lab: LabCounters,
    cpus: &'a Cpus,
    cpu: Vec<Cpu>,
}

impl<'a> LabLink<'a> {
    fn new(
        context: &Context<'_>,
        network: &'a Network,
        bottleneck: &'a Bottleneck,
        times: Times,
        cpus: &'a Cpus,
    ) -> Self {
        let loaded = (Duration::ZERO, context.plan.duration.0);
        Self {
            network,
            bottleneck,
            lab: LabCounters::new(network, times.begin, loaded),
            cpus,
            cpu: Vec::new(),
        }
    }

    /// What they say since the last call.
    fn take(&mut self) -> Seen {
        let mut rows = LabRows::default();
        self.lab.take(self.network, &mut rows);
        let Bottleneck {
            link, direction, ..
        } = self.bottleneck;
        let is_shared = |of: &str, way: &str| of == link.as_str() && way == direction.as_str();
        let (queue, counters) = (rows.queue.into_iter(), rows.counters.into_iter());
        let queue = queue.filter(|row| is_shared(&row.link, &row.direction));
        let counters = counters.filter(|row| is_shared(&row.link, &row.direction));
        let counters: Vec<Counters> = counters.collect();
        let mut extra = rows.extra.iter();
        let extra = extra.find(|extra| is_shared(&extra.link, extra.direction));
        let totals = extra.map(|extra| extra.totals).unwrap_or_default();
        let cpu = self.cpus.take();
        self.cpu.extend(cpu.iter().cloned());
        Seen {
            own: counters.iter().map(|row| row.bytes).sum(),
            left: totals.left.bytes,
            dropped: totals.overflow.packets,
            queue: queue.collect(),
            counters,
            cpu,
        }
    }
}

impl Run<'_> {
    /// Listens to the end. Whoever has something to tell afterwards finds nobody there, and does not wait.
    fn carry_out(mut self, news: Receiver<News>) -> anyhow::Result<Outcome> {
        let mut broken = None;
        loop {
            let now = clock::now();
            let over = self.collector.is_over(now);
            if over || self.context.is_interrupted() || broken.is_some() {
                break;
            }
            let is_ending = now >= self.times.end;
            let most = self.context.plan.patience.0;
            self.patience.look(now, most, is_ending);
            match news.recv_timeout(DISPLAY) {
                Ok(News::Broken(reason)) => broken = Some(reason),
                Ok(news) => self.collector.handle_news(news),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if let Some(configuration) = self.collector.poll_configuration(clock::now()) {
                // A sender that has ended needs none.
                let _ = self.configure.try_send(configuration);
            }
            let now = clock::now();
            if self.collector.is_due(now) {
                let seen = self.counters.take();
                self.collector.flush(now, &seen)?;
            }
            self.collector.show(now);
        }
        let now = clock::now();
        self.patience.look(now, Duration::ZERO, true);
        self.hear_last(&news);
        drop(news);
        let ending = match broken {
            _ if self.context.is_interrupted() => Ending::Interrupted,
            Some(reason) => Ending::Lost(reason),
            None => Ending::Complete,
        };
        let seen = self.counters.take();
        let outcome = self.collector.conclude(ending, now, &seen)?;
        Ok(Outcome {
            cpu: self.counters.cpu,
            truth: self.counters.lab.truth(),
            ..outcome
        })
    }

    /// Stops the threads, and takes what they tell until they have ended: the last report among it.
    fn hear_last(&mut self, news: &Receiver<News>) {
        self.stop.store(true, Ordering::Relaxed);
        let deadline = clock::now() + ENDING;
        while clock::now() < deadline {
            match news.recv_timeout(DISPLAY) {
                Ok(news) => self.collector.handle_news(news),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }
}

/// How long a run may go on after its last frame.
pub(super) fn deadline(times: Times) -> Instant {
    times.end + DRAIN
}
