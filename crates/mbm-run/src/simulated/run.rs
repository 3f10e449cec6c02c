//! The tests of a plan, one after the other: virtual time goes on in steps of 10 ms, after which queues are looked at.

use super::super::messages::TestSetup;
use super::super::run::{Halves, Outcome, PAUSE, Tested, unsent};
use super::super::sender::{TICK, Task};
use super::super::trips::{Idle, idle};
use super::super::{Live, far, receiver, rows, summary};
use super::far::Far;
use super::host::Host;
use super::near::Near;
use super::{Datagram, SHORTEST, full};
use crate::plan::{Carrier, Plan};
use anyhow::{Context as _, bail};
use kit::ending::Ending;
use kit::virtual_links::{self, Hop, VirtualLinks};
use mbm::diagnostic::Test;
use mbm::loss::Counts;
use mbm::verdict::judge_reach;
use record::RecordWriter;
use schema::tables::Queue;
use session::ClockOffset;
use sim::{Builder, NodeId, Work, World};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use units::Instant;

/// How often queues are looked at.
const LOOK: Duration = Duration::from_millis(10);
/// How often what was found goes to the record.
const FLUSH: Duration = Duration::from_secs(1);
/// How long packets that leave a link are counted together.
const BIN: Duration = Duration::from_micros(100);
/// Packets of a run: an hour's work.
const MOST_PACKETS: u64 = 1_000_000_000;

/// What is needed to make the tests.
pub struct Context<'a> {
    /// Which tests, of what.
    pub plan: &'a Plan,
    /// Raised when the user interrupts.
    pub interrupt: &'a AtomicBool,
    /// Told how it goes, each second of virtual time.
    pub display: &'a dyn Fn(&Live),
}

/// Makes the tests over `hops`, the sender's first, writing what is found to `record` as it comes.
///
/// # Errors
/// When the path lets nothing through, takes no time, or the tests send more packets than an hour's work; when the record cannot
/// be written.
pub fn run(
    context: &Context<'_>,
    hops: Vec<Hop<Datagram>>,
    record: &mut RecordWriter,
) -> anyhow::Result<(Outcome, Work)> {
    if context.plan.carrier == Carrier::Tcp {
        bail!("the kernel's TCP is not simulated - use --carrier udp");
    }
    let (world, ends) = world(context.plan, hops);
    let mut run = Run {
        context,
        world,
        ends,
        record,
        tests: Vec::new(),
        idle: None,
        queue: Vec::new(),
        flushed: Instant::ZERO,
    };
    run.tests()?;
    run.flush()?;
    let seconds = run.world.now().since(Instant::ZERO).as_secs_f64();
    let outcome = Outcome {
        ending: if run.is_interrupted() {
            Ending::Interrupted
        } else {
            Ending::Complete
        },
        tests: run.tests,
        path_rtt: run.idle.map(|idle| idle.full),
        cpu: Vec::new(),
        truth: virtual_links::truth(&mut run.world, |links| links, seconds),
        clock: ClockOffset::default(),
        far: None,
    };
    Ok((outcome, run.world.work()))
}

struct Run<'a, 'b> {
    context: &'a Context<'a>,
    world: World<Host<'a>, VirtualLinks>,
    /// The sender's host, and the receiver's.
    ends: [NodeId; 2],
    record: &'b mut RecordWriter,
    tests: Vec<Tested>,
    idle: Option<Idle>,
    /// Rows that wait to be written.
    queue: Vec<Queue>,
    flushed: Instant,
}

/// The sender's host at node 0, the receiver's at the other end of the row.
fn world<'a>(
    plan: &Plan,
    hops: Vec<Hop<Datagram>>,
) -> (World<Host<'a>, VirtualLinks>, [NodeId; 2]) {
    let links = VirtualLinks::new(&hops, BIN);
    let last = NodeId(u32::try_from(hops.len()).unwrap_or(u32::MAX));
    let ends = [NodeId(0), last];
    let mut builder = Builder::default();
    builder.host(ends[0], Host::Near(Near::new(ends[0], ends[1])));
    let far = Far::new(ends[1], ends[0], plan.class());
    builder.host(ends[1], Host::Far(far));
    for (number, hop) in (0..).zip(hops) {
        let [up, down] = hop.ways;
        builder.link(NodeId(number), NodeId(number + 1), up);
        builder.link(NodeId(number + 1), NodeId(number), down);
    }
    (builder.build_with(links), ends)
}

impl<'a> Run<'a, '_> {
    fn tests(&mut self) -> anyhow::Result<()> {
        let plan = self.context.plan;
        let found = idle(&plan.target, |again| {
            if again {
                self.pass(PAUSE)?;
            }
            Ok::<_, anyhow::Error>([self.least_trip(SHORTEST)?, self.least_trip(full(plan))?])
        })?;
        if found.full.is_zero() {
            bail!(
                "the RTT of this path is zero, so the simulation would never advance - give a link a rate or a delay"
            );
        }
        plan.check_path(found.full).map_err(anyhow::Error::msg)?;
        self.idle = Some(found);
        for (index, test) in plan.tests.iter().enumerate() {
            if index > 0 {
                self.pass(PAUSE)?;
            }
            if self.is_interrupted() {
                return Ok(());
            }
            self.test(*test, index, found)?;
        }
        Ok(())
    }

    /// The least round trip of a few packets with so many octets.
    fn least_trip(&mut self, octets: u32) -> anyhow::Result<Duration> {
        let start = self.world.now();
        self.near()?.ask(octets, start);
        loop {
            self.step()?;
            let now = self.world.now();
            if let Some(trips) = self.near()?.trips(now) {
                return trips
                    .least()
                    .context("nothing came back over this path: it lets no packet through and back within 3 s");
            }
        }
    }

    /// One test, and what it found.
    fn test(&mut self, test: Test, index: usize, idle: Idle) -> anyhow::Result<()> {
        let plan = self.context.plan;
        let start_ns = self.world.now().as_nanos();
        let found = match judge_reach(&plan.target, idle.least) {
            Some(verdict) => unsent(&verdict, plan.streams),
            None => self.carried(test, index, idle.full)?,
        };
        for (number, (sender, receiver, passed)) in (1..).zip(found) {
            let rows = rows::of(self.tests.len(), test, &passed, |ns, _| ns);
            self.record.append(&rows)?;
            self.tests.push(Tested {
                test,
                stream: (plan.streams > 1).then_some(number),
                start_ns,
                sender,
                receiver,
            });
        }
        self.flush()?;
        let seconds = self.world.now().since(Instant::ZERO).as_secs_f64();
        let truth = virtual_links::truth(&mut self.world, |links| links, seconds);
        summary::keep(self.record, plan, &self.tests, Some(idle.full), truth)?;
        Ok(())
    }

    /// The streams of a test, from the first packet to the last that arrives.
    fn carried(
        &mut self,
        test: Test,
        index: usize,
        path_rtt: Duration,
    ) -> anyhow::Result<Vec<Halves>> {
        let plan = self.context.plan;
        let number = u16::try_from(index).unwrap_or(u16::MAX);
        let setup = TestSetup {
            stream: 0,
            test,
            path_rtt_ns: u64::try_from(path_rtt.as_nanos()).unwrap_or(u64::MAX),
        };
        let (every, rtt) = (far::report_every(plan, setup), plan.target.rtt());
        self.far()?.begin(number, plan.streams, every, rtt);
        let task = Task {
            plan,
            test,
            path_rtt,
        };
        let start = self.world.now() + TICK;
        let begun = self.near()?.begin(number, task, start);
        begun.map_err(anyhow::Error::msg)?;
        while !self.near()?.is_decided() && !self.is_interrupted() {
            self.step()?;
            if self.world.now().since(self.flushed).is_zero() {
                let settled = self.near()?.settled();
                self.show(test, index, &settled);
            }
            if self.world.work().departures > MOST_PACKETS {
                bail!(
                    "more than {MOST_PACKETS} packets were sent, and more take hours - lower the rate, or use a shorter --timeout"
                );
            }
        }
        let senders = self.near()?.end();
        self.pass(receiver::drain(rtt))?;
        let sent = senders.iter().map(|(counters, _)| counters.sent);
        let receivers = self.far()?.end(sent);
        let both = senders.into_iter().zip(receivers);
        Ok(both
            .map(|((sender, rows), receiver)| (sender, Some(receiver), rows))
            .collect())
    }

    /// Lets so much time pass.
    fn pass(&mut self, time: Duration) -> anyhow::Result<()> {
        let end = self.world.now() + time;
        while self.world.now() < end {
            self.step()?;
        }
        Ok(())
    }

    /// Ten milliseconds.
    fn step(&mut self) -> anyhow::Result<()> {
        let now = self.world.now() + LOOK;
        self.world.run_until(now);
        let queue = virtual_links::look(&mut self.world, |links| links, true);
        self.queue.extend(queue);
        if now.since(self.flushed) >= FLUSH {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        self.flushed = self.world.now();
        let counters = self.world.tap_mut().take(|_| true);
        self.record.append(&std::mem::take(&mut self.queue))?;
        self.record.append(&counters)?;
        Ok(())
    }

    fn show(&self, test: Test, index: usize, settled: &[Counts]) {
        let plan = self.context.plan;
        (self.context.display)(&Live::of(plan, test, index, settled));
    }

    fn near(&mut self) -> anyhow::Result<&mut Near<'a>> {
        match self.world.node_mut(self.ends[0]) {
            Some(Host::Near(near)) => Ok(near),
            _ => bail!("there is no sender"),
        }
    }

    fn far(&mut self) -> anyhow::Result<&mut Far> {
        match self.world.node_mut(self.ends[1]) {
            Some(Host::Far(far)) => Ok(far),
            _ => bail!("there is no receiver"),
        }
    }

    fn is_interrupted(&self) -> bool {
        self.context.interrupt.load(Ordering::Relaxed)
    }
}
