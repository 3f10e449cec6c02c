//! The streams of a run at the near end.

use super::collector::Finding;
use super::messages::{STREAM_KIND, StreamEnd};
use super::sampler::Sampler;
use super::stream::{self, load, tcp_rr, udp_rr};
use super::streams::{Kind, StreamPlan};
use record::tables::Sample;
use session::{ClockOffset, Dialer};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;
use sys::clock;
use units::Instant;

/// How long a TCP stream may take to connect.
const CONNECT: Duration = Duration::from_secs(10);
/// A load stream that ends this long before its time was broken. (One that is sent to us ends by the far end's clock.)
const EARLY: Duration = Duration::from_secs(1);

/// One stream at the near end.
pub(super) struct NearStream<'a> {
    pub(super) plan: &'a StreamPlan,
    pub(super) peer: SocketAddr,
    pub(super) dialer: &'a Dialer,
    pub(super) sampler: &'a Sampler<SyncSender<Finding>>,
    pub(super) clock: ClockOffset,
    pub(super) stop: &'a AtomicBool,
}

impl NearStream<'_> {
    /// Waits for the stream's start, and does what it is for until its end.
    pub(super) fn run(&self) {
        let abort = || self.stop.load(Ordering::Relaxed);
        let start = self.sampler.origin() + self.plan.start;
        if !stream::wait_until(start, &abort) {
            return;
        }
        let done = match self.plan.kind {
            Kind::Down | Kind::Up | Kind::TcpRr => self.tcp(&abort),
            Kind::UdpRr => self.udp_rr(&abort),
        };
        if let Err(reason) = done {
            self.tell(Finding::Failed {
                stream: self.plan.id,
                reason,
            });
        }
    }

    fn tell(&self, finding: Finding) {
        // A collector that is gone needs no findings.
        let _ = self.sampler.sink().send(finding);
    }

    fn until(&self) -> Instant {
        self.sampler.origin() + self.plan.stop
    }

    fn tcp(&self, abort: &dyn Fn() -> bool) -> Result<(), String> {
        let plan = self.plan;
        let prepare = |socket: &socket2::Socket| stream::prepare(socket, plan.class, plan.cc());
        let opened = self
            .dialer
            .open(self.peer, plan.id, STREAM_KIND, CONNECT, prepare)
            .map_err(|error| error.to_string())?;
        let connected_ns = self.sampler.since_origin(opened.established);
        self.tell(Finding::Opened {
            stream: plan.id,
            connected_ns,
        });
        let socket = Arc::new(opened.socket);
        self.sampler.begin(plan.id, plan.kind.direction(), &socket);
        let mut end = StreamEnd {
            id: plan.id,
            ..StreamEnd::default()
        };
        let mut failure = None;
        match plan.kind {
            Kind::Down => {
                let first = load::receive(&socket, abort);
                end.first_byte_ns = first.map(|first| self.sampler.since_origin(first));
            }
            Kind::Up => load::send(&socket, self.until(), abort),
            Kind::TcpRr | Kind::UdpRr => {
                let each = |exchange| self.tell(Finding::Sample(self.tcp_sample(&exchange)));
                let asked = tcp_rr::ask(&socket, plan.size, plan.gap, self.until(), abort, each);
                failure = asked.err().map(|error| error.to_string());
            }
        }
        self.sampler.end(end);
        if failure.is_none() && !abort() && clock::now() + EARLY < self.until() {
            failure = Some("the connection ended before its time".to_owned());
        }
        failure.map_or(Ok(()), Err)
    }

    fn tcp_sample(&self, exchange: &tcp_rr::Exchange) -> Sample {
        Sample {
            t_ns: self.sampler.since_origin(exchange.sent),
            stream: self.plan.id,
            seq: exchange.sequence,
            rtt_ns: Some(nanos(exchange.rtt)),
            clock: "user".into(),
            tos_sent: self.plan.class.get() << 2,
            ..Sample::default()
        }
    }

    fn udp_rr(&self, abort: &dyn Fn() -> bool) -> Result<(), String> {
        let exchange = udp_rr::Exchange {
            session: self.dialer.session(),
            keys: *self.dialer.keys(),
            peer: self.peer,
            stream: self.plan.id,
            class: self.plan.class,
            size: self.plan.size,
            gap: self.plan.gap,
            until: self.until(),
            offset_ns: self.clock.offset_ns,
        };
        self.tell(Finding::Opened {
            stream: self.plan.id,
            connected_ns: self.sampler.since_origin(clock::now()),
        });
        let each = |outcome| self.tell(Finding::Sample(self.udp_sample(&outcome)));
        exchange.run(abort, each).map_err(|error| error.to_string())
    }

    fn udp_sample(&self, outcome: &udp_rr::Outcome) -> Sample {
        let reply = outcome.reply.as_ref();
        let kernel = reply.is_some_and(|reply| reply.kernel);
        Sample {
            t_ns: self.sampler.since_origin(outcome.sent),
            stream: self.plan.id,
            seq: outcome.sequence.into(),
            rtt_ns: reply.map(|reply| nanos(reply.rtt)),
            owd_up_ns: reply.map(|reply| reply.owd_up_ns),
            owd_down_ns: reply.map(|reply| reply.owd_down_ns),
            lost: reply.is_none(),
            late: reply.is_some_and(|reply| reply.late),
            clock: if kernel { "kernel" } else { "user" }.into(),
            tos_sent: self.plan.class.get() << 2,
            tos_seen_far: reply.and_then(|reply| reply.class_far),
            tos_seen_near: reply.and_then(|reply| reply.class_near),
        }
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
