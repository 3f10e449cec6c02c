//! The receiver's host.

use super::arrivals::Arrivals;
use super::source::Route;
use super::{Headers, Observer, Plan, Side};
use crate::Parcel;
use transport::wire::Datagram;
use transport::{Receipts, Receiver, Segment};
use units::{Ecn, Instant};

/// A host that receives one transfer.
pub struct Sink<O> {
    route: Route,
    headers: Headers,
    receiver: Receiver,
    arrivals: Arrivals,
    pub(super) observer: O,
}

impl<O: Observer> Sink<O> {
    pub(super) fn new(plan: &Plan, route: Route, observer: O) -> Self {
        Self {
            route,
            headers: plan.headers,
            receiver: Receiver::new(&plan.options),
            arrivals: Arrivals::default(),
            observer,
        }
    }

    pub(super) fn handle_segment(&mut self, segment: &Segment, ecn: Ecn, now: Instant) {
        self.observer
            .packet(Side::Receiver, &Datagram::Segment(*segment), ecn, now);
        if !segment.flags.probe {
            self.arrivals.note(segment.id);
        }
        self.receiver.handle_segment(segment, ecn, now);
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.receiver.handle_timeout(now);
    }

    pub(super) fn poll_transmit(&mut self, now: Instant) -> Option<Parcel<Datagram>> {
        let ack = self.receiver.poll_transmit(now)?;
        let (size, body) = (self.headers.of_ack(&ack), Datagram::Ack(ack));
        self.observer
            .packet(Side::Receiver, &body, Ecn::NotEct, now);
        Some(self.route.packet(size, Ecn::NotEct, now, body))
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        self.receiver.next_timeout()
    }

    /// What has arrived, and how many of the sender's packets that was.
    pub(super) fn counters(&self) -> (Receipts, u64) {
        (self.receiver.receipts(), self.arrivals.count())
    }
}
