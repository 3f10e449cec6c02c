//! Does what the plan says: one direction after the other.

use super::Live;
use super::opening::{Opened, open};
use super::seen::{Seen, Way};
use super::terms::{changed, terms};
use far_ends::udpst::{Direction, Sender, SharedKey, Terms};
use kit::control::{self, Broken};
use kit::ending::Ending;
use kit::far::StopOnDrop;
use kit::instrument::Cpus;
use kit::sampler::Sampler;
use kit::secret::secret;
use kit::udpst::{End, Ended, SILENT, receive, send};
use record::RecordWriter;
use schema::tables::Cpu;
use schema::udpst::Plan;
use schema::udpst::tables::{UdpstInterval, UdpstTrial};
use std::cell::Cell;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::clock;
use units::TrafficClass;

/// What is needed to carry a plan out.
pub type Context<'a> = control::Context<'a, Plan, Live>;

/// The path is empty again after so long, before the other direction.
const PAUSE: Duration = Duration::from_secs(1);

/// What came of a run.
pub struct Outcome {
    /// How the run ended.
    pub ending: Ending,
    /// All trials.
    pub trials: Vec<UdpstTrial>,
    /// All sub-intervals.
    pub intervals: Vec<UdpstInterval>,
    /// Datagrams that this host's kernel had no room for.
    pub overflows: u32,
    /// What a server did not do as it was asked, in words.
    pub changed: Vec<String>,
    /// How busy this host was.
    pub cpu: Vec<Cpu>,
}

/// A server that has granted the first test, whose load begins at once.
pub struct Granted<'a> {
    server: SocketAddr,
    key: Option<&'a SharedKey>,
    first: Opened,
}

impl<'a> Granted<'a> {
    /// Asks `server` for the first test of `plan`.
    ///
    /// # Errors
    /// In one line why it cannot be had.
    pub fn ask(
        plan: &Plan,
        server: SocketAddr,
        key: Option<&'a SharedKey>,
        interrupt: &AtomicBool,
    ) -> anyhow::Result<Self> {
        let load = plan.ways.directions()[0];
        let is_interrupted = || interrupt.load(Ordering::Relaxed);
        match open(server, key, &terms(plan, load), &is_interrupted) {
            Ok(first) => Ok(Self { server, key, first }),
            Err(broken) => Err(anyhow::anyhow!(broken.reason()?)),
        }
    }
}

/// Carries the plan out.
///
/// # Errors
/// Only when the record cannot be written; everything else ends up in the outcome.
pub fn run(
    context: &Context<'_>,
    granted: Granted<'_>,
    record: &mut RecordWriter,
) -> Result<Outcome, record::Error> {
    let Granted { server, key, first } = granted;
    let origin = clock::now();
    let cpus = Cpus::default();
    let stop = AtomicBool::new(false);
    let sampler = Sampler::new(origin, "client", &cpus);
    std::thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| sampler.run(&stop));
        let is_broken = Cell::new(false);
        let is_v6 = server.ip().to_canonical().is_ipv6();
        let load = context.plan.ways.directions()[0];
        let way = Way::new(load, is_v6, &first.activation.terms);
        let mut run = Run {
            context,
            server,
            key,
            is_v6,
            is_broken: &is_broken,
            seen: Seen::new(origin, way, context.display, record, &is_broken),
            overflows: 0,
            terms: Vec::new(),
        };
        let ending = match run.pass(first) {
            Ok(()) => context.ending(),
            Err(broken) => broken.ending(context.is_interrupted())?,
        };
        run.seen.end()?;
        let Run {
            seen,
            overflows,
            terms,
            ..
        } = run;
        let cpu = cpus.take();
        seen.record.append(&cpu)?;
        seen.record.flush()?;
        Ok(Outcome {
            ending,
            trials: seen.trials,
            intervals: seen.intervals,
            overflows,
            changed: changed(context.plan, &terms),
            cpu,
        })
    })
}

struct Run<'a> {
    context: &'a Context<'a>,
    server: SocketAddr,
    key: Option<&'a SharedKey>,
    is_v6: bool,
    is_broken: &'a Cell<bool>,
    seen: Seen<'a>,
    overflows: u32,
    terms: Vec<Terms>,
}

impl Run<'_> {
    fn pass(&mut self, first: Opened) -> Result<(), Broken> {
        let mut first = Some(first);
        for load in self.context.plan.ways.directions() {
            let opened = match first.take() {
                Some(first) => first,
                None => self.open(load)?,
            };
            match self.direction(load, opened)? {
                Ended::Stopped => {}
                Ended::Silent => {
                    return Err(Broken::Far(format!(
                        "nothing more came from the server while it was loaded {load}"
                    )));
                }
                Ended::Interrupted => return Ok(()),
            }
        }
        Ok(())
    }

    /// A test after the first one.
    fn open(&self, load: &str) -> Result<Opened, Broken> {
        clock::sleep_until(clock::now() + PAUSE);
        let asked = terms(self.context.plan, load);
        let interrupted = || self.context.is_interrupted();
        open(self.server, self.key, &asked, &interrupted)
    }

    fn direction(&mut self, load: &'static str, opened: Opened) -> Result<Ended, Broken> {
        let Opened { socket, activation } = opened;
        let terms = activation.terms;
        self.terms.push(terms);
        let (context, is_broken) = (self.context, self.is_broken);
        let end = End {
            socket: &socket,
            class: TrafficClass::from_octet(terms.dscp_ecn),
            lasts: None,
            // A server ends a test half a second after its time.
            longest: Duration::from_secs(u64::from(terms.test_s) + 1) + SILENT,
            answer: &|_| None,
            is_interrupted: &|| context.is_interrupted() || is_broken.get(),
        };
        let seen = &mut self.seen;
        seen.begin(Way::new(load, self.is_v6, &terms));
        if terms.direction == Direction::Upstream {
            let sender = Sender::new(activation.rate, self.is_v6, clock::now(), secret());
            return Ok(send(&end, sender, |status, at| {
                seen.told(status, at);
                status.rate
            })?);
        }
        let (ended, overflows) = receive(&end, &terms, |feedback, at| {
            seen.received(feedback, at);
            feedback.status.rate
        })?;
        self.overflows = self.overflows.saturating_add(overflows);
        Ok(ended)
    }
}
