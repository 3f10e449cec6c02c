//! Does what the plan says, between two hosts, and collects what comes of it.
//!
//! Every stream and the sampler have a thread of their own; this thread collects their findings into the record,
//! at least once a second on disk, shows how it goes, and notices when the far end is gone or the user has had enough.

use super::lab_books::LabBooks;
use super::messages::{Done, Far, Near, Row, STREAM_KIND, Setup, StreamEnd};
use super::sampler::{BIN, Sampler, Sink};
use super::stream::{self, load, tcp_rr, udp_rr};
use super::streams::{Kind, StreamPlan};
use super::tables::Tables;
use super::{Live, Plan};
use lab::Network;
use record::RecordWriter;
use record::tables::{Cpu, Sample, Series};
use session::{Client, ClockOffset, Dialer};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;
use sys::clock;
use units::{Instant, Span};

/// From the agreement with the far end to the first probe.
const LEAD: Duration = Duration::from_millis(300);
/// How long a TCP stream may take to connect.
const CONNECT: Duration = Duration::from_secs(10);
/// How long the far end may take to answer when nothing is under way.
const ANSWER: Duration = Duration::from_secs(10);
/// How often the record is flushed and the lab's books are taken.
const FLUSH: Duration = Duration::from_secs(1);
/// How often the display changes.
const DISPLAY: Duration = Duration::from_millis(200);
/// Findings that may wait for the collector.
const QUEUE: usize = 1 << 16;
/// Exchanges by which the two clocks are compared.
const CLOCK_ROUNDS: u32 = 12;

/// What is needed to run a plan.
pub(crate) struct Context<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) streams: &'a [StreamPlan],
    /// The far end's address and port for the data.
    pub(crate) peer: SocketAddr,
    /// The emulated network, whose books go into the record.
    pub(crate) lab: Option<&'a Network>,
    /// Raised when the user interrupts.
    pub(crate) interrupt: &'a AtomicBool,
    /// Told how it goes.
    pub(crate) display: &'a dyn Fn(&Live),
}

/// How a run ended.
#[derive(Debug)]
pub(crate) enum Ending {
    /// As planned.
    Complete,
    /// By the user.
    Interrupted,
    /// The far end was lost, with the reason.
    Lost(String),
}

/// What came of a run, beside the tables.
pub(crate) struct Outcome {
    pub(crate) ending: Ending,
    pub(crate) tables: Tables,
    pub(crate) clock: ClockOffset,
    /// What went wrong with single streams.
    pub(crate) failures: Vec<String>,
    pub(crate) far: Option<Box<Done>>,
}

/// A finding of a stream or of the sampler.
enum Finding {
    Cpu(Cpu),
    Ended(StreamEnd),
    Failed { stream: u16, reason: String },
    Opened { stream: u16, connected_ns: u64 },
    Sample(Sample),
    Series(Series),
}

impl Sink for SyncSender<Finding> {
    // A collector that is gone needs no findings.
    fn series(&self, row: Series) {
        let _ = self.send(Finding::Series(row));
    }

    fn cpu(&self, row: Cpu) {
        let _ = self.send(Finding::Cpu(row));
    }

    fn ended(&self, end: StreamEnd) {
        let _ = self.send(Finding::Ended(end));
    }
}

/// Runs the plan with `client`, writing what is found to `record` as it comes.
///
/// # Errors
///
/// Before the run starts: when the far end refuses it. After that, only when the record cannot be written; everything else
/// ends up in the outcome.
pub(crate) fn run(
    context: &Context<'_>,
    client: &mut Client,
    record: &mut RecordWriter,
) -> anyhow::Result<Outcome> {
    let clock = client.control.measure_clock(CLOCK_ROUNDS, ANSWER)?;
    let origin = clock::now() + LEAD;
    set_up(context, client, clock.to_theirs(origin))?;
    let (findings, collected) = mpsc::sync_channel(QUEUE);
    let sampler = Sampler::new(origin, "client", findings);
    let stop = AtomicBool::new(false);
    let mut collector = Collector::new(context, origin, collected);
    let ending = std::thread::scope(|scope| {
        scope.spawn(|| sampler.run(&stop));
        for stream in context.streams {
            let near = NearStream {
                plan: stream,
                peer: context.peer,
                dialer: &client.dialer,
                sampler: &sampler,
                clock,
                stop: &stop,
            };
            scope.spawn(move || near.run());
        }
        let ending = collector.collect(&mut client.control, record);
        stop.store(true, Ordering::Relaxed);
        ending
    })?;
    drop(sampler);
    collector.drain();
    let far = match ending {
        Ending::Lost(_) => None,
        _ => collector.ask_far_end(&mut client.control),
    };
    collector.flush(record)?;
    collector.tables.write_streams(record)?;
    let ending = match (ending, &far) {
        (Ending::Complete, None) => {
            Ending::Lost("the server did not send its side of the measurement".to_owned())
        }
        (ending, _) => ending,
    };
    let Collector {
        tables, failures, ..
    } = collector;
    Ok(Outcome {
        ending,
        tables,
        clock,
        failures,
        far,
    })
}

/// Tells the far end what is going to happen, and waits until it is ready.
fn set_up(context: &Context<'_>, client: &mut Client, origin: Instant) -> anyhow::Result<()> {
    let setup = Setup {
        origin_ns: origin.as_nanos(),
        total: Span(context.plan.total()),
        bin: Span(BIN),
        streams: context
            .streams
            .iter()
            .filter_map(StreamPlan::far_setup)
            .collect(),
    };
    client.control.send(&Near::Setup(setup))?;
    match client.control.recv(ANSWER)? {
        Far::Ready => Ok(()),
        Far::Refused(reason) => {
            anyhow::bail!("{} refuses the plan: {reason}", client.control.peer())
        }
        Far::Rows(_) | Far::Done(_) => {
            anyhow::bail!("{} answered out of turn", client.control.peer())
        }
    }
}

/// One stream at the near end.
struct NearStream<'a> {
    plan: &'a StreamPlan,
    peer: SocketAddr,
    dialer: &'a Dialer,
    sampler: &'a Sampler<SyncSender<Finding>>,
    clock: ClockOffset,
    stop: &'a AtomicBool,
}

impl NearStream<'_> {
    fn run(&self) {
        let abort = || self.stop.load(Ordering::Relaxed);
        let start = self.sampler.origin() + self.plan.start;
        if !stream::wait_until(start, &abort) {
            return;
        }
        let done = match self.plan.kind {
            Kind::Down | Kind::Up | Kind::TcpRr => self.tcp(&abort),
            Kind::UdpRr => self.udp_rr(&abort),
        };
        if let Err(reason) = done {
            self.tell(Finding::Failed {
                stream: self.plan.id,
                reason,
            });
        }
    }

    fn tell(&self, finding: Finding) {
        // A collector that is gone needs no findings.
        let _ = self.sampler.sink().send(finding);
    }

    fn until(&self) -> Instant {
        self.sampler.origin() + self.plan.stop
    }

    fn tcp(&self, abort: &dyn Fn() -> bool) -> Result<(), String> {
        let plan = self.plan;
        let prepare = |socket: &socket2::Socket| stream::prepare(socket, plan.class, plan.cc());
        let opened = self
            .dialer
            .open(self.peer, plan.id, STREAM_KIND, CONNECT, prepare)
            .map_err(|error| error.to_string())?;
        let connected_ns = self.sampler.since_origin(opened.established);
        self.tell(Finding::Opened {
            stream: plan.id,
            connected_ns,
        });
        let socket = Arc::new(opened.socket);
        self.sampler.begin(plan.id, plan.kind.direction(), &socket);
        let mut end = StreamEnd {
            id: plan.id,
            ..StreamEnd::default()
        };
        let mut failure = None;
        match plan.kind {
            Kind::Down => {
                let first = load::receive(&socket, abort);
                end.first_byte_ns = first.map(|first| self.sampler.since_origin(first));
            }
            Kind::Up => load::send(&socket, self.until(), abort),
            Kind::TcpRr | Kind::UdpRr => {
                let each = |exchange| self.tell(Finding::Sample(self.tcp_sample(&exchange)));
                let asked = tcp_rr::ask(&socket, plan.size, plan.gap, self.until(), abort, each);
                failure = asked.err().map(|error| error.to_string());
            }
        }
        self.sampler.end(end);
        failure.map_or(Ok(()), Err)
    }

    fn tcp_sample(&self, exchange: &tcp_rr::Exchange) -> Sample {
        Sample {
            t_ns: self.sampler.since_origin(exchange.sent),
            stream: self.plan.id,
            seq: exchange.sequence,
            rtt_ns: Some(nanos(exchange.rtt)),
            clock: "user".into(),
            tos_sent: self.plan.class.get() << 2,
            ..Sample::default()
        }
    }

    fn udp_rr(&self, abort: &dyn Fn() -> bool) -> Result<(), String> {
        let exchange = udp_rr::Exchange {
            session: self.dialer.session(),
            keys: *self.dialer.keys(),
            peer: self.peer,
            stream: self.plan.id,
            class: self.plan.class,
            size: self.plan.size,
            gap: self.plan.gap,
            until: self.until(),
            offset_ns: self.clock.offset_ns,
        };
        self.tell(Finding::Opened {
            stream: self.plan.id,
            connected_ns: self.sampler.since_origin(clock::now()),
        });
        let each = |outcome| self.tell(Finding::Sample(self.udp_sample(&outcome)));
        exchange.run(abort, each).map_err(|error| error.to_string())
    }

    fn udp_sample(&self, outcome: &udp_rr::Outcome) -> Sample {
        let reply = outcome.reply.as_ref();
        let kernel = reply.is_some_and(|reply| reply.kernel);
        Sample {
            t_ns: self.sampler.since_origin(outcome.sent),
            stream: self.plan.id,
            seq: outcome.sequence.into(),
            rtt_ns: reply.map(|reply| nanos(reply.rtt)),
            owd_up_ns: reply.map(|reply| reply.owd_up_ns),
            owd_down_ns: reply.map(|reply| reply.owd_down_ns),
            lost: reply.is_none(),
            late: reply.is_some_and(|reply| reply.late),
            clock: if kernel { "kernel" } else { "user" }.into(),
            tos_sent: self.plan.class.get() << 2,
            tos_seen_far: reply.and_then(|reply| reply.class_far),
            tos_seen_near: reply.and_then(|reply| reply.class_near),
        }
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// Gathers the findings of all threads.
struct Collector<'a> {
    context: &'a Context<'a>,
    findings: Receiver<Finding>,
    tables: Tables,
    failures: Vec<String>,
    origin: Instant,
    flushed: Instant,
}

impl<'a> Collector<'a> {
    fn new(context: &'a Context<'a>, origin: Instant, findings: Receiver<Finding>) -> Self {
        let lab = context
            .lab
            .map(|lab| LabBooks::new(lab, origin, context.plan.loaded()));
        Self {
            context,
            findings,
            tables: Tables::new(context.streams, lab),
            failures: Vec::new(),
            origin,
            flushed: clock::now(),
        }
    }

    /// Collects until the plan's end, or until something ends it before.
    fn collect(
        &mut self,
        control: &mut session::Control,
        record: &mut RecordWriter,
    ) -> anyhow::Result<Ending> {
        let end = self.origin + self.context.plan.total();
        let mut shown = Instant::ZERO;
        loop {
            match self.findings.recv_timeout(DISPLAY) {
                Ok(finding) => self.take(finding),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            let now = clock::now();
            if now >= end {
                return Ok(Ending::Complete);
            }
            if self.context.interrupt.load(Ordering::Relaxed) {
                return Ok(Ending::Interrupted);
            }
            if now.since(shown) >= DISPLAY {
                shown = now;
                self.show(now);
                if let Some(reason) = lost(control) {
                    return Ok(Ending::Lost(reason));
                }
            }
            if now.since(self.flushed) >= FLUSH {
                self.flush(record)?;
            }
        }
    }

    fn take(&mut self, finding: Finding) {
        match finding {
            Finding::Cpu(row) => self.tables.cpu.push(row),
            Finding::Ended(end) => self.tables.ended("client", &end),
            Finding::Failed { stream, reason } => {
                let name = self.context.streams.iter().find(|plan| plan.id == stream);
                let name = name.map_or("a stream", |plan| &plan.name);
                self.failures.push(format!("{name}: {reason}"));
            }
            Finding::Opened {
                stream,
                connected_ns,
            } => self.tables.opened(stream, connected_ns),
            Finding::Sample(sample) => self.tables.sample(sample),
            Finding::Series(row) => self.tables.series(row),
        }
    }

    fn flush(&mut self, record: &mut RecordWriter) -> anyhow::Result<()> {
        self.flushed = clock::now();
        if let Some(network) = self.context.lab {
            self.tables.take_lab(network);
        }
        Ok(self.tables.write(record)?)
    }

    /// Takes what the threads have said before they ended.
    fn drain(&mut self) {
        while let Ok(finding) = self.findings.try_recv() {
            self.take(finding);
        }
    }

    fn show(&self, now: Instant) {
        let elapsed = now.since(self.origin);
        let plan = self.context.plan;
        let (load, end) = (plan.idle_before.0, plan.idle_before.0 + plan.duration.0);
        let phase = match elapsed {
            elapsed if elapsed < load => "idle",
            elapsed if elapsed < end && !plan.load.is_empty() => "load",
            _ => "idle again",
        };
        let (down_mbps, up_mbps, rtt_ms) = self.tables.latest();
        (self.context.display)(&Live {
            elapsed,
            phase,
            down_mbps,
            up_mbps,
            rtt_ms,
        });
    }

    /// Asks the far end for its side; `None` when it does not answer any more.
    fn ask_far_end(&mut self, control: &mut session::Control) -> Option<Box<Done>> {
        let mut ask = || -> Result<Box<Done>, session::Error> {
            control.send(&Near::Finish)?;
            loop {
                match control.recv::<Far>(ANSWER)? {
                    Far::Rows(rows) => rows.into_iter().for_each(|row| match row {
                        Row::Cpu(row) => self.tables.cpu.push(row),
                        Row::Series(row) => self.tables.series(row),
                        Row::Stream(end) => self.tables.ended("server", &end),
                    }),
                    Far::Done(done) => return Ok(done),
                    Far::Ready | Far::Refused(_) => {}
                }
            }
        };
        let done = ask();
        done.map_err(|error| self.failures.push(error.to_string()))
            .ok()
    }
}

/// Why the far end is lost; `None` while it is there. It says nothing during a run, so whatever comes ends it.
fn lost(control: &mut session::Control) -> Option<String> {
    match control.recv::<Far>(Duration::ZERO) {
        Err(session::Error::Timeout { .. }) => None,
        Ok(_) => Some("the server spoke out of turn".to_owned()),
        Err(error) => Some(error.to_string()),
    }
}
