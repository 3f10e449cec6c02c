//! A run towards a far end of somebody else, which takes load and knows nothing of plans.
//!
//! The same streams, tables and figures as with a far end of our own, as far as they go: TCP load both ways, by an iperf3 or an ndt7
//! server ([`Server`]), and what that tells of it; beside it round trips that its host answers by itself, by ICMP echo or, where that is
//! not allowed, by attempts to connect. [`fit()`] makes a plan fit and says what was left out. There is no agreement and no clock of the
//! far end's.

mod fit;
mod iperf3;
mod ndt7;

pub use fit::{can_echo, fit};
pub use iperf3::Claim;
pub use ndt7::Ndt7;

use super::collector::{Collector, Finding, Teller};
use super::messages::Row;
use super::near::echo;
use super::run::{Context, Outcome};
use super::streams::{Kind, StreamPlan};
use crate::plan::Plan;
use kit::ending::Ending;
use kit::foreign::Found;
use kit::sampler::{Sampler, StreamEnd};
use record::RecordWriter;
use session::ClockOffset;
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use sys::clock;

/// From here to the first probe.
const LEAD: Duration = Duration::from_millis(100);
/// How often threads that are told to end are looked after.
const JOIN: Duration = Duration::from_millis(5);
/// Findings that may wait for the collector.
const QUEUE: usize = 1 << 16;

/// Who takes the load.
pub enum Server {
    /// An iperf3 server that waits for our streams.
    Iperf3(Box<Claim>),
    /// An ndt7 server.
    Ndt7(Ndt7),
}

/// What the load of a run has to do with the rest of it.
struct Load<'a> {
    plan: &'a Plan,
    streams: &'a [StreamPlan],
    /// Raised when the user interrupts.
    interrupt: &'a AtomicBool,
    sampler: &'a Sampler<Teller>,
    stop: &'a AtomicBool,
}

impl Load<'_> {
    /// Waits for the load's time, has it, and tells how the server saw it: the far end of each stream.
    fn run(&self, server: Server) -> Result<Vec<StreamEnd>, String> {
        match server {
            Server::Iperf3(claim) => self.by_iperf3(*claim),
            Server::Ndt7(server) => self.by_ndt7(&server),
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn tell(&self, finding: Finding) {
        // A collector that is gone needs no findings.
        let _ = self.sampler.sink().0.send(finding);
    }
}

/// Runs the plan towards the host at `to`, whose `server` takes the load where the plan has any, writing what is found to `record` as it
/// comes.
///
/// # Errors
/// Only when the record cannot be written; everything else ends up in the outcome.
pub fn run(
    context: &Context<'_>,
    server: Option<Server>,
    to: SocketAddr,
    record: &mut RecordWriter,
) -> Result<Outcome, record::Error> {
    let origin = clock::now() + LEAD;
    let (findings, collected) = mpsc::sync_channel(QUEUE);
    let sampler = Sampler::new(origin, "client", Teller(findings));
    let stop = AtomicBool::new(false);
    let mut collector = Collector::new(context, origin, &[], collected);
    let (ending, told) = std::thread::scope(|scope| {
        let (sampler, stop, beside) = (&sampler, &stop, context.beside);
        let mut threads = vec![scope.spawn(move || sampler.run(stop))];
        for plan in context.streams.iter().filter(|plan| !plan.kind.is_tcp()) {
            threads.push(scope.spawn(move || ask(plan, (to, beside), sampler, stop)));
        }
        let load = server.map(|server| {
            let load = Load {
                plan: context.plan,
                streams: context.streams,
                interrupt: context.interrupt,
                sampler,
                stop,
            };
            scope.spawn(move || load.run(server))
        });
        let ending = collector.collect(&mut [], record);
        stop.store(true, Ordering::Relaxed);
        let is_busy = || {
            let load = load.as_ref().is_some_and(|load| !load.is_finished());
            load || threads.iter().any(|thread| !thread.is_finished())
        };
        // A thread whose findings nobody takes would never end.
        while is_busy() {
            collector.drain();
            clock::sleep_until(clock::now() + JOIN);
        }
        let told = load.map(|load| load.join().unwrap_or_else(|panic| resume_unwind(panic)));
        ending.map(|ending| (ending, told))
    })?;
    drop(sampler);
    collector.drain();
    let ending = match (ending, told.unwrap_or_else(|| Ok(Vec::new()))) {
        (ending, Ok(ends)) => {
            let rows = ends.into_iter().map(Row::Stream);
            rows.for_each(|row| collector.tables.far_row(0, row));
            ending
        }
        (Ending::Complete, Err(reason)) => Ending::Lost(reason),
        (ending, Err(_)) => ending,
    };
    collector.flush(record)?;
    collector
        .tables
        .write_streams(record, context.ndjson.as_ref())?;
    let Collector {
        tables, failures, ..
    } = collector;
    Ok(Outcome {
        ending,
        tables,
        clock: ClockOffset::default(),
        clock_after: None,
        failures,
        far: Vec::new(),
    })
}

/// A stream of round trips, with the server's host or a far end beside it.
fn ask(
    plan: &StreamPlan,
    (to, beside): (SocketAddr, &[Found]),
    sampler: &Sampler<Teller>,
    stop: &AtomicBool,
) {
    let abort = || stop.load(Ordering::Relaxed);
    if !kit::stream::wait_until(sampler.origin() + plan.start, &abort) {
        return;
    }
    let done = match plan.kind {
        Kind::Beside => echo::beside(plan, beside, sampler, &abort),
        Kind::IcmpRr => echo::echoes(plan, to, sampler, &abort),
        Kind::TcpConnect => echo::attempts(plan, to, sampler, &abort),
        _ => Err("this far end knows no such streams".to_owned()),
    };
    if let Err(reason) = done {
        let stream = plan.id;
        // A collector that is gone needs no findings.
        let _ = sampler.sink().0.send(Finding::Failed { stream, reason });
    }
}
