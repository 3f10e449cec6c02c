//! Trains by way of a manager on this host, on which other programs' packets may ride.
//!
//! The estimator cannot tell the difference between this carrier and any other, but for the riders ([`Tool`] has the manager's side).
//!
//! A run with a record is [`run`]; a manager that measures for others has none ([`measure`]).

use super::messages::{self, Sent};
use super::methods::Carry;
use super::plan::Plan;
use super::run::Outcome;
use super::traffic::Traffic;
use super::{Live, methods};
use kit::control::{Broken, Context, DISPLAY, FLUSH};
use kit::far::StopOnDrop;
use kit::instrument::Cpus;
use kit::sampler::Sampler;
use kit::thinned::Thinned;
use kit::tool::{Carried, Line, Socket, Target, Tool, Trouble};
use mgrp::transaction::Refusal;
use packet::ETHERNET_MTU;
use probe::train::{Passage, Train};
use record::RecordWriter;
use schema::estimate::Finding;
use session::ClockOffset;
use std::net::IpAddr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use sys::clock;
use sys::local::UnixStream;
use units::Instant;

/// What came of a measurement without a record.
pub struct Measured {
    /// The figure, or why there is none.
    pub finding: Finding,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Octets that probing put on the path, riders apart; and those of the riders.
    pub overhead: u64,
    /// Octets of applications' packets that were carried inside probes.
    pub ridden: u64,
    /// The rate at which a long train held, if one was sent.
    pub held_mbps: Option<f64>,
}

/// Why nothing came of it.
#[derive(Clone, Debug)]
pub enum Failed {
    /// The manager refused a train.
    Refused(Refusal),
    /// It would have taken more octets than it may.
    TooMuch,
    /// It was lost, or interrupted.
    Lost(String),
}

/// The carrier over a manager's socket, or by one in virtual time.
struct Riding<'a, L = Socket> {
    context: &'a Context<'a, Plan, Live>,
    tool: Tool<'a, L>,
    /// Why the manager sent no more.
    refusal: Option<Refusal>,
    origin: Instant,
    /// The origin by the wall clock, in nanoseconds: managers stamp by it.
    origin_wall: u64,
    shown: Instant,
    flushed: Instant,
    gap_error_ns: Thinned,
    traffic: Traffic,
    record: Option<&'a mut RecordWriter>,
    /// Octets of all trains are no more than this.
    most: Option<u64>,
    is_too_much: bool,
    /// At which rate in Mbit/s a long train has held before, and now.
    held_before: f64,
    held: Option<f64>,
    /// Octets of the longest probe that the manager takes, where it refused a longer one.
    path_mtu: Option<u32>,
}

/// Managers stamp by one wall clock as far as this knows.
const NO_CLOCK: ClockOffset = ClockOffset {
    offset_ns: 0,
    rtt_ns: 0,
};

/// Carries the plan out towards the peer behind `to`, by the manager that listens on `socket`.
///
/// # Errors
/// Only when the record cannot be written; everything else ends up in the outcome.
pub fn run(
    context: &Context<'_, Plan, Live>,
    socket: UnixStream,
    to: IpAddr,
    record: &mut RecordWriter,
) -> Result<Outcome, record::Error> {
    let origin = clock::now();
    let cpus = Cpus::default();
    let stop = AtomicBool::new(false);
    let sampler = Sampler::new(origin, "client", &cpus);
    std::thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| sampler.run(&stop));
        let tool = Tool::new(socket, Target::of_tool(to), context.interrupt);
        let tool = match tool {
            Ok(tool) => tool,
            Err(trouble) => return super::run::unmade(context, NO_CLOCK, trouble.into()),
        };
        let wall = clock::stamp().wall_at(origin);
        let mut riding = Riding::new(context, tool, wall, Some(&mut *record));
        let (ending, finding) = match riding.find() {
            Ok(finding) => (context.ending(), finding),
            Err(broken) => {
                let ending = broken.ending(context.is_interrupted())?;
                (ending, Finding::none("the run did not finish"))
            }
        };
        let Riding {
            gap_error_ns,
            path_mtu,
            traffic,
            ..
        } = riding;
        let cpu = cpus.take();
        record.append(&cpu)?;
        record.flush()?;
        Ok(Outcome {
            ending,
            finding,
            seconds: clock::now().since(origin).as_secs_f64(),
            path_mtu,
            quality: Vec::new(),
            gap_error_ns: gap_error_ns.distribution(),
            traffic,
            cpu,
            truth: Vec::new(),
            clock: NO_CLOCK,
            far: None,
        })
    })
}

/// Carries the plan out, adding at most so many octets, and keeps nothing but what was found. `held_mbps` is the
/// rate at which a long train has held.
///
/// # Errors
/// When that is not enough, the manager refuses a train or is gone, or the run is interrupted.
pub fn measure(
    plan: &Plan,
    socket: UnixStream,
    target: Target,
    most: Option<u64>,
    held_mbps: f64,
    interrupt: &AtomicBool,
) -> Result<Measured, Failed> {
    let tool = Tool::new(socket, target, interrupt);
    let tool = tool.map_err(|trouble| Failed::Lost(trouble.into()))?;
    measure_by(
        plan,
        tool,
        |now| clock::stamp().wall_at(now),
        (most, held_mbps),
        interrupt,
    )
}

/// The same by a tool that is connected, where `wall_at` tells the time by which the managers stamp.
///
/// # Errors
/// As [`measure`].
pub fn measure_by<L: Line>(
    plan: &Plan,
    tool: Tool<'_, L>,
    wall_at: impl Fn(Instant) -> u64,
    (most, held_mbps): (Option<u64>, f64),
    interrupt: &AtomicBool,
) -> Result<Measured, Failed> {
    let context = Context {
        plan,
        lab: None,
        interrupt,
        display: &|_| {},
    };
    let origin = tool.now();
    let mut riding = Riding::new(&context, tool, wall_at(origin), None);
    riding.most = most;
    riding.held_before = held_mbps;
    let found = riding.find();
    let traffic = &riding.traffic;
    match (found, riding.refusal) {
        (Ok(finding), _) => Ok(Measured {
            finding,
            seconds: riding.tool.now().since(origin).as_secs_f64(),
            overhead: traffic.octets.saturating_sub(traffic.riders.octets),
            ridden: traffic.riders.octets,
            held_mbps: riding.held,
        }),
        (Err(_), _) if riding.is_too_much => Err(Failed::TooMuch),
        (Err(_), Some(refusal)) => Err(Failed::Refused(refusal)),
        (Err(broken), None) => {
            let reason = broken.reason().unwrap_or_else(|error| error.to_string());
            Err(Failed::Lost(reason))
        }
    }
}

impl<'a, L: Line> Riding<'a, L> {
    fn new(
        context: &'a Context<'a, Plan, Live>,
        tool: Tool<'a, L>,
        origin_wall: u64,
        record: Option<&'a mut RecordWriter>,
    ) -> Self {
        let origin = tool.now();
        Self {
            context,
            tool,
            refusal: None,
            origin,
            origin_wall,
            shown: origin,
            flushed: origin,
            gap_error_ns: Thinned::default(),
            traffic: Traffic::default(),
            record,
            most: None,
            is_too_much: false,
            held_before: 0.0,
            held: None,
            path_mtu: None,
        }
    }

    fn find(&mut self) -> Result<Finding, Broken> {
        self.tool.listen()?;
        loop {
            let found = methods::find_above(self.context.plan, self.held_before, self);
            match (found, self.refusal) {
                // The manager knows what the path takes.
                (Err(_), Some(Refusal::Long(_, most))) if u32::from(most) < self.longest() => {
                    self.path_mtu = Some(most.into());
                    self.refusal = None;
                }
                (found, _) => {
                    let (finding, held) = found?;
                    self.held = held;
                    return Ok(finding);
                }
            }
        }
    }

    fn enter(&mut self, carried: &Carried) -> Result<(), Broken> {
        let Carried {
            train,
            passage,
            outcome,
        } = carried;
        for gap in outcome.gaps.iter().skip(1) {
            let error = gap.actual.abs_diff(gap.planned);
            self.gap_error_ns.add(error.as_nanos() as f64);
        }
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let sent = Sent {
            count: passage.sent,
            lasted_ns: nanos(passage.lasted),
            worst_ns: nanos(outcome.worst_error()),
        };
        let origin = self.origin_wall;
        let now = nanos(self.tool.now().since(self.origin));
        let traffic = &mut self.traffic;
        traffic.enter(train, passage, sent, now, |ns, _| ns.saturating_sub(origin));
        traffic.riders.packets += passage.riders.packets;
        traffic.riders.octets += passage.riders.octets;
        traffic.riders.competing_octets += passage.riders.competing_octets;
        let Some(record) = &mut self.record else {
            traffic.forget();
            return Ok(());
        };
        traffic.hand_over(record)?;
        // A run that is killed keeps what it had a second ago.
        let now = self.tool.now();
        if now.since(self.flushed) >= FLUSH {
            self.flushed = now;
            record.flush()?;
        }
        Ok(())
    }

    /// Whether it may add as much as this train has.
    fn affords(&self, train: &Train) -> bool {
        let Traffic { octets, riders, .. } = &self.traffic;
        let added = octets.saturating_sub(riders.octets);
        let most = self.most;
        most.is_none_or(|most| added.saturating_add(train.octets()) <= most)
    }

    fn show(&mut self) {
        let now = self.tool.now();
        if now.since(self.shown) >= DISPLAY {
            self.shown = now;
            (self.context.display)(&self.traffic.live(self.context.plan, None));
        }
    }
}

impl<L: Line> Carry for Riding<'_, L> {
    type Error = Broken;

    fn carry(&mut self, train: &Train, not_before: Instant) -> Result<Passage, Broken> {
        messages::check(train).map_err(Broken::Far)?;
        if !self.affords(train) {
            self.is_too_much = true;
            return Err(Broken::Far("it takes too many octets".to_owned()));
        }
        self.tool.wait_until(not_before)?;
        let carried = self.tool.carry(train).inspect_err(|trouble| {
            if let Trouble::Refused(refusal) = trouble {
                self.refusal = Some(*refusal);
            }
        })?;
        self.enter(&carried)?;
        self.show();
        Ok(carried.passage)
    }

    fn carry_if_affordable(
        &mut self,
        train: &Train,
        not_before: Instant,
    ) -> Result<Option<Passage>, Broken> {
        if !self.affords(train) {
            return Ok(None);
        }
        match self.carry(train, not_before) {
            Err(_) if matches!(self.refusal, Some(Refusal::Budget(_))) => {
                self.refusal = None;
                Ok(None)
            }
            carried => carried.map(Some),
        }
    }

    fn longest(&self) -> u32 {
        self.path_mtu.unwrap_or(ETHERNET_MTU)
    }

    fn now(&self) -> Instant {
        self.tool.now()
    }

    fn rest(&mut self, time: Duration) -> Result<(), Broken> {
        let until = self.now() + time;
        Ok(self.tool.wait_until(until)?)
    }
}
