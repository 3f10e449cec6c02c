//! The loop: virtual time goes on in steps of 10 ms, after which queues are looked at; after each tenth the streams are.

use super::super::Live;
use super::super::collector::phase;
use super::super::plan::Plan;
use super::super::run::Outcome;
use super::super::streams::StreamPlan;
use super::super::tables::Tables;
use super::Wire;
use super::host::{Host, Part, Visits};
use super::https::Lines;
use super::pages::Page;
use super::tcp::Common;
use kit::ending::Ending;
use kit::sampler::{BIN, StreamEnd};
use kit::stream::nanos;
use kit::virtual_links::{self, Hop, VirtualLinks};
use record::RecordWriter;
use schema::LinkTruth;
use schema::rrul::plan::Switch;
use schema::tables::Queue;
use session::ClockOffset;
use sim::{Builder, NodeId, Work, World};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use transport::CongestionControl;
use units::Instant;

/// How often queues are looked at.
const LOOK: Duration = Duration::from_millis(10);
/// How often what was found goes to the record.
const FLUSH: Duration = Duration::from_secs(1);
/// How long packets that leave a link are counted together.
const WIDTH: Duration = Duration::from_micros(100);

/// What is needed to run a plan.
pub struct Context<'a> {
    /// What is to be run, without what is not simulated.
    pub plan: &'a Plan,
    /// Its streams.
    pub streams: &'a [StreamPlan],
    /// The plan's page, if it loads one.
    pub page: Option<Page<'a>>,
    /// Of all senders.
    pub congestion_control: CongestionControl,
    /// Where names of packets come from.
    pub seed: u64,
    /// Raised when the user interrupts.
    pub interrupt: &'a AtomicBool,
    /// Told how it goes, each second of virtual time.
    pub display: &'a dyn Fn(&Live),
}

/// Runs the plan over `hops`, the client's first, writing what is found to `record` as it comes: what came of it, what the links
/// carried, and how much work it was.
///
/// # Errors
/// When the record cannot be written.
pub fn run(
    context: &Context<'_>,
    hops: Vec<Hop<Wire>>,
    record: &mut RecordWriter,
) -> Result<(Outcome, Vec<LinkTruth>, Work), record::Error> {
    let (world, ends) = world(context, hops);
    let mut tables = Tables::new(context.streams, None);
    // Only connections of load and round trips are waited for.
    let datagrams = context.streams.iter().filter(|plan| !plan.kind.is_tcp());
    datagrams.for_each(|plan| tables.opened(plan.id, nanos(plan.start)));
    let mut run = Run {
        context,
        world,
        ends,
        record,
        tables,
        failures: Vec::new(),
        queue: Vec::new(),
    };
    let ending = run.pass()?;
    run.conclude(ending)
}

struct Run<'a, 'b> {
    context: &'a Context<'a>,
    world: World<Host<'a>, VirtualLinks>,
    /// The client, and the server.
    ends: [NodeId; 2],
    record: &'b mut RecordWriter,
    tables: Tables,
    failures: Vec<String>,
    /// Rows that wait to be written.
    queue: Vec<Queue>,
}

/// The client at node 0, the server at the other end of the row.
pub(super) fn world<'a>(
    context: &'a Context<'a>,
    hops: Vec<Hop<Wire>>,
) -> (World<Host<'a>, VirtualLinks>, [NodeId; 2]) {
    let links = VirtualLinks::new(&hops, WIDTH);
    let last = NodeId(u32::try_from(hops.len()).unwrap_or(u32::MAX));
    let ends = [NodeId(0), last];
    let common = Common {
        cc: context.congestion_control,
        ecn: context.plan.tcp_ecn.is_some_and(Switch::is_on),
        seed: context.seed,
    };
    let (plan, http) = (context.plan, Lines::default());
    let visits = context.page.clone().map(|page| Visits {
        page,
        phases: [plan.web_idle(), plan.loaded()],
    });
    let http = (visits.as_ref(), &http);
    let host = |is_client, ends| Host::new(context.streams, is_client, ends, common, http);
    let mut builder = Builder::default();
    builder.host(ends[0], host(true, ends));
    builder.host(ends[1], host(false, [ends[1], ends[0]]));
    for (number, hop) in (0..).zip(hops) {
        let [up, down] = hop.ways;
        builder.link(NodeId(number), NodeId(number + 1), up);
        builder.link(NodeId(number + 1), NodeId(number), down);
    }
    (builder.build_with(links), ends)
}

impl Run<'_, '_> {
    /// Lets the plan's time pass.
    fn pass(&mut self) -> Result<Ending, record::Error> {
        let end = Instant::ZERO + self.context.plan.total();
        let (mut bin, mut flush) = (Instant::ZERO + BIN, Instant::ZERO + FLUSH);
        while self.world.now() < end {
            let now = (self.world.now() + LOOK).min(end);
            self.world.run_until(now);
            let is_loaded = self.is_loaded(now.since(Instant::ZERO));
            let queue = virtual_links::look(&mut self.world, |links| links, is_loaded);
            self.queue.extend(queue);
            if now >= bin {
                bin += BIN;
                self.hosts(|host| host.look(now));
            }
            if now >= flush {
                flush += FLUSH;
                self.flush()?;
                self.show(now);
                if self.context.interrupt.load(Ordering::Relaxed) {
                    return Ok(Ending::Interrupted);
                }
            }
        }
        Ok(Ending::Complete)
    }

    fn is_loaded(&self, at: Duration) -> bool {
        let (from, to) = self.context.plan.loaded();
        (from..to).contains(&at)
    }

    fn hosts(&mut self, each: impl Fn(&mut Host<'_>)) {
        for end in self.ends {
            if let Some(host) = self.world.node_mut(end) {
                each(host);
            }
        }
    }

    /// Takes what the hosts have found.
    fn take(&mut self) {
        for (end, name) in self.ends.into_iter().zip(["client", "server"]) {
            let Some(host) = self.world.node_mut(end) else {
                continue;
            };
            for sample in host.heard.drain(..) {
                self.tables.call(&sample);
            }
            for (plan, part) in self.context.streams.iter().zip(&mut host.parts) {
                match part {
                    Part::Tcp(end) => {
                        let found = std::mem::take(&mut end.found);
                        if let Some(at) = found.connected.filter(|_| name == "client") {
                            self.tables.opened(plan.id, at.as_nanos());
                        }
                        found
                            .series
                            .into_iter()
                            .for_each(|row| self.tables.series(row));
                        found
                            .samples
                            .into_iter()
                            .for_each(|row| self.tables.sample(row));
                        if let Some(how) = found.ended {
                            self.tables.ended(name, &how);
                        }
                        let failed = found.failed;
                        self.failures
                            .extend(failed.map(|why| format!("{}: {why}", plan.name)));
                    }
                    Part::Asking(asking) => {
                        let samples = asking.samples.drain(..);
                        samples.for_each(|row| self.tables.sample(row));
                    }
                    Part::LookingUp(look_ups) => {
                        let samples = look_ups.samples.drain(..);
                        samples.for_each(|row| self.tables.sample(row));
                    }
                    Part::Loading(pages) => {
                        for (load, objects) in pages.found.drain(..) {
                            self.tables.pages.push(load);
                            self.tables.objects.extend(objects);
                        }
                    }
                    Part::Probing(probes) => self.tables.https.append(&mut probes.found),
                    Part::Talking(_) | Part::Serving(_) | Part::Passive => {}
                }
            }
        }
    }

    fn flush(&mut self) -> Result<(), record::Error> {
        self.take();
        let (from, to) = self.context.plan.loaded();
        let loaded = nanos(from)..nanos(to);
        let counters = self.world.tap_mut().take(|t_ns| loaded.contains(&t_ns));
        self.record.append(&std::mem::take(&mut self.queue))?;
        self.record.append(&counters)?;
        self.tables.write(self.record, None)
    }

    fn show(&self, now: Instant) {
        let elapsed = now.since(Instant::ZERO);
        let (down_mbps, up_mbps, rtt_ms) = self.tables.latest(nanos(elapsed));
        (self.context.display)(&Live {
            elapsed,
            phase: phase(self.context.plan, elapsed),
            down_mbps,
            up_mbps,
            class_rtt_ms: self.tables.latest_by_class(),
            page_ms: self.tables.latest_page_ms(),
            rtt_ms,
        });
    }

    fn conclude(
        mut self,
        ending: Ending,
    ) -> Result<(Outcome, Vec<LinkTruth>, Work), record::Error> {
        let now = self.world.now();
        self.hosts(|host| host.end(now));
        self.calls();
        self.probes();
        self.flush()?;
        self.tables.close_calls(true);
        self.tables.write(self.record, None)?;
        self.tables.write_streams(self.record, None)?;
        let (from, to) = self.context.plan.loaded();
        let loaded = to.min(now.since(Instant::ZERO)).saturating_sub(from);
        let seconds = loaded.as_secs_f64();
        let truth = virtual_links::truth(&mut self.world, |links| links, seconds);
        let outcome = Outcome {
            ending,
            tables: self.tables,
            clock: ClockOffset::default(),
            clock_after: None,
            failures: self.failures,
            far: Vec::new(),
        };
        Ok((outcome, truth, self.world.work()))
    }

    /// Says which streams of requests on new connections failed.
    fn probes(&mut self) {
        let client = self.world.node(self.ends[0]);
        let parts = client.into_iter().flat_map(|host| &host.parts);
        for (plan, part) in self.context.streams.iter().zip(parts) {
            if let Part::Probing(probes) = part
                && let Some(why) = &probes.failure
            {
                self.failures.push(format!("{}: {why}", plan.name));
            }
        }
    }

    /// Says how many datagrams of calls there were.
    fn calls(&mut self) {
        for (end, name) in self.ends.into_iter().zip(["client", "server"]) {
            let host = self.world.node(end);
            let parts = host.into_iter().flat_map(|host| &host.parts);
            for (plan, part) in self.context.streams.iter().zip(parts) {
                if let Part::Talking(talking) = part {
                    let end = StreamEnd {
                        id: plan.id,
                        sent: Some(talking.sent),
                        ..StreamEnd::default()
                    };
                    self.tables.ended(name, &end);
                }
            }
        }
    }
}
