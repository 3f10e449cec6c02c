//! Trains by way of a manager on this host, on which other programs' packets may ride.
//!
//! The manager's control socket takes a train as one transaction and says how it left and what rode on it ([`mgrp::message`]). The
//! peer's manager tells what arrived on channels from [`TOLD`] on, and sends probes back on those from [`ECHOED`] on, so nothing else
//! need run there. The estimator cannot tell the difference, but for the riders.
//!
//! A run with a record is [`run`]; a manager that measures for others has none ([`measure`]).

mod target;

pub(crate) use target::Target;

use super::finding::Finding;
use super::messages::{self, Sent};
use super::methods::Carry;
use super::plan::Plan;
use super::receiving::PATIENCE;
use super::road::patience;
use super::run::Outcome;
use super::traffic::Traffic;
use super::{Live, methods};
use crate::btc::thinned::Thinned;
use crate::dialogue::{Broken, Context, DISPLAY, FLUSH};
use crate::instrument::Cpus;
use crate::manager::link::echo;
use crate::manager::link::told::TOLD;
use crate::rrul::sampler::Sampler;
use crate::serve::StopOnDrop;
use mgrp::message::{Frames, Message};
use mgrp::transaction::{self, Probe, Refusal, Transaction};
use probe::train::{Arrival, Passage, Riders, Train};
use record::RecordWriter;
use session::ClockOffset;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::IpAddr;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use sys::clock;
use units::Instant;

/// How long is waited for the manager before an interrupt is looked for.
const LOOK: Duration = Duration::from_millis(5);
/// A transaction may wait this long for others, beyond its own time.
const TURN: Duration = Duration::from_secs(30);

/// What came of a measurement without a record.
pub(crate) struct Measured {
    pub(crate) finding: Finding,
    pub(crate) seconds: f64,
    /// Octets that probing put on the path, riders apart; and those of the riders.
    pub(crate) overhead: u64,
    pub(crate) ridden: u64,
}

/// Why nothing came of it.
#[derive(Clone, Debug)]
pub(crate) enum Failed {
    /// The manager refused a train.
    Refused(Refusal),
    /// It would have taken more octets than it may.
    TooMuch,
    /// It was lost, or interrupted.
    Lost(String),
}

/// The road over the socket of a manager.
struct Riding<'a> {
    context: &'a Context<'a, Plan, Live>,
    socket: UnixStream,
    frames: Frames,
    target: Target,
    /// Number of the next transaction, and of the next probe.
    id: u32,
    next: u64,
    /// Probes that have arrived and were not asked for yet, by their numbers.
    arrived: BTreeMap<u64, Arrival>,
    latest: Instant,
    outcome: Option<(u32, Result<transaction::Outcome, Refusal>)>,
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
}

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
        let target = Target::of_tool(to);
        let mut riding = Riding::new(context, socket, target, origin, Some(&mut *record));
        let (ending, finding) = match riding.find() {
            Ok(finding) => (context.ending(), finding),
            Err(Broken::Record(error)) => return Err(error),
            Err(Broken::Far(reason)) => {
                let ending = super::run::lost(context, reason);
                (ending, Finding::none("the run came to no end"))
            }
        };
        let Riding {
            gap_error_ns,
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
            quality: Vec::new(),
            gap_error_ns: gap_error_ns.distribution(),
            traffic,
            cpu,
            truth: Vec::new(),
            clock: ClockOffset {
                offset_ns: 0,
                rtt_ns: 0,
            },
            far: None,
        })
    })
}

/// Carries the plan out with at most so many octets of probes, and keeps nothing but what was found.
///
/// # Errors
/// When that is not enough, the manager refuses a train or is gone, or the run is interrupted.
pub(crate) fn measure(
    plan: &Plan,
    socket: UnixStream,
    target: Target,
    most: Option<u64>,
    interrupt: &AtomicBool,
) -> Result<Measured, Failed> {
    let context = Context {
        plan,
        lab: None,
        interrupt,
        display: &|_| {},
    };
    let origin = clock::now();
    let mut riding = Riding::new(&context, socket, target, origin, None);
    riding.most = most;
    let found = riding.find();
    let traffic = &riding.traffic;
    match (found, riding.refusal) {
        (Ok(finding), _) => Ok(Measured {
            finding,
            seconds: clock::now().since(origin).as_secs_f64(),
            overhead: traffic.octets.saturating_sub(traffic.riders.octets),
            ridden: traffic.riders.octets,
        }),
        (Err(_), _) if riding.is_too_much => Err(Failed::TooMuch),
        (Err(_), Some(refusal)) => Err(Failed::Refused(refusal)),
        (Err(Broken::Far(reason)), None) => Err(Failed::Lost(reason)),
        (Err(Broken::Record(error)), None) => Err(Failed::Lost(error.to_string())),
    }
}

/// Connects with the manager.
///
/// # Errors
/// When none listens there.
pub(crate) fn connect(socket: &Path) -> anyhow::Result<UnixStream> {
    UnixStream::connect(socket).map_err(|error| {
        anyhow::anyhow!(
            "no manager at {} ({error}) - start one with 'isobath manager up', or name its socket",
            socket.display()
        )
    })
}

fn gone(error: &std::io::Error) -> Broken {
    Broken::Far(format!("the manager is gone ({error})"))
}

impl<'a> Riding<'a> {
    fn new(
        context: &'a Context<'a, Plan, Live>,
        socket: UnixStream,
        target: Target,
        origin: Instant,
        record: Option<&'a mut RecordWriter>,
    ) -> Self {
        Self {
            context,
            socket,
            frames: Frames::default(),
            target,
            id: 0,
            // What is still under way of whoever had the channels before has lower numbers.
            next: clock::stamp().wall_at(origin),
            arrived: BTreeMap::new(),
            latest: origin,
            outcome: None,
            refusal: None,
            origin,
            origin_wall: clock::stamp().wall_at(origin),
            shown: origin,
            flushed: origin,
            gap_error_ns: Thinned::default(),
            traffic: Traffic::default(),
            record,
            most: None,
            is_too_much: false,
        }
    }

    fn find(&mut self) -> Result<Finding, Broken> {
        let patience = Some(LOOK);
        self.socket
            .set_read_timeout(patience)
            .map_err(|error| gone(&error))?;
        for channel in [TOLD, echo::BACK].map(|first| self.target.channel(first)) {
            self.say(&Message::Listen { channel })?;
        }
        methods::find(self.context.plan, self)
    }

    fn say(&mut self, message: &Message) -> Result<(), Broken> {
        let mut octets = Vec::new();
        message
            .emit(&mut octets)
            .map_err(|error| Broken::Far(error.to_string()))?;
        self.socket.write_all(&octets).map_err(|error| gone(&error))
    }

    /// Takes what the manager says, for a few milliseconds.
    fn hear(&mut self) -> Result<(), Broken> {
        if self.context.is_interrupted() {
            return Err(Broken::Far("interrupted".to_owned()));
        }
        let mut octets = [0; 16_384];
        match self.socket.read(&mut octets) {
            Ok(0) => return Err(Broken::Far("the manager is gone".to_owned())),
            Ok(count) => self.frames.push(&octets[..count], clock::now()),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(gone(&error)),
        }
        while let Some(frame) = self
            .frames
            .poll()
            .map_err(|error| Broken::Far(error.to_string()))?
        {
            self.take(
                frame
                    .message
                    .map_err(|error| Broken::Far(error.to_string()))?,
            );
        }
        Ok(())
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Arrival { arrival, .. } => {
                if let Some((number, arrival)) = self.target.probe(&arrival) {
                    self.latest = clock::now();
                    self.arrived.entry(number).or_insert(arrival);
                }
            }
            Message::Outcome { id, outcome } => self.outcome = Some((id, Ok(outcome))),
            Message::Refused { id, reason } => self.outcome = Some((id, Err(reason))),
            _ => {}
        }
    }

    /// What came of a transaction.
    fn finished(&mut self, id: u32, train: &Train) -> Result<transaction::Outcome, Broken> {
        let deadline = clock::now() + train.duration() + TURN;
        loop {
            match self.outcome.take() {
                Some((of, outcome)) if of == id => {
                    return outcome.map_err(|reason| {
                        self.refusal = Some(reason);
                        Broken::Far(format!("the manager refuses: {reason}"))
                    });
                }
                _ if clock::now() > deadline => {
                    return Err(Broken::Far("the manager does not answer".to_owned()));
                }
                _ => self.hear()?,
            }
        }
    }

    /// The arrivals of a train's `count` probes from number `first` on, once all are there or no more come.
    fn collect(&mut self, train: &Train, first: u64, count: usize) -> Result<Vec<Arrival>, Broken> {
        let began = clock::now();
        self.arrived = self.arrived.split_off(&first);
        while self.arrived.len() < count {
            let longest = if train.echo {
                patience(&self.arrived)
            } else {
                PATIENCE
            };
            if clock::now().since(self.latest.max(began)) >= longest {
                break;
            }
            self.hear()?;
        }
        let arrivals = std::mem::take(&mut self.arrived).into_iter();
        Ok(arrivals
            .map(|(number, arrival)| Arrival {
                number: u32::try_from(number - first).unwrap_or(u32::MAX),
                ..arrival
            })
            .collect())
    }

    fn transaction(&self, train: &Train) -> Transaction {
        let probes = train.probes.iter().zip(self.next..);
        let probes = probes.map(|(probe, number)| Probe {
            header: number.to_be_bytes().to_vec(),
            octets: u16::try_from(probe.octets).unwrap_or(u16::MAX),
            gap: probe.gap,
            may_carry: probe.may_carry,
        });
        Transaction {
            channel: self.target.out(train),
            probes: probes.collect(),
        }
    }

    fn enter(
        &mut self,
        train: &Train,
        passage: &Passage,
        outcome: &transaction::Outcome,
    ) -> Result<(), Broken> {
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
        let Some(record) = &mut self.record else {
            traffic.forget();
            return Ok(());
        };
        traffic.hand_over(record)?;
        // A run that is killed keeps what it had a second ago.
        if clock::now().since(self.flushed) >= FLUSH {
            self.flushed = clock::now();
            record.flush()?;
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
        let octets = self.traffic.octets.saturating_add(train.octets());
        if self.most.is_some_and(|most| octets > most) {
            self.is_too_much = true;
            return Err(Broken::Far("it takes too many octets".to_owned()));
        }
        while clock::now() < not_before {
            self.hear()?;
        }
        self.id = self.id.wrapping_add(1);
        let (id, first) = (self.id, self.next);
        let transaction = self.transaction(train);
        let to = self.target.to;
        self.next += train.probes.len() as u64;
        self.say(&Message::Begin {
            id,
            to,
            transaction,
        })?;
        let outcome = self.finished(id, train)?;
        let arrivals = self.collect(train, first, outcome.gaps.len())?;
        let passage = Passage {
            sent: u32::try_from(outcome.gaps.len()).unwrap_or(u32::MAX),
            lasted: outcome.transmission,
            arrivals,
            riders: Riders {
                packets: outcome.riders.probes,
                octets: outcome.riders.octets,
                competing_octets: outcome.competing.octets,
            },
        };
        self.enter(train, &passage, &outcome)?;
        self.show();
        Ok(passage)
    }

    fn now(&self) -> Instant {
        clock::now()
    }

    fn rest(&mut self, time: Duration) -> Result<(), Broken> {
        let end = clock::now() + time;
        while clock::now() < end {
            self.hear()?;
        }
        Ok(())
    }
}
