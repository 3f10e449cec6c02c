//! Does what the plan says, between two hosts.
//!
//! Every stream and the sampler have a thread of their own ([`NearStream`]); the calling thread is the [`Collector`], which
//! writes their findings to the record at least once a second, shows how it goes, and notices when the far end is gone or
//! the user has had enough.

use super::collector::Collector;
use super::messages::{Done, Far, Near, Setup};
use super::near::NearStream;
use super::sampler::Sampler;
use super::streams::StreamPlan;
use super::tables::Tables;
use super::{Live, Plan};
use lab::Network;
use record::RecordWriter;
use session::{Client, ClockOffset};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use sys::clock;
use units::{Instant, Span};

/// From the agreement with the far end to the first probe.
const LEAD: Duration = Duration::from_millis(300);
/// How long the far end may take to answer when nothing is under way.
pub(crate) const ANSWER: Duration = Duration::from_secs(10);
/// How often threads that are told to end are looked after.
const JOIN: Duration = Duration::from_millis(5);
/// Findings that may wait for the collector.
const QUEUE: usize = 1 << 16;
/// Exchanges by which the two clocks are compared.
const CLOCK_ROUNDS: u32 = 12;

/// What is needed to run a plan.
pub(crate) struct Context<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) streams: &'a [StreamPlan],
    /// The far end's address and port for the data.
    pub(crate) peer: SocketAddr,
    /// The emulated network, whose books go into the record.
    pub(crate) lab: Option<&'a Network>,
    /// Raised when the user interrupts.
    pub(crate) interrupt: &'a AtomicBool,
    /// Told how it goes.
    pub(crate) display: &'a dyn Fn(&Live),
}

/// How a run ended.
#[derive(Debug)]
pub(crate) enum Ending {
    /// As planned.
    Complete,
    /// By the user.
    Interrupted,
    /// The far end was lost, with the reason.
    Lost(String),
}

/// What came of a run, beside the tables.
pub(crate) struct Outcome {
    pub(crate) ending: Ending,
    pub(crate) tables: Tables,
    pub(crate) clock: ClockOffset,
    /// The same after the run.
    pub(crate) clock_after: Option<ClockOffset>,
    /// What went wrong with single streams.
    pub(crate) failures: Vec<String>,
    pub(crate) far: Option<Box<Done>>,
}

/// When a run starts, as both ends have agreed.
pub(crate) struct Agreement {
    /// On this host's clock.
    origin: Instant,
    /// How far the far end's clock is from it.
    clock: ClockOffset,
}

/// Compares clocks, tells the far end what is going to happen, and waits until it is ready. After this the run must begin
/// at once.
///
/// # Errors
///
/// When the far end cannot be heard or will not do it.
pub(crate) fn agree(context: &Context<'_>, client: &mut Client) -> anyhow::Result<Agreement> {
    let clock = client.control.measure_clock(CLOCK_ROUNDS, ANSWER)?;
    // Its answer takes a round trip, and so do the first streams.
    let origin = clock::now() + LEAD + 2 * Duration::from_nanos(clock.rtt_ns);
    let setup = Setup {
        origin_ns: clock.to_theirs(origin).as_nanos(),
        total: Span(context.plan.total()),
        streams: context
            .streams
            .iter()
            .filter_map(StreamPlan::far_setup)
            .collect(),
    };
    client.control.send(&Near::Setup(setup))?;
    match client.control.recv(ANSWER)? {
        Far::Ready => Ok(Agreement { origin, clock }),
        Far::Refused(reason) => {
            let reason: String = reason.chars().filter(|c| !c.is_control()).collect();
            anyhow::bail!("{} refuses the plan: {reason}", client.control.peer())
        }
        Far::Rows(_) | Far::Done(_) => {
            anyhow::bail!("{} answered out of turn", client.control.peer())
        }
    }
}

/// Runs the plan with `client`, writing what is found to `record` as it comes.
///
/// # Errors
///
/// Only when the record cannot be written; everything else ends up in the outcome.
pub(crate) fn run(
    context: &Context<'_>,
    agreement: &Agreement,
    client: &mut Client,
    record: &mut RecordWriter,
) -> Result<Outcome, record::Error> {
    let Agreement { origin, clock } = *agreement;
    let (findings, collected) = mpsc::sync_channel(QUEUE);
    let sampler = Sampler::new(origin, "client", findings);
    let stop = AtomicBool::new(false);
    let mut collector = Collector::new(context, origin, collected);
    let ending = std::thread::scope(|scope| {
        let mut threads = vec![scope.spawn(|| sampler.run(&stop))];
        for stream in context.streams {
            let near = NearStream {
                plan: stream,
                peer: context.peer,
                dialer: &client.dialer,
                sampler: &sampler,
                clock,
                stop: &stop,
            };
            threads.push(scope.spawn(move || near.run()));
        }
        let ending = collector.collect(&mut client.control, record);
        stop.store(true, Ordering::Relaxed);
        // A thread whose findings nobody takes would never end.
        while threads.iter().any(|thread| !thread.is_finished()) {
            collector.drain();
            clock::sleep_until(clock::now() + JOIN);
        }
        ending
    })?;
    drop(sampler);
    collector.drain();
    let (clock_after, far) = match ending {
        Ending::Lost(_) => (None, None),
        _ => (
            client.control.measure_clock(CLOCK_ROUNDS, ANSWER).ok(),
            collector.ask_far_end(&mut client.control),
        ),
    };
    collector.flush(record)?;
    collector.tables.write_streams(record)?;
    let ending = match (ending, &far) {
        (Ending::Complete, None) => {
            Ending::Lost("the server did not send its side of the measurement".to_owned())
        }
        (ending, _) => ending,
    };
    let Collector {
        tables, failures, ..
    } = collector;
    Ok(Outcome {
        ending,
        tables,
        clock,
        clock_after,
        failures,
        far,
    })
}
