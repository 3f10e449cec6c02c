//! The load of an ndt7 server: one connection each way.
//!
//! Neither waits for the other, and nobody is claimed: such a server has many clients. What it tells of its TCP while it sends becomes
//! rows of the far end.

mod told;

use super::Load;
use crate::collector::Finding;
use crate::streams::{Kind, StreamPlan};
use bytes::Bytes;
use far_ends::ndt7::{MessageSize, Test};
use kit::sampler::StreamEnd;
use kit::secret::secret;
use kit::{load, stream};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use sys::clock;
use told::Told;
use web::Trust;
use web::ndt7::client::{self, Dialer, Event};
use web::websocket::filler;

/// How long the server may take to accept a connection.
const ANSWER: Duration = Duration::from_secs(5);
/// Octets that wait unsent in TCP: gone at once when the load ends.
const MOST_UNSENT: u32 = 128 << 10;

/// A server that has been reached.
pub struct Ndt7 {
    dialer: Dialer,
    to: SocketAddr,
}

impl Ndt7 {
    /// The server `host` at `to`, unless `abort` says to stop.
    ///
    /// # Errors
    /// When there is none, or one that is not trusted.
    pub fn reach(
        to: SocketAddr,
        host: &str,
        trust: &Trust,
        abort: &dyn Fn() -> bool,
    ) -> anyhow::Result<Self> {
        let dialer = Dialer::new(host, trust).map_err(anyhow::Error::msg)?;
        let stream = TcpStream::connect_timeout(&to, ANSWER).map_err(|error| {
            anyhow::anyhow!(
                "no ndt7 server at {to}: {error} - run 'isobath serve --also ndt7' there, and name its port: ndt7://HOST:4443"
            )
        })?;
        let tried = dialer.try_out(stream, abort);
        tried.map_err(anyhow::Error::msg)?;
        Ok(Self { dialer, to })
    }
}

impl Load<'_> {
    /// Waits for the load's time and has it: the far end of each stream, as far as the server tells.
    pub(super) fn by_ndt7(&self, server: &Ndt7) -> Result<Vec<StreamEnd>, String> {
        let abort = || self.is_stopped();
        if !stream::wait_until(self.sampler.origin() + self.plan.load_start(), &abort) {
            return Ok(Vec::new());
        }
        let filler = filler(secret(), MessageSize::LONGEST);
        let is_load = |plan: &&StreamPlan| matches!(plan.kind, Kind::Up | Kind::Down);
        let streams = self.streams.iter().filter(is_load);
        let ended: Vec<_> = std::thread::scope(|scope| {
            let filler = &filler;
            let carry = |plan| scope.spawn(move || self.carry(plan, server, filler));
            let threads: Vec<_> = streams.map(carry).collect();
            let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
            joined
                .map(|done| done.unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        });
        let failed = ended.iter().filter(|done| done.is_err()).count();
        if failed == ended.len() && !self.is_stopped() {
            let mut reasons = ended.into_iter().filter_map(Result::err);
            return reasons.next().map_or(Ok(Vec::new()), Err);
        }
        Ok(ended.into_iter().flatten().flatten().collect())
    }

    /// One stream; what the server tells of it.
    fn carry(
        &self,
        plan: &StreamPlan,
        server: &Ndt7,
        filler: &Bytes,
    ) -> Result<Option<StreamEnd>, String> {
        let carried = self.carry_to_the_end(plan, server, filler);
        carried.or_else(|reason| {
            if self.is_stopped() {
                return Ok(None);
            }
            self.tell(Finding::Failed {
                stream: plan.id,
                reason: reason.clone(),
            });
            Err(format!("{}: {reason}", plan.name))
        })
    }

    fn carry_to_the_end(
        &self,
        plan: &StreamPlan,
        server: &Ndt7,
        filler: &Bytes,
    ) -> Result<Option<StreamEnd>, String> {
        let opened = open(server.to, plan).and_then(|socket| Ok((socket.try_clone()?, socket)));
        let (own, socket) = opened.map_err(|error| error.to_string())?;
        let connected_ns = self.sampler.since_origin(clock::now());
        self.tell(Finding::Opened {
            stream: plan.id,
            connected_ns,
        });
        let socket = Arc::new(socket);
        let read = self.sampler.begin(plan.id, plan.kind.direction(), &socket);
        let (mut first, mut told) = (None, Told::default());
        let abort = || self.is_stopped();
        let load = client::Load {
            until: self.sampler.origin() + self.plan.load_end(),
            abort: &abort,
            filler,
        };
        let done = server
            .dialer
            .carry(test(plan), own, load, &mut |event| match event {
                Event::Begun => told.begun = Some(clock::now()),
                Event::Received(octets) => {
                    first.get_or_insert_with(clock::now);
                    read.fetch_add(octets as u64, Ordering::Relaxed);
                }
                // A server that receives tells no round trips of its load.
                Event::Told(said) if plan.kind == Kind::Down => {
                    if let Some(row) = told.row(&said, plan.id, self.sampler.origin(), clock::now())
                    {
                        self.tell(Finding::Series(row));
                    }
                }
                Event::Told(_) => {}
            });
        // What is still unsent would load the path while it should be seen to calm down.
        let _ = SockRef::from(&*socket).set_linger(Some(Duration::ZERO));
        self.sampler.end(StreamEnd {
            id: plan.id,
            first_byte_ns: first.map(|first| self.sampler.since_origin(first)),
            ..StreamEnd::default()
        });
        done?;
        Ok(told.last.total_retrans.map(|retransmits| StreamEnd {
            id: plan.id,
            retransmits: Some(retransmits),
            ..StreamEnd::default()
        }))
    }
}

const fn test(plan: &StreamPlan) -> Test {
    match plan.kind {
        Kind::Up => Test::Upload,
        _ => Test::Download,
    }
}

fn open(to: SocketAddr, plan: &StreamPlan) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP))?;
    stream::prepare(&socket, plan.class, plan.cc())?;
    socket.connect_timeout(&to.into(), ANSWER)?;
    socket.set_tcp_nodelay(true)?;
    let socket = TcpStream::from(socket);
    load::limit(&socket, plan.rate).map_err(io::Error::other)?;
    // Where the kernel does not know it, the end of the load is less sharp.
    let _ = sys::tcp::set_unsent_limit(&socket, MOST_UNSENT);
    Ok(socket)
}
