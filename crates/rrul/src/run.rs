//! Does what the plan says, between two hosts.
//!
//! Every stream and the sampler have a thread of their own ([`NearStream`]); the calling thread is the [`Collector`], which
//! writes their findings to the record at least once a second, shows how it goes, and notices when the far end is gone or
//! the user has had enough.

use super::collector::{Collector, Teller};
use super::messages::{Done, Far, Near, Setup};
use super::ndjson::Ndjson;
use super::near::{NearStream, Pages};
use super::streams::StreamPlan;
use super::tables::Tables;
use super::{Live, Plan};
use kit::ending::Ending;
use kit::foreign::Found;
use kit::sampler::Sampler;
use lab::Network;
use record::RecordWriter;
use session::{Client, ClockOffset, Dialer};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use sys::clock;
use units::{Instant, Span};

/// From the agreement with the far end to the first probe.
const LEAD: Duration = Duration::from_millis(300);
/// How long the far end may take to answer when nothing is under way.
pub const ANSWER: Duration = Duration::from_secs(10);
/// How often threads that are told to end are looked after.
const JOIN: Duration = Duration::from_millis(5);
/// Findings that may wait for the collector.
const QUEUE: usize = 1 << 16;
/// Exchanges by which the two clocks are compared.
const CLOCK_ROUNDS: u32 = 12;

/// What is needed to run a plan.
pub struct Context<'a> {
    /// What is to be run.
    pub plan: &'a Plan,
    /// The plan's streams, each with a thread of its own.
    pub streams: &'a [StreamPlan],
    /// The far ends.
    pub peers: &'a [Peer],
    /// The far ends beside them, in the order of the plan's.
    pub beside: &'a [Found],
    /// The page that is loaded, and by what.
    pub pages: Option<Pages<'a>>,
    /// The emulated network, whose counters go into the record.
    pub lab: Option<&'a Network>,
    /// Who follows the rows as they come.
    pub ndjson: Option<Ndjson>,
    /// Raised when the user interrupts.
    pub interrupt: &'a AtomicBool,
    /// Told how it goes.
    pub display: &'a dyn Fn(&Live),
}

/// A far end, as the streams know it.
pub struct Peer {
    /// Opens data streams in the session with it, and has the session's keys.
    pub dialer: Arc<Dialer>,
    /// Where the data goes by IPv4 and IPv6.
    pub v4: Option<SocketAddr>,
    /// Its address by IPv6, if it has one.
    pub v6: Option<SocketAddr>,
    /// SHA-256 of its certificate.
    pub fingerprint: [u8; 32],
}

impl Peer {
    /// Its address for data by this version of IP; the other one's where it has none.
    pub fn address(&self, family: u8) -> Option<SocketAddr> {
        let [first, second] = if family == 6 {
            [self.v6, self.v4]
        } else {
            [self.v4, self.v6]
        };
        first.or(second)
    }
}

/// What came of a run, beside the tables.
pub struct Outcome {
    /// How the run ended.
    pub ending: Ending,
    /// All rows of both ends, for the summary.
    pub tables: Tables,
    /// How far the first far end's clock is from this one.
    pub clock: ClockOffset,
    /// The same after the run.
    pub clock_after: Option<ClockOffset>,
    /// What went wrong with single streams.
    pub failures: Vec<String>,
    /// What the far ends said of themselves, in their order; none when one did not.
    pub far: Vec<Done>,
}

/// When a run starts, as both ends have agreed.
pub struct Agreement {
    /// On this host's clock.
    origin: Instant,
    /// How far the far ends' clocks are from it.
    clocks: Vec<ClockOffset>,
}

/// Compares clocks, tells the far ends what is going to happen, and waits until they are ready. After this the run must
/// begin at once.
///
/// # Errors
///
/// When a far end cannot be heard or will not do it.
pub fn agree(context: &Context<'_>, clients: &mut [Client]) -> anyhow::Result<Agreement> {
    let mut clocks = Vec::new();
    for client in &mut *clients {
        clocks.push(client.control.measure_clock(CLOCK_ROUNDS, ANSWER)?);
    }
    // Their answers take a round trip each, and so do the first streams.
    let round_trips: u64 = clocks.iter().map(|clock| clock.rtt_ns).sum();
    let origin = clock::now() + LEAD + 2 * Duration::from_nanos(round_trips);
    for (index, (client, clock)) in clients.iter_mut().zip(&clocks).enumerate() {
        let setup = Setup {
            origin_ns: clock.to_theirs(origin).as_nanos(),
            total: Span(context.plan.total()),
            streams: context
                .streams
                .iter()
                .filter(|stream| usize::from(stream.server) == index)
                .filter_map(StreamPlan::far_setup)
                .collect(),
            // Pages are the first server's.
            page: context
                .pages
                .as_ref()
                .filter(|_| index == 0)
                .map(|pages| pages.model.clone()),
        };
        client.control.send(&Near::Setup(Box::new(setup)))?;
        ready(client)?;
    }
    if clock::now() > origin + LEAD {
        anyhow::bail!("agreeing with the far end took too long - try again on a quieter path");
    }
    Ok(Agreement { origin, clocks })
}

pub(super) fn ready(client: &mut Client) -> anyhow::Result<()> {
    match client.control.recv(ANSWER)? {
        Far::Ready => Ok(()),
        Far::Refused(reason) => {
            let reason: String = reason.chars().filter(|c| !c.is_control()).collect();
            anyhow::bail!("{} refuses the plan: {reason}", client.control.peer())
        }
        Far::Rows(_) | Far::Done(_) => {
            anyhow::bail!("{} sent an unexpected message", client.control.peer())
        }
    }
}

/// Runs the plan with `clients`, writing what is found to `record` as it comes.
///
/// # Errors
///
/// Only when the record cannot be written; everything else ends up in the outcome.
pub fn run(
    context: &Context<'_>,
    agreement: &Agreement,
    clients: &mut [Client],
    record: &mut RecordWriter,
) -> Result<Outcome, record::Error> {
    let Agreement { origin, clocks } = agreement;
    let (findings, collected) = mpsc::sync_channel(QUEUE);
    let sampler = Sampler::new(*origin, "client", Teller(findings));
    let stop = AtomicBool::new(false);
    let mut collector = Collector::new(context, *origin, clocks, collected);
    let ending = std::thread::scope(|scope| {
        let mut threads = vec![scope.spawn(|| sampler.run(&stop))];
        for stream in context.streams {
            let near = NearStream {
                plan: stream,
                peers: context.peers,
                pages: context.pages.as_ref(),
                run: context.plan,
                sampler: &sampler,
                clocks,
                beside: context.beside,
                stop: &stop,
            };
            threads.push(scope.spawn(move || near.run()));
        }
        let ending = collector.collect(clients, record);
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
    let clock_after = match (&ending, clients.first_mut()) {
        (Ending::Complete | Ending::Interrupted, Some(first)) => {
            first.control.measure_clock(CLOCK_ROUNDS, ANSWER).ok()
        }
        _ => None,
    };
    let far = match ending {
        Ending::Lost(_) => Vec::new(),
        _ => collector.ask_far_ends(clients),
    };
    collector.tables.close_calls(!far.is_empty());
    collector.flush(record)?;
    collector
        .tables
        .write_streams(record, context.ndjson.as_ref())?;
    let ending = match ending {
        Ending::Complete if far.is_empty() => {
            Ending::Lost("the server did not send its side of the measurement".to_owned())
        }
        ending => ending,
    };
    let Collector {
        tables, failures, ..
    } = collector;
    Ok(Outcome {
        ending,
        tables,
        clock: clocks.first().copied().unwrap_or_default(),
        clock_after,
        failures,
        far,
    })
}
