//! Load by UDP at the near end, either way.

use super::NearStream;
use crate::run::Peer;
use crate::stream::udp_load::{self, LATE};
use crate::streams::Kind;
use kit::sampler::{Carrier, DatagramCounters, StreamEnd};
use kit::stream::DRAIN;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl NearStream<'_> {
    pub(super) fn udp_load(
        &self,
        peer: &Peer,
        address: SocketAddr,
        abort: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        let plan = self.plan;
        let rate = plan.rate.ok_or("it has no rate")?;
        let socket = Self::socket(address)?;
        let line = self.line(peer, &socket);
        self.opened();
        let counters = Arc::new(DatagramCounters::default());
        let carrier = Carrier::Udp(Arc::clone(&counters));
        self.sampler.begin(plan.id, plan.kind.direction(), carrier);
        let mut end = StreamEnd {
            id: plan.id,
            ..StreamEnd::default()
        };
        // What is in a queue at the load's end may still arrive.
        let last = self.sampler.origin() + self.run.total();
        let told = |error: sys::Error| error.to_string();
        let done = if plan.kind == Kind::Down {
            let until = (self.until() + LATE).min(last);
            let key = &peer.dialer.keys().to_client;
            udp_load::receive(&line, key, until, &counters, abort).map_err(told)
        } else {
            let start = self.sampler.origin() + plan.start;
            let until = self.until().min(last - DRAIN);
            let sent = udp_load::send(&line, rate, (start, until), &counters, abort);
            // Whoever is interrupted does not wait for what is on its way.
            let count = u32::try_from(counters.sent.load(Ordering::Relaxed)).ok();
            end.sent = count.filter(|_| !abort());
            sent.map_err(told)
        };
        let first = counters.first.get();
        end.first_byte_ns = first.map(|first| self.sampler.since_origin(*first));
        end.overflows = counters.overflows.load(Ordering::Relaxed);
        self.sampler.end(end);
        done
    }
}
