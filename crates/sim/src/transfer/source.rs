//! The sender's host.

use super::{End, Observer, Outcome, Plan, Side};
use crate::{Addressed, NodeId, Parcel};
use path::Family;
use std::time::Duration;
use transport::wire::Datagram;
use transport::{Ack, Sender, Sent};
use units::{Dscp, Ecn, FlowId, Instant};

/// How long a transfer may go without progress before it is given up: longer than the longest retransmission timeout that
/// the standards know (RFC 6298 section 2.5: at least 60 s; kernels have 120 s), twice.
const PATIENCE: Duration = Duration::from_secs(300);

/// A host that sends one transfer.
pub struct Source<O> {
    pub(super) route: Route,
    plan: Plan,
    sender: Sender,
    phase: Phase,
    /// When something new was acknowledged last.
    progress: Instant,
    pub(super) observer: O,
}

/// Between whom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    /// This host.
    pub(super) here: NodeId,
    /// The other end's.
    pub(super) there: NodeId,
    /// What elements that treat flows apart know the packets by.
    pub(super) flow: FlowId,
}

impl Route {
    /// A packet of `size` octets to the other end.
    pub(super) fn packet(
        &self,
        size: u32,
        ecn: Ecn,
        at: Instant,
        payload: Datagram,
    ) -> Parcel<Datagram> {
        path::Packet {
            size,
            flow: self.flow,
            family: Family::V4,
            dscp: Dscp::CS0,
            ecn,
            at,
            body: Addressed {
                from: self.here,
                to: self.there,
                payload,
            },
        }
    }
}

/// How far the transfer is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    Waiting,
    Sending,
    Over(Over),
}

/// The counters at the end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Over {
    pub(super) outcome: Outcome,
    pub(super) at: Instant,
    pub(super) sent: Sent,
}

impl<O: Observer> Source<O> {
    pub(super) fn new(plan: Plan, route: Route, observer: O) -> Self {
        Self {
            route,
            sender: Sender::new(&plan.options, plan.seed).trusting(),
            plan,
            phase: Phase::Waiting,
            progress: Instant::ZERO,
            observer,
        }
    }

    pub(super) fn handle_ack(&mut self, ack: &Ack, ecn: Ecn, now: Instant) {
        if self.phase != Phase::Sending {
            return;
        }
        self.observer
            .packet(Side::Sender, &Datagram::Ack(*ack), ecn, now);
        let acked = self.sender.sent().acked;
        self.sender.handle_ack(ack, now);
        if self.sender.sent().acked > acked {
            self.progress = now;
        }
        self.told(now);
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        match self.phase {
            Phase::Waiting if now >= self.start() => self.begin(now),
            Phase::Sending if self.stop().is_some_and(|stop| now >= stop) => {
                self.finish(Outcome::Time, now);
            }
            Phase::Sending if now >= self.progress + PATIENCE => {
                self.finish(Outcome::Stalled, self.progress);
            }
            Phase::Sending => {
                self.sender.handle_timeout(now);
                self.told(now);
            }
            Phase::Waiting | Phase::Over(_) => {}
        }
    }

    pub(super) fn poll_transmit(&mut self, now: Instant) -> Option<Parcel<Datagram>> {
        if self.phase != Phase::Sending {
            return None;
        }
        let segment = self.sender.poll_transmit(now)?;
        // RFC 3168 section 6.1.5 forbids it on retransmissions; without headers of TCP's own nobody can abuse it here.
        let ecn = if self.plan.options.ecn {
            Ecn::Ect0
        } else {
            Ecn::NotEct
        };
        let body = Datagram::Segment(segment);
        self.observer.packet(Side::Sender, &body, ecn, now);
        let size = self.plan.headers.of_segment(&segment);
        Some(self.route.packet(size, ecn, now, body))
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        match self.phase {
            Phase::Waiting => Some(self.start()),
            Phase::Sending => {
                let own = [self.stop(), Some(self.progress + PATIENCE)];
                own.into_iter()
                    .chain([self.sender.next_timeout()])
                    .flatten()
                    .min()
            }
            Phase::Over(_) => None,
        }
    }

    /// What the transfer was to do.
    pub(super) const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What has been sent, and how it ended if it has.
    pub(super) fn counters(&self) -> (Sent, Option<Over>) {
        match self.phase {
            Phase::Over(over) => (over.sent, Some(over)),
            Phase::Waiting | Phase::Sending => (self.sender.sent(), None),
        }
    }

    fn begin(&mut self, now: Instant) {
        self.phase = Phase::Sending;
        self.progress = now;
        match self.plan.end {
            End::After(_) => self.sender.supply(u32::MAX),
            End::Segments(count) => self.sender.supply(count),
        }
        self.told(now);
    }

    /// The sender has been told something.
    fn told(&mut self, now: Instant) {
        self.observer.sender(&mut self.sender, now);
        if let End::Segments(count) = self.plan.end
            && self.sender.sent().acked >= u64::from(count)
        {
            self.finish(Outcome::Complete, now);
        }
    }

    fn finish(&mut self, outcome: Outcome, at: Instant) {
        let sent = self.sender.sent();
        self.phase = Phase::Over(Over { outcome, at, sent });
    }

    fn start(&self) -> Instant {
        Instant::ZERO + self.plan.start
    }

    fn stop(&self) -> Option<Instant> {
        match self.plan.end {
            End::After(time) => Some(self.start() + time),
            End::Segments(_) => None,
        }
    }
}
