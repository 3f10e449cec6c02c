//! Datagrams at the near end: round trips, calls, look-ups of names, and the path trace.

use super::NearStream;
use crate::collector::Finding;
use crate::run::Peer;
use crate::stream::call::{self, Heard, Talk};
use crate::stream::dns::LookUps;
use crate::stream::line::Line;
use crate::stream::udp_rr;
use crate::streams::Kind;
use crate::tables::CallSample;
use kit::sampler::StreamEnd;
use kit::stream::DRAIN;
use kit::traceroute::Tracer;
use schema::tables::{Hop, Sample};
use std::net::SocketAddr;
use sys::clock;
use sys::udp::UdpSocket;

impl NearStream<'_> {
    /// The stream is under way.
    pub(super) fn opened(&self) {
        self.tell(Finding::Opened {
            stream: self.plan.id,
            connected_ns: self.sampler.since_origin(clock::now()),
        });
    }

    pub(super) fn udp_rr(
        &self,
        peer: &Peer,
        address: SocketAddr,
        abort: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        let exchange = udp_rr::Exchange {
            session: peer.dialer.session(),
            keys: *peer.dialer.keys(),
            peer: address,
            stream: self.plan.id,
            class: self.plan.marks(),
            size: self.plan.size,
            gap: self.plan.gap,
            paced: self.plan.kind == Kind::UdpPaced,
            until: self.until(),
            offset_ns: self.clock().offset_ns,
        };
        self.opened();
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
            rtt_ns: reply.map(|reply| kit::stream::nanos(reply.rtt)),
            owd_up_ns: reply.map(|reply| reply.owd_up_ns),
            owd_down_ns: reply.map(|reply| reply.owd_down_ns),
            lost: reply.is_none(),
            late: reply.is_some_and(|reply| reply.late),
            clock: if kernel { "kernel" } else { "user" }.into(),
            tos_sent: self.plan.marks().octet(),
            tos_seen_far: reply.and_then(|reply| reply.class_far),
            tos_seen_near: reply.and_then(|reply| reply.class_near),
        }
    }

    /// A socket that is connected to the far end.
    pub(super) fn socket(address: SocketAddr) -> Result<UdpSocket, String> {
        let told = |error: sys::Error| error.to_string();
        let mut socket = UdpSocket::bind(kit::stream::any(address)).map_err(told)?;
        socket.connect(address).map_err(told)?;
        Ok(socket)
    }

    pub(super) fn line<'a>(&self, peer: &'a Peer, socket: &'a UdpSocket) -> Line<'a> {
        Line {
            socket,
            to: None,
            from: None,
            key: &peer.dialer.keys().to_server,
            session: peer.dialer.session(),
            stream: self.plan.id,
            class: self.plan.marks(),
        }
    }

    fn talk<'a>(&self, peer: &'a Peer, socket: &'a UdpSocket) -> Talk<'a> {
        Talk {
            line: self.line(peer, socket),
            size: self.plan.size,
            every: self.plan.gap,
        }
    }

    pub(super) fn call_up(
        &self,
        peer: &Peer,
        address: SocketAddr,
        abort: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        let socket = Self::socket(address)?;
        self.opened();
        let start = self.sampler.origin() + self.plan.start;
        let talked = self
            .talk(peer, &socket)
            .run(start, self.until() - DRAIN, abort)
            .map_err(|error| error.to_string())?;
        self.tell(Finding::Ended(StreamEnd {
            id: self.plan.id,
            sent: Some(talked.count),
            unsent: talked.unsent,
            ..StreamEnd::default()
        }));
        Ok(())
    }

    pub(super) fn call_down(
        &self,
        peer: &Peer,
        address: SocketAddr,
        abort: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        let socket = Self::socket(address)?;
        self.opened();
        let key = &peer.dialer.keys().to_client;
        let each = |heard: Heard| self.tell(Finding::Call(self.call_sample(&heard)));
        call::listen(&self.talk(peer, &socket), key, self.until(), abort, each)
            .map_err(|error| error.to_string())
    }

    /// A datagram that the far end sent, on this host's clock.
    fn call_sample(&self, heard: &Heard) -> CallSample {
        let sent = heard.sent.offset(self.clock().offset_ns.saturating_neg());
        CallSample {
            stream: self.plan.id,
            seq: heard.sequence,
            t_ns: self.sampler.since_origin(sent),
            owd_ns: heard.arrived.signed_since(sent),
            kernel: heard.kernel,
            tos: heard.class,
        }
    }

    pub(super) fn dns(
        &self,
        peer: &Peer,
        address: SocketAddr,
        abort: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        let look_ups = LookUps {
            resolver: address,
            token: peer.dialer.session(),
            class: self.plan.class,
            gap: self.plan.gap,
            until: self.until(),
        };
        self.opened();
        look_ups.run(abort, |done| {
            self.tell(Finding::Sample(Sample {
                t_ns: self.sampler.since_origin(done.sent),
                stream: self.plan.id,
                seq: done.sequence,
                rtt_ns: done.rtt.map(kit::stream::nanos),
                lost: done.rtt.is_none(),
                clock: if done.kernel { "kernel" } else { "user" }.into(),
                tos_sent: self.plan.marks().octet(),
                ..Sample::default()
            }));
        })
    }

    pub(super) fn trace(
        &self,
        peer: &Peer,
        address: SocketAddr,
        abort: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        let keys = peer.dialer.keys();
        let told = |error: sys::Error| error.to_string();
        let tracer = Tracer {
            socket: UdpSocket::bind(kit::stream::any(address)).map_err(told)?,
            session: peer.dialer.session(),
            stream: self.plan.id,
            to: address,
            key_out: &keys.to_server,
            key_in: &keys.to_client,
            every: self.plan.gap,
            hops: self.plan.hops,
        };
        self.opened();
        let each = |answer: kit::traceroute::Answer| {
            self.tell(Finding::Hop(Hop {
                t_ns: self.sampler.since_origin(answer.sent),
                stream: self.plan.id,
                direction: "up".into(),
                ttl: answer.ttl,
                address: answer.from.map(|address| address.to_string()),
                rtt_ns: answer.rtt.map(kit::stream::nanos),
                is_end: answer.is_end,
            }));
        };
        tracer.run(self.until(), abort, each).map_err(told)
    }
}
