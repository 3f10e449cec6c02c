//! Which link's queue grows: a trace of the path beside trains that fill it.
//!
//! First the path is traced as it is. Then trains go over it one after the other, a fifth faster than a train of full packets
//! arrived, which is more than the slowest link has left; and the trace goes on. A router that answers later than before is behind
//! the queue ([`probe::hops`]).

use super::finding::bottleneck;
use super::methods::Carry;
use super::plan::Plan;
use kit::far::StopOnDrop;
use kit::stream::any;
use kit::traceroute::{Answer, Tracer};
use probe::hops::{Phase, Row, Trace};
use probe::train::Train;
use schema::estimate::Finding;
use session::{Client, TagKey};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use sys::udp::UdpSocket;
use units::{Instant, Rate};

/// How often each hop is asked.
const EVERY: Duration = Duration::from_millis(100);
/// The farthest hop.
const HOPS: u8 = 30;
/// Packets of the train that tells how fast the others are to be, and how much faster.
const FIRST: usize = 48;
const FASTER: f64 = 1.2;
/// How long a train lasts that fills the path.
const FILLING: Duration = Duration::from_millis(400);
/// Queues have grown so long after a train began, and stay so until it ends.
const GROWN: Duration = Duration::from_millis(150);

/// What a trace needs to know of the far end.
pub(super) struct Target {
    session: u64,
    keys: [TagKey; 2],
    peer: SocketAddr,
}

impl Target {
    pub(super) fn of(client: &Client) -> Self {
        let keys = client.dialer.keys();
        Self {
            session: client.dialer.session(),
            keys: [keys.to_server, keys.to_client],
            peer: client.peer,
        }
    }

    /// A trace of the path to it, by datagrams of `stream`.
    fn tracer(&self, stream: u16) -> Result<Tracer<'_>, sys::Error> {
        Ok(Tracer {
            socket: UdpSocket::bind(any(self.peer))?,
            session: self.session,
            stream,
            to: self.peer,
            key_out: &self.keys[0],
            key_in: &self.keys[1],
            every: EVERY,
            hops: HOPS,
        })
    }
}

/// Looks for the bottleneck, half of the plan's time before the load and half under it.
///
/// # Errors
/// When `carrier` fails.
pub(super) fn find<R: Carry>(
    plan: &Plan,
    carrier: &mut R,
    target: &Target,
) -> Result<Finding, R::Error>
where
    R::Error: From<sys::Error>,
{
    let tracer = target.tracer(super::TRACE)?;
    let half = plan.duration.0 / 2;
    let answers = Mutex::new(Vec::new());
    let stop = AtomicBool::new(false);
    let abort = || stop.load(Ordering::Relaxed);
    let load = std::thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| {
            let keep = |answer| locked(&answers).push(answer);
            tracer.run(Instant::FAR_FUTURE, &abort, keep)
        });
        carrier.rest(half)?;
        fill(plan, carrier, half)
    })?;
    let answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    let rows: Vec<Row> = answers
        .iter()
        .filter_map(|answer| row(answer, &load))
        .collect();
    Ok(bottleneck::of_trace(Trace::of(&rows).as_ref()))
}

fn locked(answers: &Mutex<Vec<Answer>>) -> std::sync::MutexGuard<'_, Vec<Answer>> {
    answers.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A row before the first of the trains that began at these times, or while one of them has made queues grow.
fn row(answer: &Answer, load: &[Instant]) -> Option<Row> {
    let grown = |began: &Instant| (*began + GROWN..*began + FILLING).contains(&answer.sent);
    let phase = if load.first().is_none_or(|first| answer.sent < *first) {
        Phase::Idle
    } else {
        Phase::Loaded
    };
    // The first train only tells how fast the others are to be.
    let counts = phase == Phase::Idle || load.iter().skip(1).any(grown);
    counts.then(|| Row {
        ttl: answer.ttl,
        address: answer.from,
        phase,
        rtt_ns: answer
            .rtt
            .map(|rtt| u64::try_from(rtt.as_nanos()).unwrap_or(u64::MAX)),
        is_end: answer.is_end,
    })
}

/// Sends more than the path carries, again and again for so long; when each train began.
fn fill<R: Carry>(plan: &Plan, carrier: &mut R, time: Duration) -> Result<Vec<Instant>, R::Error> {
    let mut began = vec![carrier.now()];
    let longest = carrier.longest();
    let first = carrier.carry(
        &Train::periodic(FIRST, longest, Duration::ZERO),
        carrier.now(),
    )?;
    let octets = first.arrivals.len().saturating_sub(1) as u64 * u64::from(longest);
    let rate = Rate::from_transfer(octets, first.span()).unwrap_or(plan.most);
    let gap = rate.min(plan.most).time_for(longest.into()).div_f64(FASTER);
    let packets = FILLING.as_nanos() / gap.as_nanos().max(1);
    let packets = usize::try_from(packets).unwrap_or(usize::MAX);
    let train = Train::periodic(packets.clamp(2, super::messages::MOST_PROBES), longest, gap);
    let end = carrier.now() + time;
    while carrier.now() < end {
        began.push(carrier.now());
        carrier.carry(&train, carrier.now())?;
    }
    Ok(began)
}
