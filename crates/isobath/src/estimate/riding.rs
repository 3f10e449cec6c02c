//! Trains by way of a manager on this host, on which other programs' packets may ride.
//!
//! The estimator cannot tell the difference between this road and any other, but for the riders ([`Tool`] has the manager's side).

use super::finding::Finding;
use super::messages::{self, Sent};
use super::methods::Carry;
use super::plan::Plan;
use super::run::Outcome;
use super::traffic::Traffic;
use super::{Live, methods};
use crate::btc::thinned::Thinned;
use crate::dialogue::{Broken, Context, DISPLAY, FLUSH};
use crate::instrument::Cpus;
use crate::manager::link::told::TOLD;
use crate::manager::tool::{Carried, Tool};
use crate::rrul::sampler::Sampler;
use crate::serve::StopOnDrop;
use probe::train::{Passage, Train};
use record::RecordWriter;
use session::ClockOffset;
use std::net::IpAddr;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use sys::clock;
use units::Instant;

/// The road over the socket of a manager.
struct Riding<'a> {
    context: &'a Context<'a, Plan, Live>,
    tool: Tool<'a>,
    origin: Instant,
    /// The origin by the wall clock, in nanoseconds: managers stamp by it.
    origin_wall: u64,
    shown: Instant,
    flushed: Instant,
    gap_error_ns: Thinned,
    traffic: Traffic,
    record: &'a mut RecordWriter,
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
pub(crate) fn run(
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
        let channel = TOLD + u8::try_from(std::process::id() % 128).unwrap_or(0);
        let tool = Tool::new(socket, to, channel, context.interrupt);
        let tool = match tool {
            Ok(tool) => tool,
            Err(reason) => return Ok(super::run::unmade(context, NO_CLOCK, reason)),
        };
        let mut riding = Riding {
            context,
            tool,
            origin,
            origin_wall: clock::stamp().wall_at(origin),
            shown: origin,
            flushed: origin,
            gap_error_ns: Thinned::default(),
            traffic: Traffic::default(),
            record,
        };
        let listens = riding.tool.listen().map_err(Broken::Far);
        let found = listens.and_then(|()| methods::find(context.plan, &mut riding));
        let (ending, finding) = match found {
            Ok(finding) => (context.ending(), finding),
            Err(Broken::Record(error)) => return Err(error),
            Err(Broken::Far(reason)) => {
                let ending = super::run::lost(context, reason);
                (ending, Finding::none("the run came to no end"))
            }
        };
        let cpu = cpus.take();
        riding.record.append(&cpu)?;
        riding.record.flush()?;
        Ok(Outcome {
            ending,
            finding,
            seconds: clock::now().since(origin).as_secs_f64(),
            quality: Vec::new(),
            gap_error_ns: riding.gap_error_ns.distribution(),
            traffic: riding.traffic,
            cpu,
            truth: Vec::new(),
            clock: NO_CLOCK,
            far: None,
        })
    })
}

impl Riding<'_> {
    fn enter(&mut self, train: &Train, carried: &Carried) -> Result<(), Broken> {
        let Carried { passage, outcome } = carried;
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
        let now = nanos(clock::now().since(self.origin));
        let traffic = &mut self.traffic;
        traffic.enter(train, passage, sent, now, |ns, _| ns.saturating_sub(origin));
        traffic.riders.packets += passage.riders.packets;
        traffic.riders.octets += passage.riders.octets;
        traffic.riders.competing_octets += passage.riders.competing_octets;
        traffic.hand_over(self.record)?;
        // A run that is killed keeps what it had a second ago.
        if clock::now().since(self.flushed) >= FLUSH {
            self.flushed = clock::now();
            self.record.flush()?;
        }
        Ok(())
    }

    fn show(&mut self) {
        let now = clock::now();
        if now.since(self.shown) >= DISPLAY {
            self.shown = now;
            (self.context.display)(&self.traffic.live(self.context.plan, None));
        }
    }
}

impl Carry for Riding<'_> {
    type Error = Broken;

    fn carry(&mut self, train: &Train, not_before: Instant) -> Result<Passage, Broken> {
        messages::check(train).map_err(Broken::Far)?;
        self.tool.wait_until(not_before).map_err(Broken::Far)?;
        let carried = self.tool.carry(train).map_err(Broken::Far)?;
        self.enter(train, &carried)?;
        self.show();
        Ok(carried.passage)
    }

    fn now(&self) -> Instant {
        clock::now()
    }

    fn rest(&mut self, time: Duration) -> Result<(), Broken> {
        let end = clock::now() + time;
        self.tool.wait_until(end).map_err(Broken::Far)
    }
}
