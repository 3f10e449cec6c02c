//! The streams of datagrams at the far end: it listens to a call, talks, and traces the path back.

use super::Far;
use crate::messages::{Role, Row, StreamSetup};
use crate::plan::Transport;
use crate::stream::call::Talk;
use crate::stream::line::Line;
use kit::mailbox::{Mailbox, Opened, Peer};
use kit::sampler::StreamEnd;
use kit::stream::DRAIN;
use kit::traceroute::Tracer;
use schema::tables::Hop;
use std::time::Duration;
use sys::udp::UdpSocket;
use sys::{Error, clock};
use units::{Ecn, TrafficClass};

/// How often a mailbox is looked at for the other end's address.
const LOOK: Duration = Duration::from_millis(10);

impl Far<'_> {
    /// Opens the mailboxes of the plan's calls and traces: before the client is told to begin.
    pub(super) fn open_mailboxes(&self) -> Vec<Opened> {
        let streams = self.setup.streams.iter();
        streams
            .filter_map(|stream| {
                let most = match stream.role {
                    Role::Listen { every } => datagrams(stream, every.0),
                    Role::Talk { .. } | Role::Trace { .. } => 0,
                    Role::Sink | Role::Source if stream.transport == Transport::Udp => {
                        let session = self.session.id;
                        return Some(self.mailboxes.open_counting(session, stream.id));
                    }
                    Role::Echo { .. } | Role::Sink | Role::Source => return None,
                };
                Some(self.mailboxes.open(self.session.id, stream.id, most))
            })
            .collect()
    }

    /// Does this end's part of a call or a trace; a stream of another kind has none.
    pub(super) fn datagrams(&self, stream: &StreamSetup, abort: &dyn Fn() -> bool) {
        let Some(mailbox) = self.mailboxes.find(self.session.id, stream.id) else {
            return;
        };
        match stream.role {
            Role::Talk { size, every } => self.talk(stream, size, every.0, &mailbox, abort),
            // A trace that cannot be made is a trace without rows.
            Role::Trace { every, hops } => {
                drop(self.trace(stream, every.0, hops, &mailbox, abort));
            }
            Role::Sink | Role::Source => self.udp_load(stream, &mailbox, abort),
            Role::Echo { .. } | Role::Listen { .. } => {}
        }
    }

    fn talk(
        &self,
        stream: &StreamSetup,
        size: u16,
        every: Duration,
        mailbox: &Mailbox,
        abort: &dyn Fn() -> bool,
    ) {
        let Some(peer) = peer(mailbox, abort) else {
            return;
        };
        let talk = Talk {
            line: self.line(stream, &peer),
            size: size.into(),
            every,
        };
        let origin = self.sampler.origin();
        // Whoever asks late hears from then on; datagram n still is that of its moment.
        let talked = talk.run(
            origin + stream.start.0,
            origin + stream.stop.0 - DRAIN,
            abort,
        );
        let talked = talked.ok();
        let count = talked.as_ref().map_or(0, |talked| talked.count);
        self.session
            .meter
            .add(0, u64::from(count) * u64::from(size));
        self.sampler.sink().push(Row::Stream(StreamEnd {
            id: stream.id,
            sent: talked.as_ref().map(|talked| talked.count),
            unsent: talked.map_or_else(Vec::new, |talked| talked.unsent),
            ..StreamEnd::default()
        }));
    }

    /// To the stream's other end.
    pub(super) fn line(&self, stream: &StreamSetup, peer: &Peer) -> Line<'_> {
        Line {
            socket: self.socket,
            to: Some(peer.address),
            from: peer.local,
            key: &self.session.keys.to_client,
            session: self.session.id,
            stream: stream.id,
            class: TrafficClass {
                dscp: stream.class,
                ecn: Ecn::NotEct,
            },
        }
    }

    fn trace(
        &self,
        stream: &StreamSetup,
        every: Duration,
        hops: u8,
        mailbox: &Mailbox,
        abort: &dyn Fn() -> bool,
    ) -> Result<(), Error> {
        let Some(peer) = peer(mailbox, abort) else {
            return Ok(());
        };
        let tracer = Tracer {
            // A port of its own: routers' errors come back to the socket that sent.
            socket: UdpSocket::bind(kit::stream::any(peer.address))?,
            session: self.session.id,
            stream: stream.id,
            to: peer.address,
            key_out: &self.session.keys.to_client,
            key_in: &self.session.keys.to_server,
            every,
            hops,
        };
        let until = self.sampler.origin() + stream.stop.0;
        tracer.run(until, abort, |answer| {
            self.sampler.sink().push(Row::Hop(Hop {
                t_ns: self.sampler.since_origin(answer.sent),
                stream: stream.id,
                direction: "down".into(),
                ttl: answer.ttl,
                address: answer.from.map(|address| address.to_string()),
                rtt_ns: answer.rtt.map(kit::stream::nanos),
                is_end: answer.is_end,
            }));
        })
    }
}

/// The stream's other end, once it has said so.
pub(super) fn peer(mailbox: &Mailbox, abort: &dyn Fn() -> bool) -> Option<Peer> {
    while !abort() {
        if let Some(peer) = mailbox.peer.get() {
            return Some(*peer);
        }
        clock::sleep_until(clock::now() + LOOK);
    }
    None
}

/// How many datagrams a call has.
pub(super) fn datagrams(stream: &StreamSetup, every: Duration) -> usize {
    let length = stream.stop.0.saturating_sub(stream.start.0);
    let count = length.as_nanos() / every.as_nanos().max(1) + 1;
    usize::try_from(count).unwrap_or(usize::MAX)
}
