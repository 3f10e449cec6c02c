//! Gathers what the threads of a run find, and puts it on disk.

use super::messages::{Done, Far, Near, Row};
use super::run::{ANSWER, Context};
use super::tables::{CallSample, Tables};
use super::{Live, Plan};
use kit::ending::Ending;
use kit::lab_counters::LabCounters;
use kit::mailbox::CallArrival;
use kit::sampler::{Sink, StreamEnd};
use record::RecordWriter;
use schema::tables::{Cpu, Hop, HttpsProbe, PageLoad, PageObject, Sample, Series};
use session::{Client, ClockOffset};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;
use sys::clock;
use units::Instant;

/// How often the record is flushed and the lab's counters are taken.
const FLUSH: Duration = Duration::from_secs(1);
/// How often the display changes.
const DISPLAY: Duration = Duration::from_millis(200);
/// Rows that a far end may send: more is no measurement.
const MOST_FAR_ROWS: usize = 2_000_000;

/// A finding of a stream or of the sampler.
pub(super) enum Finding {
    /// A datagram of a call arrived here.
    Call(CallSample),
    Cpu(Cpu),
    Ended(StreamEnd),
    Failed {
        stream: u16,
        reason: String,
    },
    Hop(Hop),
    Https(HttpsProbe),
    Opened {
        stream: u16,
        connected_ns: u64,
    },
    Page(PageLoad, Vec<PageObject>),
    Sample(Sample),
    Series(Series),
}

/// Where the sampler of the near end tells.
pub(super) struct Teller(pub(super) SyncSender<Finding>);

impl Sink for Teller {
    // A collector that is gone needs no findings.
    fn series(&self, row: Series) {
        let _ = self.0.send(Finding::Series(row));
    }

    fn cpu(&self, row: Cpu) {
        let _ = self.0.send(Finding::Cpu(row));
    }

    fn ended(&self, end: StreamEnd) {
        let _ = self.0.send(Finding::Ended(end));
    }
}

/// Gathers the findings of all threads.
pub(super) struct Collector<'a> {
    context: &'a Context<'a>,
    findings: Receiver<Finding>,
    pub(super) tables: Tables,
    pub(super) failures: Vec<String>,
    origin: Instant,
    clocks: &'a [ClockOffset],
    flushed: Instant,
}

impl<'a> Collector<'a> {
    /// A collector for the run of `context` that starts at `origin`.
    pub(super) fn new(
        context: &'a Context<'a>,
        origin: Instant,
        clocks: &'a [ClockOffset],
        findings: Receiver<Finding>,
    ) -> Self {
        let lab = context
            .lab
            .map(|lab| LabCounters::new(lab, origin, context.plan.loaded()));
        Self {
            context,
            findings,
            tables: Tables::new(context.streams, lab),
            failures: Vec::new(),
            origin,
            clocks,
            flushed: clock::now(),
        }
    }

    /// Collects until the plan's end, or until something ends it before.
    pub(super) fn collect(
        &mut self,
        clients: &mut [Client],
        record: &mut RecordWriter,
    ) -> Result<Ending, record::Error> {
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
                if let Some(reason) = clients.iter_mut().find_map(|c| lost(&mut c.control)) {
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
            Finding::Call(sample) => self.tables.call(&sample),
            Finding::Cpu(row) => self.tables.cpu.push(row),
            Finding::Ended(end) => self.tables.ended("client", &end),
            Finding::Failed { stream, reason } => {
                let name = self.context.streams.iter().find(|plan| plan.id == stream);
                let name = name.map_or("a stream", |plan| &plan.name);
                self.failures.push(format!("{name}: {reason}"));
            }
            Finding::Hop(row) => self.tables.hops.push(row),
            Finding::Https(row) => self.tables.https.push(row),
            Finding::Page(load, objects) => {
                self.tables.pages.push(load);
                self.tables.objects.extend(objects);
            }
            Finding::Opened {
                stream,
                connected_ns,
            } => self.tables.opened(stream, connected_ns),
            Finding::Sample(sample) => self.tables.sample(sample),
            Finding::Series(row) => self.tables.series(row),
        }
    }

    /// Writes what has come since the last time.
    pub(super) fn flush(&mut self, record: &mut RecordWriter) -> Result<(), record::Error> {
        self.flushed = clock::now();
        if let Some(network) = self.context.lab {
            self.tables.take_lab(network);
        }
        self.tables.write(record, self.context.ndjson.as_ref())
    }

    /// Takes what the threads have said before they ended.
    pub(super) fn drain(&mut self) {
        while let Ok(finding) = self.findings.try_recv() {
            self.take(finding);
        }
    }

    fn show(&self, now: Instant) {
        let elapsed = now.since(self.origin);
        let phase = phase(self.context.plan, elapsed);
        let (down_mbps, up_mbps, rtt_ms) = self.tables.latest(kit::stream::nanos(elapsed));
        (self.context.display)(&Live {
            elapsed,
            phase,
            down_mbps,
            up_mbps,
            class_rtt_ms: self.tables.latest_by_class(),
            page_ms: self.tables.latest_page_ms(),
            rtt_ms,
        });
    }

    /// Asks the far ends for their sides; nothing when one of them does not answer any more.
    pub(super) fn ask_far_ends(&mut self, clients: &mut [Client]) -> Vec<Done> {
        let mut all = Vec::new();
        for (index, client) in clients.iter_mut().enumerate() {
            match self.ask(index, &mut client.control) {
                Ok(done) => all.push(done),
                Err(reason) => {
                    self.failures.push(reason);
                    return Vec::new();
                }
            }
        }
        all
    }

    fn ask(&mut self, server: usize, control: &mut session::Control) -> Result<Done, String> {
        let told = |error: session::Error| error.to_string();
        let mut left = MOST_FAR_ROWS;
        control.send(&Near::Finish).map_err(told)?;
        loop {
            match control.recv::<Far>(ANSWER).map_err(told)? {
                Far::Rows(rows) if rows.len() <= left => {
                    left -= rows.len();
                    for row in rows {
                        self.far_row(server, row);
                    }
                }
                Far::Rows(_) => return Err("the server sends rows without end".to_owned()),
                Far::Done(done) => return Ok(*done),
                Far::Ready | Far::Refused(_) => {
                    return Err("the server sent an unexpected message".to_owned());
                }
            }
        }
    }

    fn far_row(&mut self, server: usize, row: Row) {
        match row {
            Row::Call(arrival) => {
                let sample = self.call_sample(server, &arrival);
                self.tables.call(&sample);
            }
            row => self.tables.far_row(server, row),
        }
    }

    /// A datagram of a call that the far end received, on this host's clock.
    fn call_sample(&self, server: usize, arrival: &CallArrival) -> CallSample {
        let offset = self.clocks.get(server).map_or(0, |clock| clock.offset_ns);
        let arrived = Instant::from_nanos(arrival.arrived_ns).offset(offset.saturating_neg());
        let sent = Instant::from_nanos(arrival.sent_ns);
        CallSample {
            stream: arrival.stream,
            seq: arrival.seq,
            t_ns: kit::stream::nanos(sent.since(self.origin)),
            owd_ns: arrived.signed_since(sent),
            kernel: arrival.kernel,
            tos: arrival.tos,
        }
    }
}

/// What the run is doing, in a word or two.
pub(super) fn phase(plan: &Plan, elapsed: Duration) -> &'static str {
    let (load, end) = (plan.load_start(), plan.load_end());
    match elapsed {
        elapsed if elapsed < plan.idle().1.min(load) => "idle",
        elapsed if elapsed < load => "idle web",
        elapsed if elapsed < end && !plan.load.is_empty() => "load",
        elapsed if elapsed < end => "web",
        _ => "idle again",
    }
}

/// Why the far end is lost; `None` while it is there. It says nothing during a run, so whatever comes ends it.
fn lost(control: &mut session::Control) -> Option<String> {
    match control.recv::<Far>(Duration::ZERO) {
        Err(session::Error::Timeout { .. }) => None,
        Ok(_) => Some("the server sent an unexpected message".to_owned()),
        Err(error) => Some(error.to_string()),
    }
}
