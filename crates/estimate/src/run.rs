//! Carries an estimator out between two hosts: train after train, until it knows.

use super::carrier::Carrier;
use super::messages::{Done, Far, Near as Say, Setup};
use super::methods::{self, Carry};
use super::plan::{Method, Plan};
use super::traffic::Traffic;
use super::{Live, Opening, hops};
use kit::control;
use kit::control::{Broken, DISPLAY, FLUSH};
use kit::datagrams::Quality;
use kit::ending::Ending;
use kit::far::StopOnDrop;
use kit::instrument::Cpus;
use kit::lab_counters::{LabCounters, LabRows};
use kit::sampler::Sampler;
use packet::ETHERNET_MTU;
use probe::train::{Passage, Train};
use record::{Distribution, RecordWriter};
use schema::LinkTruth;
use schema::estimate::Finding;
use schema::tables::Cpu;
use session::{Client, ClockOffset};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use sys::clock;
use units::Instant;

/// What is needed to carry a plan out.
pub type Context<'a> = control::Context<'a, Plan, Live>;

/// What came of a run.
pub struct Outcome {
    /// How the run ended.
    pub ending: Ending,
    /// The figure, or why there is none.
    pub finding: Finding,
    /// How long was measured, in seconds; 0 when the run never began.
    pub seconds: f64,
    /// Octets of the longest packet that the path was seen to take.
    pub path_mtu: Option<u32>,
    /// Trains, probes and octets that were sent, and what arrived of them.
    pub traffic: Traffic,
    /// Of this end's sockets, and |actual - planned gap| of what it sent, in nanoseconds.
    pub quality: Vec<Quality>,
    /// |actual - planned gap| of the probes that this end sent, in nanoseconds; none when it sent none.
    pub gap_error_ns: Option<Distribution>,
    /// How busy this host was, one row for each sample.
    pub cpu: Vec<Cpu>,
    /// The emulated links' own counters, one entry for each direction; empty without a lab.
    pub truth: Vec<LinkTruth>,
    /// The far end's clock against this one; zeros by way of a manager, where none is asked.
    pub clock: ClockOffset,
    /// What the far end said of itself; none by way of a manager, or when the far end was lost.
    pub far: Option<Done>,
}

/// A run at work.
struct Run<'a> {
    context: &'a Context<'a>,
    carrier: Carrier<'a>,
    record: &'a mut RecordWriter,
    cpus: &'a Cpus,
    cpu: Vec<Cpu>,
    lab: Option<LabCounters>,
    began: Instant,
    flushed: Instant,
    shown: Instant,
}

/// Compares the clocks and tells the far end that a run begins. This must be followed by the run at once.
///
/// # Errors
/// When the far end does not answer.
pub fn agree(client: &mut Client, plan: &Plan) -> anyhow::Result<(Instant, ClockOffset)> {
    let opening = |origin_ns| {
        let plan = plan.clone();
        Opening::Estimate(Setup { origin_ns, plan })
    };
    Ok(control::agree(client, opening)?)
}

/// Carries the plan out with `client`, writing what is found to `record` as it comes.
///
/// # Errors
/// Only when the record cannot be written; everything else ends up in the outcome.
pub fn run(
    context: &Context<'_>,
    agreed: (Instant, ClockOffset),
    client: &mut Client,
    record: &mut RecordWriter,
) -> Result<Outcome, record::Error> {
    let (origin, clock) = agreed;
    let cpus = Cpus::default();
    let stop = AtomicBool::new(false);
    let sampler = Sampler::new(origin, "client", &cpus);
    std::thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| sampler.run(&stop));
        let carrier = match Carrier::open(client, context.plan, context.interrupt, agreed) {
            Ok(carrier) => carrier,
            Err(broken) => return unmade(context, clock, broken),
        };
        let whole = (Duration::ZERO, Duration::MAX);
        let run = Run {
            context,
            carrier,
            record,
            cpus: &cpus,
            cpu: Vec::new(),
            lab: context.lab.map(|lab| LabCounters::new(lab, origin, whole)),
            began: clock::now(),
            flushed: origin,
            shown: Instant::ZERO,
        };
        run.carry_out(clock)
    })
}

/// The outcome of a run that never began.
pub(super) fn unmade(
    context: &Context<'_>,
    clock: ClockOffset,
    broken: Broken,
) -> Result<Outcome, record::Error> {
    Ok(Outcome {
        ending: broken.ending(context.is_interrupted())?,
        finding: Finding::none("nothing was measured"),
        seconds: 0.0,
        path_mtu: None,
        traffic: Traffic::default(),
        quality: Vec::new(),
        gap_error_ns: None,
        cpu: Vec::new(),
        truth: Vec::new(),
        clock,
        far: None,
    })
}

impl Carry for Run<'_> {
    type Error = Broken;

    fn carry(&mut self, train: &Train, not_before: Instant) -> Result<Passage, Broken> {
        let passage = self.carrier.carry(train, not_before)?;
        self.look()?;
        Ok(passage)
    }

    fn longest(&self) -> u32 {
        self.carrier.path_mtu.unwrap_or(ETHERNET_MTU)
    }

    fn now(&self) -> Instant {
        clock::now()
    }

    fn rest(&mut self, time: Duration) -> Result<(), Broken> {
        let end = clock::now() + time;
        while clock::now() < end {
            self.carrier.wait_until(end.min(clock::now() + DISPLAY))?;
            self.look()?;
        }
        Ok(())
    }
}

impl Run<'_> {
    fn carry_out(mut self, clock: ClockOffset) -> Result<Outcome, record::Error> {
        let found = self
            .find()
            .and_then(|finding| Ok((finding, self.finish()?)));
        let (ending, finding, far) = match found {
            Ok((finding, far)) => (self.context.ending(), finding, Some(far)),
            Err(broken) => {
                let ending = broken.ending(self.context.is_interrupted())?;
                (ending, Finding::none("the run did not finish"), None)
            }
        };
        let seconds = clock::now().since(self.began).as_secs_f64();
        self.flush()?;
        let (quality, gap_error_ns) = self.carrier.quality();
        Ok(Outcome {
            ending,
            finding,
            seconds,
            path_mtu: self.carrier.path_mtu,
            quality,
            gap_error_ns,
            traffic: self.carrier.traffic,
            cpu: self.cpu,
            truth: self
                .lab
                .as_ref()
                .map(LabCounters::truth)
                .unwrap_or_default(),
            clock,
            far,
        })
    }

    fn find(&mut self) -> Result<Finding, Broken> {
        let plan = self.context.plan;
        if plan.method == Method::Hops {
            let target = hops::Target::of(self.carrier.client);
            return hops::find(plan, self, &target);
        }
        methods::find(plan, self)
    }

    /// Share of the run that is over, where its method has a duration.
    fn done(&self, now: Instant) -> Option<f64> {
        let plan = self.context.plan;
        let has_end = !matches!(
            plan.method,
            Method::Pathload | Method::PathloadFast | Method::Pathrate
        );
        let elapsed = now.since(self.began).as_secs_f64();
        has_end.then(|| elapsed / plan.duration.0.as_secs_f64())
    }

    fn finish(&mut self) -> Result<Done, Broken> {
        control::say(self.carrier.client, &Say::Finish)?;
        match control::hear(self.carrier.client)? {
            Far::Done(done) => Ok(*done),
            _ => Err(Broken::out_of_turn()),
        }
    }

    fn look(&mut self) -> Result<(), Broken> {
        let now = clock::now();
        if now.since(self.flushed) >= FLUSH {
            self.flush()?;
        }
        if now.since(self.shown) >= DISPLAY {
            self.shown = now;
            let done = self.done(now);
            (self.context.display)(&self.carrier.traffic.live(self.context.plan, done));
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), record::Error> {
        self.flushed = clock::now();
        self.carrier.traffic.hand_over(self.record)?;
        if let (Some(network), Some(lab)) = (self.context.lab, &mut self.lab) {
            let mut rows = LabRows::default();
            lab.take(network, &mut rows);
            self.record.append(&rows.queue)?;
            self.record.append(&rows.counters)?;
        }
        let cpu = self.cpus.take();
        self.record.append(&cpu)?;
        self.cpu.extend(cpu);
        self.record.flush()
    }
}
