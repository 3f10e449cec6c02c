//! Load over QUIC at the near end, either way.

use super::{NearStream, pages};
use crate::collector::Finding;
use crate::messages::STREAM_KIND;
use crate::run::Peer;
use crate::streams::Kind;
use kit::sampler::{Carrier, StreamEnd};
use std::net::SocketAddr;
use web::bulk;

impl NearStream<'_> {
    pub(super) fn quic(
        &self,
        peer: &Peer,
        address: SocketAddr,
        abort: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        let plan = self.plan;
        let target = pages::target(peer, address, plan.class);
        let greeting = peer.dialer.preamble(plan.id, STREAM_KIND);
        let mut bulk = bulk::connect(&target, &greeting, super::CONNECT, abort)?;
        self.tell(Finding::Opened {
            stream: plan.id,
            connected_ns: self.sampler.since_origin(bulk.established()),
        });
        let carrier = Carrier::Quic(bulk.watch());
        let read = self.sampler.begin(plan.id, plan.kind.direction(), carrier);
        let mut end = StreamEnd {
            id: plan.id,
            ..StreamEnd::default()
        };
        let mut failure = None;
        if plan.kind == Kind::Down {
            let first = bulk.receive(&read, self.until() + super::EARLY, abort);
            end.first_byte_ns = first.map(|first| self.sampler.since_origin(first));
        } else {
            failure = bulk.send(self.until(), plan.rate, abort).err();
        }
        self.sampler.end(end);
        failure.or_else(|| self.early(abort)).map_or(Ok(()), Err)
    }
}
