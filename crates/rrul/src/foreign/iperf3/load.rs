//! The load of a test: its streams, and the conversation around them.

use super::control::{ANSWER, Claim, ordered};
use crate::collector::Finding;
use crate::foreign::Load;
use crate::streams::{Kind, StreamPlan};
use far_ends::iperf3::{COOKIE, Event, Results, Stream, stream_id};
use kit::sampler::StreamEnd;
use kit::{load, stream};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use sys::{clock, tcp};
use units::Instant;

/// A stream that ends this long before its time was broken.
const EARLY: Duration = Duration::from_secs(1);

/// A stream that is open.
struct Opened<'a> {
    plan: &'a StreamPlan,
    socket: Arc<TcpStream>,
    /// Octets that the program has read of it.
    read: Arc<AtomicU64>,
}

impl Load<'_> {
    /// Waits for the load's time, has it, and hears how the server saw it: the far end of each stream.
    pub(in crate::foreign) fn by_iperf3(&self, mut claim: Claim) -> Result<Vec<StreamEnd>, String> {
        let plan = self.plan;
        let abort = || self.is_stopped();
        let until = self.sampler.origin() + plan.load_end();
        if !stream::wait_until(self.sampler.origin() + plan.load_start(), &abort) {
            claim.give_up();
            return Ok(Vec::new());
        }
        let streams = self.open(&claim)?;
        match claim.next(clock::now() + ANSWER, &abort)? {
            Some(Event::Run) => {}
            Some(Event::Failed(reason)) => return Err(reason),
            _ if abort() => {
                claim.give_up();
                return Ok(Vec::new());
            }
            _ => return Err("the server did not begin the test".to_owned()),
        }
        let over = AtomicBool::new(false);
        let ended = std::thread::scope(|scope| {
            for stream in &streams {
                let over = &over;
                scope.spawn(move || self.stream(stream, until, over));
            }
            let ended = self.wait(&mut claim, until);
            if ended.is_ok() {
                claim.end(results(&streams, plan.duration.0));
            }
            // The server closes what it sends on when it hears of the end.
            let told = ended.and_then(|()| self.hear(&mut claim));
            over.store(true, Ordering::Relaxed);
            told
        })?;
        let Some(theirs) = ended else {
            claim.give_up();
            return Ok(Vec::new());
        };
        Ok(far_ends(&streams, &theirs))
    }

    /// Opens the streams, one after the other: the server numbers them as they come.
    fn open(&self, claim: &Claim) -> Result<Vec<Opened<'_>>, String> {
        let mut opened = Vec::new();
        for plan in ordered(self.streams) {
            let socket = open(claim.to, plan, &claim.cookie);
            let socket = socket.map_err(|error| format!("{}: {error}", plan.name))?;
            let socket = Arc::new(socket);
            let connected_ns = self.sampler.since_origin(clock::now());
            self.tell(Finding::Opened {
                stream: plan.id,
                connected_ns,
            });
            let read = self.sampler.begin(plan.id, plan.kind.direction(), &socket);
            opened.push(Opened { plan, socket, read });
        }
        Ok(opened)
    }

    fn stream(&self, stream: &Opened<'_>, until: Instant, over: &AtomicBool) {
        let Opened { plan, socket, read } = stream;
        let abort = || self.is_stopped() || over.load(Ordering::Relaxed);
        let mut end = StreamEnd {
            id: plan.id,
            ..StreamEnd::default()
        };
        if plan.kind == Kind::Up {
            load::send(socket, until, &abort);
        } else {
            let first = load::receive(socket, read, &abort);
            end.first_byte_ns = first.map(|first| self.sampler.since_origin(first));
        }
        self.sampler.end(end);
        if !abort() && clock::now() + EARLY < until {
            let reason = "the connection ended before its time".to_owned();
            let stream = plan.id;
            self.tell(Finding::Failed { stream, reason });
        }
    }

    /// Lets the load's time pass, as long as the server has nothing to say.
    fn wait(&self, claim: &mut Claim, until: Instant) -> Result<(), String> {
        match claim.next(until, &|| self.is_stopped())? {
            None => Ok(()),
            Some(Event::Failed(reason)) => Err(reason),
            Some(_) => Err("the server ended the test before its time".to_owned()),
        }
    }

    /// What the server saw; none where nobody waits for it any more.
    fn hear(&self, claim: &mut Claim) -> Result<Option<Results>, String> {
        match claim.next(clock::now() + ANSWER, &|| self.is_interrupted())? {
            Some(Event::Results(results)) => Ok(Some(results)),
            Some(Event::Failed(reason)) => Err(reason),
            _ if self.is_interrupted() => Ok(None),
            _ => Err("the server did not tell what arrived there".to_owned()),
        }
    }
}

/// A connection of the test.
fn open(to: SocketAddr, plan: &StreamPlan, cookie: &[u8; COOKIE]) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP))?;
    stream::prepare(&socket, plan.class, plan.cc())?;
    socket.connect_timeout(&to.into(), ANSWER)?;
    let mut socket = TcpStream::from(socket);
    if plan.kind == Kind::Up {
        load::limit(&socket, plan.rate).map_err(io::Error::other)?;
    }
    socket.write_all(cookie)?;
    Ok(socket)
}

/// How the streams went at this end.
fn results(streams: &[Opened<'_>], time: Duration) -> Results {
    let stream = |(index, opened): (usize, &Opened<'_>)| {
        let Opened { plan, socket, .. } = opened;
        let info = tcp::info(&**socket).unwrap_or_default();
        let is_up = plan.kind == Kind::Up;
        let sent = info
            .bytes_acked
            .map(|bytes| bytes.saturating_sub(COOKIE as u64));
        let bytes = if is_up { sent } else { info.bytes_received };
        Stream {
            id: stream_id(index),
            bytes: bytes.unwrap_or_default(),
            retransmits: info.total_retrans.map(u64::from).filter(|_| is_up),
            time,
            ..Stream::default()
        }
    };
    Results {
        cpu_pct: [0.0; 3],
        congestion: streams.iter().find_map(|opened| {
            let sends = opened.plan.kind == Kind::Up;
            sends
                .then(|| tcp::congestion(&*opened.socket).ok())
                .flatten()
        }),
        streams: streams.iter().enumerate().map(stream).collect(),
    }
}

/// How the streams went at the server's end.
fn far_ends(streams: &[Opened<'_>], theirs: &Results) -> Vec<StreamEnd> {
    let ends = streams.iter().enumerate();
    ends.filter_map(|(index, Opened { plan, .. })| {
        let stream = theirs.stream(index)?;
        let is_up = plan.kind == Kind::Up;
        Some(StreamEnd {
            id: plan.id,
            received_bytes: is_up.then_some(stream.bytes),
            retransmits: stream.retransmits.filter(|_| !is_up),
            cc: theirs.congestion.clone().filter(|_| !is_up),
            ..StreamEnd::default()
        })
    })
    .collect()
}
