//! Carries a plan out between two hosts: test after test, each agreed on, carried out and told.
//!
//! The calling thread agrees with the far end, writes what is found to the record, shows how it goes, and notices when the
//! far end is gone or the user has had enough; the near end's half of each test ([`ends`]) has a thread of its own.

mod ends;
mod trip;

use super::messages::{Done, Far, Near as Say, Passed, Setup, TestSetup};
use super::plan::{Carrier, Plan};
use super::results::{ReceiverResult, SenderResult};
use super::trips::Idle;
use super::{Live, Opening, rows, summary};
pub(super) use ends::Halves;
use kit::control::{Broken, DISPLAY, FLUSH};
use kit::datagrams::{Link, Terms};
use kit::ending::Ending;
use kit::far::StopOnDrop;
use kit::instrument::Cpus;
use kit::lab_counters::{LabCounters, LabRows};
use kit::sampler::Sampler;
use kit::{control, hello};
use mbm::diagnostic::Test;
use mbm::loss::Counts;
use mbm::verdict::{Verdict, judge_reach};
use record::RecordWriter;
use schema::Direction;
use schema::LinkTruth;
use schema::tables::Cpu;
use session::wire::{Kind, Probe};
use session::{Client, ClockOffset};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use sys::clock;
use sys::udp::{RecvBatch, UdpSocket};
use units::Instant;

/// Between two tests: queues are empty again.
pub(super) const PAUSE: Duration = Duration::from_millis(300);

/// What is needed to carry a plan out.
pub type Context<'a> = control::Context<'a, Plan, Live>;

/// A test that is over, or one of its streams.
pub struct Tested {
    /// Which of the tests of RFC 8337 it was.
    pub test: Test,
    /// Which of the streams side by side, from 1; none when it was the only one.
    pub stream: Option<u16>,
    /// When it began, after the run's start.
    pub start_ns: u64,
    /// What the sending end knows, with the verdict.
    pub sender: SenderResult,
    /// None when the receiver did not tell.
    pub receiver: Option<ReceiverResult>,
}

/// What came of a run.
pub struct Outcome {
    /// How the run ended.
    pub ending: Ending,
    /// Tests that were made, in their order, a row for each stream.
    pub tests: Vec<Tested>,
    /// Round trip of the idle path.
    pub path_rtt: Option<Duration>,
    /// How busy this host was, one row for each sample.
    pub cpu: Vec<Cpu>,
    /// The emulated links' own counters, one entry for each direction; empty without a lab.
    pub truth: Vec<LinkTruth>,
    /// The far end's clock against this one, as compared before the run.
    pub clock: ClockOffset,
    /// What the far end said of itself; none when it was lost.
    pub far: Option<Done>,
}

/// A run at work.
pub(super) struct Run<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) client: &'a mut Client,
    record: &'a mut RecordWriter,
    origin: Instant,
    clock: ClockOffset,
    cpus: &'a Cpus,
    cpu: Vec<Cpu>,
    lab: Option<LabCounters>,
    tests: Vec<Tested>,
    idle: Option<Idle>,
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
        Opening::Mbm(Setup { origin_ns, plan })
    };
    Ok(control::agree(client, opening)?)
}

/// Carries the plan out with `client`, writing what is found to `record` as it comes.
///
/// # Errors
/// Only when the record cannot be written; everything else ends up in the outcome.
pub fn run(
    context: &Context<'_>,
    (origin, clock): (Instant, ClockOffset),
    client: &mut Client,
    record: &mut RecordWriter,
) -> Result<Outcome, record::Error> {
    let cpus = Cpus::default();
    let whole = (Duration::ZERO, Duration::MAX);
    let mut run = Run {
        context,
        client,
        record,
        origin,
        clock,
        cpus: &cpus,
        cpu: Vec::new(),
        lab: context.lab.map(|lab| LabCounters::new(lab, origin, whole)),
        tests: Vec::new(),
        idle: None,
        flushed: origin,
        shown: Instant::ZERO,
    };
    let stop = AtomicBool::new(false);
    let sampler = Sampler::new(origin, "client", &cpus);
    let ending = std::thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| sampler.run(&stop));
        run.tests()
    });
    let (ending, far) = match ending {
        Ok((ending, far)) => (ending, Some(far)),
        Err(broken) => (broken.ending(context.is_interrupted())?, None),
    };
    run.flush()?;
    Ok(Outcome {
        ending,
        tests: run.tests,
        path_rtt: run.idle.map(|idle| idle.full),
        cpu: run.cpu,
        truth: run.lab.as_ref().map(LabCounters::truth).unwrap_or_default(),
        clock,
        far,
    })
}

impl Run<'_> {
    fn tests(&mut self) -> Result<(Ending, Done), Broken> {
        let tests = &self.context.plan.tests;
        for (index, test) in tests.iter().enumerate() {
            if index > 0 {
                self.pause(PAUSE)?;
            }
            if self.is_interrupted() {
                break;
            }
            self.test(*test, index)?;
        }
        self.say(&Say::Finish)?;
        let Far::Done(far) = self.hear()? else {
            return Err(Broken::out_of_turn());
        };
        Ok((self.context.ending(), far))
    }

    fn keep(&mut self) -> Result<(), record::Error> {
        let truth = self
            .lab
            .as_ref()
            .map(LabCounters::truth)
            .unwrap_or_default();
        let path_rtt = self.idle.map(|idle| idle.full);
        let plan = self.context.plan;
        summary::keep(self.record, plan, &self.tests, path_rtt, truth)
    }

    /// One test: agreed on, carried out, told.
    fn test(&mut self, test: Test, index: usize) -> Result<(), Broken> {
        let streams = self.context.plan.streams;
        let first = index * usize::from(streams) + 1;
        let stream = u16::try_from(first).unwrap_or(u16::MAX);
        let sockets = (0..streams).map(|_| hello::connected(self.client));
        let sockets = sockets.collect::<Result<Vec<_>, _>>()?;
        let idle = match (self.idle, sockets.first()) {
            (None, Some(socket)) => self.idle_round_trips(socket)?,
            (idle, _) => idle.unwrap_or_default(),
        };
        self.idle = Some(idle);
        let setup = TestSetup {
            stream,
            test,
            path_rtt_ns: u64::try_from(idle.full.as_nanos()).unwrap_or(u64::MAX),
        };
        let (start_ns, found) = match judge_reach(&self.context.plan.target, idle.least) {
            Some(verdict) => (self.since_origin(clock::now()), unsent(&verdict, streams)),
            None => self.carried(setup, index, sockets)?,
        };
        for (number, (sender, receiver, rows)) in (1..).zip(found) {
            self.write(test, &rows)?;
            self.tests.push(Tested {
                test,
                stream: (streams > 1).then_some(number),
                start_ns,
                sender,
                receiver,
            });
        }
        self.keep()?;
        self.flush()?;
        Ok(())
    }

    /// A test, by what carries it: when it began, and the counters of its streams.
    fn carried(
        &mut self,
        setup: TestSetup,
        index: usize,
        sockets: Vec<UdpSocket>,
    ) -> Result<(u64, Vec<Halves>), Broken> {
        match self.context.plan.carrier {
            Carrier::Tcp => {
                let start_ns = self.since_origin(clock::now());
                Ok((start_ns, vec![self.by_tcp(setup, index)?]))
            }
            Carrier::Udp => self.by_udp(setup, index, sockets),
        }
    }

    /// A test whose packets are datagrams: when it began, and the counters of its streams.
    fn by_udp(
        &mut self,
        setup: TestSetup,
        index: usize,
        sockets: Vec<UdpSocket>,
    ) -> Result<(u64, Vec<Halves>), Broken> {
        self.ready(&sockets, setup)?;
        let links = sockets.into_iter().zip(setup.stream..);
        let links = links.map(|(socket, stream)| Link::new(socket, self.terms(stream)));
        let mut links = links.collect::<Result<Vec<_>, _>>()?;
        let start_ns = self.since_origin(clock::now());
        let halves = match self.context.plan.direction {
            Direction::Up => self.send(setup, index, &mut links)?,
            Direction::Down => self.receive(setup, index, &mut links)?,
        };
        Ok((start_ns, halves))
    }

    /// Agrees on a test.
    fn ready(&mut self, sockets: &[UdpSocket], setup: TestSetup) -> Result<(), Broken> {
        self.say(&Say::Test(setup))?;
        let dialer = Arc::clone(&self.client.dialer);
        let hello = || {
            for (socket, stream) in sockets.iter().zip(setup.stream..) {
                hello::ask(socket, &dialer, stream, Probe::LEN);
            }
        };
        match control::until_answered(self.client, hello)? {
            Far::Ready => {}
            Far::Refused(reason) => return Err(Broken::refused(&reason)),
            _ => return Err(Broken::out_of_turn()),
        }
        // Answers to the requests are not the test's.
        let mut batch = RecvBatch::new(16, 1);
        for socket in sockets {
            while socket.recv(&mut batch)? > 0 {}
        }
        Ok(())
    }

    fn terms(&self, stream: u16) -> Terms {
        let keys = self.client.dialer.keys();
        Terms {
            session: self.client.dialer.session(),
            stream,
            kind: Kind::OneWay,
            key_out: keys.to_server,
            key_in: keys.to_client,
            class: self.context.plan.class(),
            payload: self.context.plan.payload(self.client.peer.is_ipv6()),
        }
    }

    /// Waits, and goes on collecting.
    fn pause(&mut self, time: Duration) -> Result<(), Broken> {
        clock::sleep_until(clock::now() + time);
        self.flush()?;
        Ok(())
    }

    fn look(&mut self, test: Test, index: usize, watches: &[Mutex<Counts>]) -> Result<(), Broken> {
        let now = clock::now();
        if now.since(self.flushed) >= FLUSH {
            self.flush()?;
        }
        if now.since(self.shown) < DISPLAY {
            return Ok(());
        }
        self.shown = now;
        let counts = watches.iter();
        let counts = counts.map(|watch| *watch.lock().unwrap_or_else(PoisonError::into_inner));
        let counts: Vec<Counts> = counts.collect();
        (self.context.display)(&Live::of(self.context.plan, test, index, &counts));
        Ok(())
    }

    /// The packets of a test, on this end's clock.
    fn write(&mut self, test: Test, passed: &[Passed]) -> Result<(), record::Error> {
        let up = self.context.plan.direction == Direction::Up;
        let at = |ns: u64, is_ours: bool| {
            let at = Instant::from_nanos(ns);
            let at = if is_ours { at } else { self.clock.to_ours(at) };
            self.since_origin(at)
        };
        let rows = rows::of(self.tests.len(), test, passed, |ns, is_senders| {
            at(ns, is_senders == up)
        });
        self.record.append(&rows)
    }

    fn flush(&mut self) -> Result<(), record::Error> {
        self.flushed = clock::now();
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

    fn since_origin(&self, at: Instant) -> u64 {
        u64::try_from(at.since(self.origin).as_nanos()).unwrap_or(u64::MAX)
    }

    pub(super) fn say(&mut self, line: &Say) -> Result<(), Broken> {
        control::say(self.client, line)
    }

    pub(super) fn hear(&mut self) -> Result<Far, Broken> {
        control::hear(self.client)
    }

    fn is_interrupted(&self) -> bool {
        self.context.is_interrupted()
    }
}

/// A test of which the verdict is known before: nothing is sent.
pub(super) fn unsent(verdict: &Verdict, streams: u16) -> Vec<Halves> {
    let stream = |_| (SenderResult::unsent(verdict.clone()), None, Vec::new());
    (0..streams).map(stream).collect()
}
