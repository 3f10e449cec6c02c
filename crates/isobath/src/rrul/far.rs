//! The far end of a run: what `isobath serve` does for one client.

use super::messages::{
    Done, Far, Near, ROWS_PER_LINE, Role, Row, STREAM_KIND, Setup, StreamEnd, StreamSetup,
};
use super::sampler::{Sampler, Sink};
use super::stream::{load, tcp_rr};
use record::tables::{Cpu, Series};
use session::{Control, DataStream, Error, Session};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use sys::proc::OwnCpu;
use sys::{clock, tcp};
use units::{Ecn, Instant, TrafficClass};

/// Rows kept for a client: an hour of its largest plan would be more, and is told in `rows_lost`.
const MOST_ROWS: usize = 500_000;
/// What a session must have left at the end of a run, to send the rows.
const REPORT: Duration = Duration::from_secs(5);
/// After the planned end of a run the client has this long to ask for the rows.
const GRACE: Duration = Duration::from_secs(30);

/// The rows of a run, until the client asks for them.
#[derive(Default)]
struct Rows {
    rows: Mutex<Vec<Row>>,
    lost: AtomicU64,
}

impl Rows {
    fn push(&self, row: Row) {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        // How streams ended is always kept: there are no more of those than streams.
        if rows.len() < MOST_ROWS || matches!(row, Row::Stream(_)) {
            rows.push(row);
        } else {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Sink for Rows {
    fn series(&self, row: Series) {
        self.push(Row::Series(row));
    }

    fn cpu(&self, row: Cpu) {
        self.push(Row::Cpu(row));
    }

    fn ended(&self, end: StreamEnd) {
        self.push(Row::Stream(end));
    }
}

/// Serves the run that the client of `session` set up. Returns when it is over or the client is gone.
///
/// # Errors
///
/// Those of the control connection.
pub(crate) fn serve(
    control: &mut Control,
    session: &Arc<Session>,
    setup: &Setup,
) -> Result<(), Error> {
    if let Err(reason) = check(setup, session) {
        return control.send(&Far::Refused(reason));
    }
    let cpu_before = OwnCpu::now().ok();
    let sampler = Sampler::new(
        Instant::from_nanos(setup.origin_ns),
        "server",
        Rows::default(),
    );
    let stop = AtomicBool::new(false);
    control.send(&Far::Ready)?;
    let finished = std::thread::scope(|scope| {
        scope.spawn(|| sampler.run(&stop));
        scope.spawn(|| accept(scope, session, setup, &sampler, &stop));
        let patience = sampler.origin().since(clock::now()) + setup.total.0 + GRACE;
        let next = control.recv::<Near>(patience);
        stop.store(true, Ordering::Relaxed);
        next
    });
    match finished? {
        Near::Finish => finish(control, session, sampler.into_sink(), cpu_before),
        Near::Setup(_) => control.send(&Far::Refused("a run is already set up".to_owned())),
    }
}

/// What can be found wrong before the run. The client has the key, which is no reason to believe its numbers.
fn check(setup: &Setup, session: &Session) -> Result<(), String> {
    let allowed = session.limits.streams as usize;
    if setup.streams.len() > allowed {
        return Err(format!(
            "{} streams - this server allows {allowed} to a session",
            setup.streams.len()
        ));
    }
    let end = Instant::from_nanos(setup.origin_ns) + setup.total.0 + REPORT;
    if end > session.ends {
        return Err(format!(
            "a run of {:.0} s - this server ends every session after {} s",
            setup.total.0.as_secs_f64(),
            session.limits.duration_s
        ));
    }
    let sizes = 1..=super::plan::LARGEST_PROBE;
    for stream in &setup.streams {
        if matches!(stream.role, Role::Echo { size } if !sizes.contains(&size.into())) {
            return Err(format!("stream {}: no message is of that size", stream.id));
        }
        if let Some(cc) = stream.cc.as_deref().filter(|_| stream.role == Role::Source) {
            super::stream::try_congestion(cc).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

/// Takes the session's streams and serves each in a thread of its own.
fn accept<'scope, 'env>(
    scope: &'scope std::thread::Scope<'scope, 'env>,
    session: &'env Arc<Session>,
    setup: &'env Setup,
    sampler: &'scope Sampler<Rows>,
    stop: &'scope AtomicBool,
) where
    'env: 'scope,
{
    let mut waiting: Vec<&StreamSetup> = setup.streams.iter().collect();
    while !stop.load(Ordering::Relaxed) && !session.is_closed() {
        let Some(stream) = session.next_stream(super::stream::PATIENCE) else {
            continue;
        };
        // Each stream of the plan is opened once; anything else is closed here.
        let id = stream.preamble.stream;
        if stream.preamble.kind != STREAM_KIND {
            continue;
        }
        let Some(index) = waiting.iter().position(|setup| setup.id == id) else {
            continue;
        };
        let setup = waiting.swap_remove(index);
        scope.spawn(move || {
            let abort = || stop.load(Ordering::Relaxed) || session.is_closed();
            serve_stream(stream, setup, sampler, &abort);
        });
    }
}

fn serve_stream(
    stream: DataStream,
    setup: &StreamSetup,
    sampler: &Sampler<Rows>,
    abort: &dyn Fn() -> bool,
) {
    let DataStream { socket, slot, .. } = stream;
    let socket = Arc::new(socket);
    let seen = tcp::accepted_class(&*socket).ok().flatten();
    let class = TrafficClass {
        dscp: setup.class,
        ecn: Ecn::NotEct,
    };
    // A mark that is not permitted here shows in the classes that the near end sees; the load is worth having all the same.
    let _ = tcp::set_traffic_class(&*socket, class);
    if let Some(cc) = &setup.cc {
        let _ = tcp::set_congestion(&*socket, cc);
    }
    sampler.begin(setup.id, setup.role.direction(), &socket);
    let mut end = StreamEnd {
        id: setup.id,
        class_seen: seen.map(TrafficClass::octet),
        ..StreamEnd::default()
    };
    match setup.role {
        // A broken connection ends the stream; the near end reports it.
        Role::Echo { size } => drop(tcp_rr::echo(&socket, size.into(), abort)),
        Role::Sink => {
            let first = load::receive(&socket, abort);
            end.first_byte_ns = first.map(|first| sampler.since_origin(first));
        }
        Role::Source => load::send(&socket, sampler.origin() + setup.stop.0, abort),
    }
    sampler.end(end);
    drop(slot);
}

/// Sends what was sampled.
fn finish(
    control: &mut Control,
    session: &Session,
    rows: Rows,
    cpu_before: Option<OwnCpu>,
) -> Result<(), Error> {
    let mut all = rows
        .rows
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    while !all.is_empty() {
        let rest = all.split_off(all.len().min(ROWS_PER_LINE));
        control.send(&Far::Rows(std::mem::replace(&mut all, rest)))?;
    }
    let used = OwnCpu::now()
        .ok()
        .zip(cpu_before)
        .map(|(now, before)| now.since(&before).total());
    control.send(&Far::Done(Box::new(Done {
        process_cpu_s: used.unwrap_or_default().as_secs_f64(),
        rows_lost: rows.lost.into_inner(),
        replied: session.counters.replied.load(Ordering::Relaxed),
        refused: session.counters.refused.load(Ordering::Relaxed),
    })))
}
