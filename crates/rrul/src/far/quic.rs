//! Load over QUIC at the far end.

use super::{Far, Rows};
use crate::messages::{Role, STREAM_KIND, StreamSetup};
use crate::plan::Transport;
use kit::far::start;
use kit::sampler::{Carrier, Sampler, StreamEnd};
use session::Slot;
use std::sync::atomic::Ordering;
use std::thread::Scope;
use std::time::Duration;
use web::bulk::{Bulk, Loads};

/// How long after its end a load may still arrive.
const LATE: Duration = Duration::from_secs(1);

impl Far<'_> {
    /// Takes the session's streams over QUIC and serves each in a thread of its own.
    pub(super) fn accept_quic<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        loads: &Loads,
    ) {
        let all = self.setup.streams.iter();
        let mut waiting: Vec<&StreamSetup> =
            all.filter(|s| s.transport == Transport::Quic).collect();
        let abort = || self.stop.load(Ordering::Relaxed) || self.session.is_closed();
        while !abort() {
            let Some(bulk) = loads.next(kit::stream::PATIENCE) else {
                continue;
            };
            // As with TCP: each stream of the plan is opened once; anything else is closed here.
            let Some((preamble, slot)) = self.session.admit(bulk.greeting()) else {
                continue;
            };
            let id = preamble.stream;
            let index = waiting.iter().position(|setup| setup.id == id);
            let Some(index) = index.filter(|_| preamble.kind == STREAM_KIND) else {
                continue;
            };
            let setup = waiting.swap_remove(index);
            let work = move || serve(bulk, &slot, setup, &self.sampler, &abort);
            start(scope, self.session, work);
        }
    }
}

fn serve(
    mut bulk: Bulk,
    slot: &Slot,
    setup: &StreamSetup,
    sampler: &Sampler<Rows>,
    abort: &dyn Fn() -> bool,
) {
    let carrier = Carrier::Quic(bulk.watch());
    let read = sampler.begin(setup.id, setup.role.direction(), carrier);
    let mut end = StreamEnd {
        id: setup.id,
        ..StreamEnd::default()
    };
    let until = sampler.origin() + setup.stop.0;
    match setup.role {
        Role::Source => {
            // A broken connection ends the stream; the near end reports it.
            let _ = bulk.send(until, setup.rate, abort);
        }
        Role::Sink => {
            let first = bulk.receive(&read, until + LATE, abort);
            end.first_byte_ns = first.map(|first| sampler.since_origin(first));
        }
        // These have no connections over QUIC.
        Role::Echo { .. } | Role::Listen { .. } | Role::Talk { .. } | Role::Trace { .. } => {}
    }
    sampler.end(end);
    let (received, sent) = bulk.octets();
    slot.add(received, sent);
}
