//! Load by UDP at the far end.

use super::{Far, datagrams};
use crate::messages::{Role, StreamSetup};
use crate::stream::udp_load::{self, LATE};
use kit::mailbox::Mailbox;
use kit::sampler::{Carrier, StreamEnd};
use kit::stream::{DRAIN, wait_until};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Far<'_> {
    /// Sends a load, or counts one.
    pub(super) fn udp_load(
        &self,
        stream: &StreamSetup,
        mailbox: &Mailbox,
        abort: &dyn Fn() -> bool,
    ) {
        let Some(counters) = mailbox.counters() else {
            return;
        };
        let origin = self.sampler.origin();
        let carrier = Carrier::Udp(Arc::clone(&counters));
        let direction = stream.role.direction();
        self.sampler.begin(stream.id, direction, carrier);
        let mut end = StreamEnd {
            id: stream.id,
            ..StreamEnd::default()
        };
        let last = origin + self.setup.total.0;
        if stream.role == Role::Sink {
            wait_until((origin + stream.stop.0 + LATE).min(last), abort);
            let first = counters.first.get();
            end.first_byte_ns = first.map(|first| self.sampler.since_origin(*first));
        } else if let Some((peer, rate)) = datagrams::peer(mailbox, abort).zip(stream.rate) {
            let line = self.line(stream, &peer);
            let until = (origin + stream.stop.0).min(last - DRAIN);
            // What cannot be sent the near end misses.
            let when = (origin + stream.start.0, until);
            let _ = udp_load::send(&line, rate, when, &counters, abort);
            // Whoever is interrupted does not wait for what is on its way.
            let count = u32::try_from(counters.sent.load(Ordering::Relaxed)).ok();
            end.sent = count.filter(|_| !abort());
            self.session.meter.add(0, udp_load::octets(&counters.sent));
        }
        self.sampler.end(end);
    }
}
