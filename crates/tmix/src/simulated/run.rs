//! The loop: virtual time goes on in steps of 10 ms, after which queues are looked at, and each second what was found goes to
//! the record.

use super::books::Books;
use super::capturing::Capturing;
use super::feed::Parts;
use super::headers::Shared;
use super::host::Host;
use super::links::{Hop, Links, look, truth};
use super::world::world;
use crate::replay::collector::Outcome;
use crate::replay::live::binding_window;
use crate::replay::summary::Figures;
use crate::replay::totals::Totals;
use crate::replay::workload::{Host as Which, Part};
use crate::replay::{Live as Shown, nanos};
use anyhow::Context as _;
use kit::ending::Ending;
use record::RecordWriter;
use schema::replay::plan::Plan;
use sim::{NodeId, Work, World};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use transport::CongestionControl;
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
    books: Books,
    begun: u64,
    open: u64,
    /// When the latest news came, or when somebody waited last.
    heard: Instant,
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
        let figures = Figures::new(context.plan, context.totals);
        Ok(Self {
            books: Books::new(figures, headers.clone()),
            headers,
            context,
            parts,
            next: None,
            world,
            ends,
            record,
            begun: 0,
            open: 0,
            heard: Instant::ZERO,
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
            self.books.queues(look(&mut self.world, is_loaded));
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
        let now = self.world.now();
        for (which, end) in Which::BOTH.into_iter().zip(self.ends) {
            let Some(host) = self.world.node_mut(end) else {
                continue;
            };
            let news = host.take_news();
            self.open = self.open.max(host.open() as u64);
            self.begun += news.begun;
            if news.heard > 0 || news.begun > 0 {
                self.heard = now;
            }
            self.books.enter(which, news, now);
        }
        let window = self.context.plan.window(Duration::MAX).map(nanos);
        let is_loaded = |t_ns| (window[0]..window[1]).contains(&t_ns);
        let links = self.world.tap_mut().take(now, is_loaded);
        if let Some(error) = self.world.tap_mut().capture_error() {
            return Err(error).context("cannot write the capture");
        }
        self.books.write(links, self.record)?;
        self.show(now);
        Ok(())
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
            ended: self.books.ended(),
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
        self.books.close(self.world.now());
        self.flush()?;
        let last = self.world.now();
        let uncaptured = self.world.tap_mut().end_capture(last)?;
        let [from, to] = self.context.plan.window(length);
        let work = self.world.work();
        let outcome = Outcome {
            ending,
            truth: truth(&mut self.world, to.saturating_sub(from).as_secs_f64()),
            figures: self.books.into_figures(),
            cpu: Vec::new(),
            uncaptured,
            open: self.open,
            length,
        };
        Ok((outcome, work))
    }
}
