//! The far end of a run: what `isobath serve` does for one client.

mod datagrams;
mod quic;
mod udp_load;

use super::messages::{
    self, Done, Near, ROWS_PER_LINE, Role, Row, STREAM_KIND, Setup, StreamSetup,
};
use super::plan::Transport;
use super::stream::tcp_rr;
use super::stream::udp_load::interval;
use kit::far::{Equipment, StopOnDrop, start};
use kit::load;
use kit::mailbox::{Mailboxes, Opened};
use kit::sampler::{Sampler, Sink, StreamEnd};
use kit::stream::prepare_accepted;
use schema::tables::{Cpu, Series};
use session::{Control, DataStream, Error, Session};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use sys::proc::OwnCpu;
use sys::udp::UdpSocket;
use sys::{clock, tcp};
use units::{Instant, TrafficClass};
use web::bulk::Loads;

/// Rows kept for a client: an hour of its largest plan would be more, and is told in `rows_lost`.
const MOST_ROWS: usize = 500_000;
/// Datagrams of calls that are kept for a client, at some 40 octets each: an hour of three classes.
const MOST_ARRIVALS: usize = 1_200_000;
/// No run is longer, and no stream of datagrams denser: as the client's plans are checked.
const LONGEST: Duration = Duration::from_secs(3_600);
const LEAST_INTERVAL: Duration = Duration::from_millis(1);
/// As plans have it, too: a trace asks each hop no more often, and no more hops.
const LEAST_TRACE: Duration = Duration::from_millis(100);
const MOST_HOPS: u8 = 64;
/// How late a client may be with what it plans.
const PAST: Duration = Duration::from_secs(1);
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
        self.push(Row::Series(Box::new(row)));
    }

    fn cpu(&self, row: Cpu) {
        self.push(Row::Cpu(row));
    }

    fn ended(&self, end: StreamEnd) {
        self.push(Row::Stream(end));
    }
}

/// A run at its far end.
struct Far<'a> {
    session: &'a Arc<Session>,
    setup: &'a Setup,
    sampler: Sampler<Rows>,
    mailboxes: &'a Mailboxes,
    /// From which datagrams leave.
    socket: &'a UdpSocket,
    stop: AtomicBool,
}

/// Serves the run that the client of `session` set up, and before it rehearsals without streams, if there are any. Returns when it is
/// over or the client is gone.
///
/// # Errors
///
/// Those of the control connection.
pub fn serve(
    control: &mut Control,
    session: &Arc<Session>,
    setup: Setup,
    equipment: &Equipment,
) -> Result<(), Error> {
    let mut next = Some(setup);
    while let Some(setup) = next {
        next = serve_run(control, session, &setup, equipment)?;
    }
    Ok(())
}

/// Serves one run; gives back the set-up of the next, if this one was a rehearsal.
fn serve_run(
    control: &mut Control,
    session: &Arc<Session>,
    setup: &Setup,
    equipment: &Equipment,
) -> Result<Option<Setup>, Error> {
    if let Err(reason) = check(setup, session) {
        control.send(&messages::Far::Refused(reason))?;
        return Ok(None);
    }
    let cpu_before = OwnCpu::now().ok();
    let far = Far {
        session,
        setup,
        sampler: Sampler::new(
            Instant::from_nanos(setup.origin_ns),
            "server",
            Rows::default(),
        ),
        mailboxes: &equipment.mailboxes,
        socket: &equipment.socket,
        stop: AtomicBool::new(false),
    };
    let mailboxes = far.open_mailboxes();
    let page = setup.page.clone();
    let _published = page.map(|page| {
        let peer = session.peer.ip();
        equipment.site.publish(session.id, peer, page)
    });
    let has_quic = setup.streams.iter().any(|s| s.transport == Transport::Quic);
    let loads = has_quic.then(|| equipment.site.loads(session.id, session.peer.ip()));
    control.send(&messages::Far::Ready)?;
    match far.run(control, loads)? {
        Near::Finish => far.finish(control, mailboxes, cpu_before)?,
        // Nothing but the page was served: whoever wants to know how long it takes has tried.
        Near::Setup(next) if setup.streams.is_empty() => return Ok(Some(*next)),
        Near::Setup(_) => {
            let reason = "a run is already set up".to_owned();
            control.send(&messages::Far::Refused(reason))?;
        }
    }
    Ok(None)
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
    let allowed = Duration::from_secs(session.limits.duration_s);
    let end = Instant::from_nanos(setup.origin_ns) + setup.total.0 + REPORT;
    if setup.total.0 > allowed || end > session.ends {
        return Err(format!(
            "a run of {:.0} s - this server allows {} s, and the session has begun",
            setup.total.0.as_secs_f64(),
            session.limits.duration_s
        ));
    }
    // Streams that are planned for the past would be made up for at once.
    if Instant::from_nanos(setup.origin_ns) + PAST < clock::now() {
        return Err("a run that began before it was agreed on".to_owned());
    }
    if setup.total.0 > LONGEST {
        return Err("a run lasts at most an hour".to_owned());
    }
    let (mut arrivals, mut per_s, mut taken) = (0_usize, 0.0, 0.0);
    let sizes = 1..=super::plan::LARGEST_PROBE;
    for stream in &setup.streams {
        let (size, every) = match stream.role {
            Role::Echo { size } => (Some(size), None),
            Role::Talk { size, every } => (Some(size), Some(every)),
            Role::Listen { every } | Role::Trace { every, .. } => (None, Some(every)),
            Role::Sink | Role::Source => (None, None),
        };
        if size.is_some_and(|size| !sizes.contains(&size.into())) {
            return Err(format!("stream {}: no message is of that size", stream.id));
        }
        if every.is_some_and(|every| every.0 < LEAST_INTERVAL) || stream.stop > setup.total {
            return Err(format!("stream {}: too often or too long", stream.id));
        }
        if let Role::Trace { every, hops } = stream.role
            && (every.0 < LEAST_TRACE || hops > MOST_HOPS)
        {
            return Err(format!("stream {}: too many traces", stream.id));
        }
        if stream.transport == Transport::Udp && stream.rate.is_none() {
            return Err(format!("stream {}: a load by UDP has a rate", stream.id));
        }
        per_s += unasked(stream);
        taken += expected(stream);
        if let Role::Listen { every } = stream.role {
            arrivals = arrivals.saturating_add(datagrams::datagrams(stream, every.0));
        }
        if let Some(cc) = stream.cc.as_deref().filter(|_| stream.role == Role::Source) {
            tcp::try_congestion(cc).map_err(|error| error.to_string())?;
        }
    }
    if per_s > f64::from(session.limits.datagrams_per_s) {
        return Err(format!(
            "calls, traces and loads by UDP of {per_s:.0} datagrams a second - this server allows {}",
            session.limits.datagrams_per_s
        ));
    }
    if taken > f64::from(session.limits.datagrams_per_s) {
        return Err(format!(
            "calls and loads by UDP of {taken:.0} datagrams a second - this server takes {}",
            session.limits.datagrams_per_s
        ));
    }
    if arrivals > MOST_ARRIVALS {
        return Err(format!(
            "calls of {arrivals} datagrams - this server records at most {MOST_ARRIVALS}"
        ));
    }
    Ok(())
}

/// Datagrams a second that the client sends on a stream without waiting for answers.
fn expected(stream: &StreamSetup) -> f64 {
    match stream.role {
        Role::Sink if stream.transport == Transport::Udp => per_second(stream),
        Role::Listen { every } => 1.0 / every.0.as_secs_f64(),
        _ => 0.0,
    }
}

/// Datagrams a second of a load by UDP.
fn per_second(stream: &StreamSetup) -> f64 {
    let each = stream.rate.map(interval);
    each.map_or(0.0, |each| 1.0 / each.as_secs_f64())
}

/// Datagrams a second that the server sends for a stream without a request for each.
fn unasked(stream: &StreamSetup) -> f64 {
    match stream.role {
        Role::Source if stream.transport == Transport::Udp => per_second(stream),
        Role::Talk { every, .. } => 1.0 / every.0.as_secs_f64(),
        // One to each hop.
        Role::Trace { every, hops } => f64::from(hops) / every.0.as_secs_f64(),
        Role::Echo { .. } | Role::Listen { .. } | Role::Sink | Role::Source => 0.0,
    }
}

impl Far<'_> {
    /// Serves all streams until the client says something, or is gone.
    fn run(&self, control: &mut Control, loads: Option<Loads>) -> Result<Near, Error> {
        std::thread::scope(|scope| {
            let abort = || self.stop.load(Ordering::Relaxed) || self.session.is_closed();
            // Whatever goes wrong here, a thread that was not told to end would hold the session for ever.
            let _stop = StopOnDrop(&self.stop);
            let session = self.session;
            start(scope, session, || self.sampler.run(&self.stop));
            start(scope, session, || self.accept(scope));
            if let Some(loads) = loads {
                start(scope, session, move || self.accept_quic(scope, &loads));
            }
            for stream in &self.setup.streams {
                let is_udp = stream.transport == Transport::Udp;
                if is_udp || matches!(stream.role, Role::Talk { .. } | Role::Trace { .. }) {
                    start(scope, session, move || self.datagrams(stream, &abort));
                }
            }
            let patience = self.sampler.origin().since(clock::now()) + self.setup.total.0 + GRACE;
            let next = control.recv::<Near>(patience);
            self.stop.store(true, Ordering::Relaxed);
            next
        })
    }

    /// Takes the session's TCP streams and serves each in a thread of its own.
    fn accept<'scope>(&'scope self, scope: &'scope std::thread::Scope<'scope, '_>) {
        let mut waiting: Vec<&StreamSetup> = self.setup.streams.iter().collect();
        let abort = || self.stop.load(Ordering::Relaxed) || self.session.is_closed();
        while !abort() {
            let Some(stream) = self.session.next_stream(kit::stream::PATIENCE) else {
                continue;
            };
            // Each stream of the plan is opened once; anything else is closed here.
            let id = stream.preamble.stream;
            if stream.preamble.kind != STREAM_KIND {
                continue;
            }
            let is_it = |setup: &&StreamSetup| setup.id == id && setup.transport.is_tcp();
            let Some(index) = waiting.iter().position(is_it) else {
                continue;
            };
            let setup = waiting.swap_remove(index);
            let work = move || serve_stream(stream, setup, &self.sampler, &abort);
            start(scope, self.session, work);
        }
    }

    /// Sends what was sampled.
    fn finish(
        self,
        control: &mut Control,
        mailboxes: Vec<Opened>,
        cpu_before: Option<OwnCpu>,
    ) -> Result<(), Error> {
        let rows = self.sampler.into_sink();
        let lost = rows.lost.into_inner();
        let all = rows
            .rows
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let send = messages::Far::Rows;
        control.send_rows(all, ROWS_PER_LINE, send)?;
        let mut calls_lost = 0;
        for mailbox in mailboxes {
            calls_lost += mailbox.lost.load(Ordering::Relaxed);
            let rows = mailbox.take().into_iter().map(Row::Call);
            control.send_rows(rows, ROWS_PER_LINE, send)?;
        }
        let used = OwnCpu::now()
            .ok()
            .zip(cpu_before)
            .map(|(now, before)| now.since(&before).total());
        control.send(&messages::Far::Done(Box::new(Done {
            process_cpu_s: used.unwrap_or_default().as_secs_f64(),
            rows_lost: lost + calls_lost,
            replied: self.session.counters.replied.load(Ordering::Relaxed),
            refused: self.session.counters.refused.load(Ordering::Relaxed),
        })))
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
    prepare_accepted(&socket, setup.class, setup.cc.as_deref());
    let read = sampler.begin(setup.id, setup.role.direction(), &socket);
    let mut end = StreamEnd {
        id: setup.id,
        class_seen: seen.map(TrafficClass::octet),
        ..StreamEnd::default()
    };
    match setup.role {
        // A broken connection ends the stream; the near end reports it.
        Role::Echo { size } => drop(tcp_rr::echo(&socket, size.into(), abort)),
        Role::Sink => {
            let first = load::receive(&socket, &read, abort);
            end.first_byte_ns = first.map(|first| sampler.since_origin(first));
        }
        Role::Source => {
            // A load that cannot be limited is none: the near end reports that the connection ended before its time.
            if load::limit(&socket, setup.rate).is_ok() {
                load::send(&socket, sampler.origin() + setup.stop.0, abort);
            }
        }
        // These have no connections: whoever opens one for them is left alone with it.
        Role::Listen { .. } | Role::Talk { .. } | Role::Trace { .. } => {}
    }
    sampler.end(end);
    slot.count(&*socket);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(role: Role) -> StreamSetup {
        StreamSetup {
            id: 0,
            role,
            transport: Transport::Tcp,
            class: units::Dscp::CS0,
            cc: None,
            rate: None,
            start: units::Span(Duration::ZERO),
            stop: units::Span(Duration::ZERO),
        }
    }

    #[test]
    fn a_load_by_udp_sends_as_many_datagrams_as_its_rate_has() {
        let load = StreamSetup {
            transport: Transport::Udp,
            rate: units::Rate::from_bps(9_600_000),
            ..setup(Role::Source)
        };
        assert!((unasked(&load) - 1_000.0).abs() < 1e-6);
        let load = StreamSetup {
            role: Role::Sink,
            ..load
        };
        assert!((expected(&load) - 1_000.0).abs() < 1e-6 && unasked(&load).abs() < 1e-9);
    }

    #[test]
    fn a_trace_sends_a_datagram_to_each_hop() {
        let every = |milliseconds| units::Span::from_millis(milliseconds);
        let table = [
            (
                Role::Trace {
                    every: every(500),
                    hops: 30,
                },
                60.0,
            ),
            (
                Role::Talk {
                    size: 200,
                    every: every(20),
                },
                50.0,
            ),
            (Role::Listen { every: every(20) }, 0.0),
            (Role::Source, 0.0),
        ];
        for (role, per_s) in table {
            assert!((unasked(&setup(role)) - per_s).abs() < 1e-9, "{role:?}");
        }
    }
}
