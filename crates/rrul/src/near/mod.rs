//! The streams of a run at the near end.

mod datagrams;
pub(crate) mod echo;
mod pages;
mod quic;
mod rehearsal;
mod tcp;
mod udp_load;

pub use pages::{Loaders, Pages};
pub use rehearsal::lengthen;
pub(crate) use rehearsal::{MOST_IDLE, REHEARSED, long_enough};

use super::Plan;
use super::collector::{Finding, Teller};
use super::plan::Transport;
use super::run::Peer;
use super::streams::{Kind, StreamPlan};
use kit::foreign::Found;
use kit::sampler::Sampler;
use session::ClockOffset;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::clock;
use units::Instant;

/// How long a stream may take to connect.
const CONNECT: Duration = Duration::from_secs(10);
/// A load stream that ends this long before its time was broken. (One that is sent to us ends by the far end's clock.)
const EARLY: Duration = Duration::from_secs(1);

/// One stream at the near end.
pub(super) struct NearStream<'a> {
    pub(super) plan: &'a StreamPlan,
    pub(super) peers: &'a [Peer],
    /// For the stream that loads pages.
    pub(super) pages: Option<&'a Pages<'a>>,
    pub(super) run: &'a Plan,
    pub(super) sampler: &'a Sampler<Teller>,
    pub(super) clocks: &'a [ClockOffset],
    /// The far ends beside the run's servers.
    pub(super) beside: &'a [Found],
    pub(super) stop: &'a AtomicBool,
}

impl NearStream<'_> {
    /// Waits for the stream's start, and does what it is for until its end.
    pub(super) fn run(&self) {
        let abort = || self.stop.load(Ordering::Relaxed);
        let start = self.sampler.origin() + self.plan.start;
        if !kit::stream::wait_until(start, &abort) {
            return;
        }
        if self.plan.kind == Kind::Beside {
            let done = echo::beside(self.plan, self.beside, self.sampler, &abort);
            return done.unwrap_or_else(|reason| self.failed(reason));
        }
        let Some((peer, address)) = self.peer() else {
            return self.failed("the server has no address for it".to_owned());
        };
        let done = match self.plan.kind {
            Kind::CallDown => self.call_down(peer, address, &abort),
            Kind::CallUp => self.call_up(peer, address, &abort),
            Kind::Dns => self.dns(peer, address, &abort),
            Kind::Down | Kind::Up => match self.plan.transport {
                Transport::Tcp => self.tcp(peer, address, &abort),
                Transport::Quic => self.quic(peer, address, &abort),
                Transport::Udp => self.udp_load(peer, address, &abort),
            },
            Kind::TcpRr => self.tcp(peer, address, &abort),
            Kind::Https => self.https(peer, address),
            Kind::IcmpRr => echo::echoes(self.plan, address, self.sampler, &abort),
            Kind::TcpConnect => echo::attempts(self.plan, address, self.sampler, &abort),
            Kind::Trace => self.trace(peer, address, &abort),
            Kind::UdpPaced | Kind::UdpRr => self.udp_rr(peer, address, &abort),
            Kind::Web => self.web(peer, address),
            Kind::Beside | Kind::WsRr | Kind::WtRr => {
                Err("the run's servers have no such streams".to_owned())
            }
        };
        if let Err(reason) = done {
            self.failed(reason);
        }
    }

    /// The stream's far end, and its address for it.
    fn peer(&self) -> Option<(&Peer, SocketAddr)> {
        let peer = self.peers.get(usize::from(self.plan.server))?;
        Some((peer, peer.address(self.plan.family)?))
    }

    fn failed(&self, reason: String) {
        let stream = self.plan.id;
        self.tell(Finding::Failed { stream, reason });
    }

    fn tell(&self, finding: Finding) {
        // A collector that is gone needs no findings.
        let _ = self.sampler.sink().0.send(finding);
    }

    fn until(&self) -> Instant {
        self.sampler.origin() + self.plan.stop
    }

    /// What is wrong with a stream that ends now, if its time was not up.
    fn early(&self, abort: &dyn Fn() -> bool) -> Option<String> {
        let is_early = !abort() && clock::now() + EARLY < self.until();
        is_early.then(|| "the connection ended before its time".to_owned())
    }

    /// How far the far end's clock is from ours.
    fn clock(&self) -> ClockOffset {
        let clock = self.clocks.get(usize::from(self.plan.server));
        clock.copied().unwrap_or_default()
    }
}
