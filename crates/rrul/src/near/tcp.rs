//! TCP at the near end: load either way, and round trips over a connection.

use super::NearStream;
use crate::collector::Finding;
use crate::messages::STREAM_KIND;
use crate::run::Peer;
use crate::stream::tcp_rr;
use crate::streams::Kind;
use kit::load;
use kit::sampler::StreamEnd;
use schema::tables::Sample;
use std::net::SocketAddr;
use std::sync::Arc;

impl NearStream<'_> {
    pub(super) fn tcp(
        &self,
        peer: &Peer,
        address: SocketAddr,
        abort: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        let plan = self.plan;
        let prepare =
            |socket: &socket2::Socket| kit::stream::prepare(socket, plan.class, plan.cc());
        let opened = peer
            .dialer
            .open(address, plan.id, STREAM_KIND, super::CONNECT, prepare)
            .map_err(|error| error.to_string())?;
        let connected_ns = self.sampler.since_origin(opened.established);
        self.tell(Finding::Opened {
            stream: plan.id,
            connected_ns,
        });
        let socket = Arc::new(opened.socket);
        let read = self.sampler.begin(plan.id, plan.kind.direction(), &socket);
        let mut end = StreamEnd {
            id: plan.id,
            ..StreamEnd::default()
        };
        let mut failure = None;
        match plan.kind {
            Kind::Down => {
                let first = load::receive(&socket, &read, abort);
                end.first_byte_ns = first.map(|first| self.sampler.since_origin(first));
            }
            Kind::Up => match load::limit(&socket, plan.rate) {
                Ok(()) => load::send(&socket, self.until(), abort),
                Err(error) => failure = Some(error.to_string()),
            },
            _ => {
                let each = |exchange| self.tell(Finding::Sample(self.tcp_sample(&exchange)));
                let asked = tcp_rr::ask(&socket, plan.size, plan.gap, self.until(), abort, each);
                failure = asked.err().map(|error| error.to_string());
            }
        }
        self.sampler.end(end);
        failure.or_else(|| self.early(abort)).map_or(Ok(()), Err)
    }

    fn tcp_sample(&self, exchange: &tcp_rr::Exchange) -> Sample {
        Sample {
            t_ns: self.sampler.since_origin(exchange.sent),
            stream: self.plan.id,
            seq: exchange.sequence,
            rtt_ns: Some(kit::stream::nanos(exchange.rtt)),
            clock: "user".into(),
            tos_sent: self.plan.marks().octet(),
            ..Sample::default()
        }
    }
}
