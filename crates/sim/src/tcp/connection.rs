//! One end of a connection.

use super::flow::Flow;
use super::handshake::Handshake;
use super::packet::Tcp;
use crate::Headers;
use std::sync::Arc;
use std::time::Duration;
use transport::{Options, Receiver, RenoEstimate, Sender};
use units::{Ecn, Instant};

/// How an end of a connection behaves.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Congestion control, recovery, acknowledgements.
    pub options: Arc<Options>,
    /// Times that a SYN is sent again before the connection is given up (Linux `tcp_syn_retries`), in addition to `syn_linear`.
    pub syn_retries: u32,
    /// Times that it is sent again after the first timeout, before that doubles (Linux `tcp_syn_linear_timeouts`, from 6.5 on).
    pub syn_linear: u32,
    /// Times that the answer to a SYN is (Linux `tcp_synack_retries`).
    pub synack_retries: u32,
    /// Octets that may wait unsent before a writer has to wait (Linux `TCP_NOTSENT_LOWAT`).
    pub unsent: u64,
}

impl Settings {
    /// With `options`, and otherwise as Linux 6.5 and later does it, CUBIC's estimate of Reno's window included; 16 KiB may wait unsent.
    pub fn new(mut options: Options) -> Self {
        options.cubic.reno_estimate = RenoEstimate::Linux;
        Self {
            options: Arc::new(options),
            syn_retries: 6,
            syn_linear: 4,
            synack_retries: 5,
            unsent: 16 << 10,
        }
    }

    /// What headers add.
    pub fn headers(&self) -> Headers {
        Headers::tcp(&self.options)
    }
}

/// What differs from one connection to the next.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Names of packets come from it.
    pub seed: u64,
    /// Octets that this end has room for at a time, if that is bounded. Its peer keeps to it; here it says how many segments are acknowledged
    /// at once.
    pub window: Option<u32>,
    /// Octets that the peer has room for at a time; without it there is no limit.
    pub peer_window: Option<u32>,
}

/// One end of a connection; see [`super`].
#[derive(Debug)]
pub struct Connection {
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    /// A SYN, or the answer to one, is on its way; and what holds afterwards.
    Opening(Box<(Handshake, Terms)>),
    Established(Box<Flow>),
    /// A reset is to be sent.
    Aborting,
    /// Nobody answered, or somebody refused.
    Refused,
    /// It was reset.
    Broken,
}

impl Connection {
    /// Asks for a connection at `now`.
    pub fn open(terms: Terms, now: Instant) -> Self {
        Self::begin(Handshake::new(None, now), terms)
    }

    /// Answers a SYN that left at `asked` and arrived at `now`.
    pub fn accept(terms: Terms, asked: Instant, now: Instant) -> Self {
        Self::begin(Handshake::new(Some(asked), now), terms)
    }

    fn begin(handshake: Handshake, terms: Terms) -> Self {
        Self {
            phase: Phase::Opening(Box::new((handshake, terms))),
        }
    }

    /// A packet arrived, with `ecn` in its IP header.
    pub fn handle_packet(&mut self, tcp: &Tcp, ecn: Ecn, settings: &Settings, now: Instant) {
        if tcp.is_reset() {
            self.phase = match self.phase {
                Phase::Opening(_) | Phase::Refused => Phase::Refused,
                _ => Phase::Broken,
            };
            return;
        }
        if let Phase::Opening(opening) = &mut self.phase {
            let (handshake, terms) = &mut **opening;
            if tcp.is_syn() {
                return handshake.handle_again();
            }
            let echo = match tcp {
                Tcp::SynAck(stamps) => Some(stamps[1]),
                Tcp::Confirm(echo) => Some(*echo),
                _ => None,
            };
            let mut flow = Flow::new(settings, *terms, (handshake, echo), now);
            if let Tcp::SynAck(stamps) = tcp {
                flow.confirm(stamps[0]);
            }
            self.phase = Phase::Established(Box::new(flow));
        }
        let Phase::Established(flow) = &mut self.phase else {
            return;
        };
        match tcp {
            Tcp::Data(data) => {
                if let Some(ack) = &data.ack {
                    flow.handle_ack(ack, now);
                }
                flow.handle_segment(&data.segment, data.fin, ecn, now);
            }
            Tcp::Ack(ack) => flow.handle_ack(ack, now),
            // The handshake's last word was lost.
            Tcp::SynAck(stamps) => flow.confirm(stamps[0]),
            Tcp::Syn(_) | Tcp::Confirm(_) | Tcp::Reset | Tcp::Udp(_) => {}
        }
    }

    /// The instant of [`Connection::next_timeout`] has come.
    pub fn handle_timeout(&mut self, settings: &Settings, now: Instant) {
        match &mut self.phase {
            Phase::Opening(opening) => {
                let handshake = &mut opening.0;
                let retries = if handshake.is_answer() {
                    settings.synack_retries
                } else {
                    settings.syn_retries + settings.syn_linear
                };
                if handshake.handle_timeout(retries, now) {
                    self.phase = Phase::Refused;
                }
            }
            Phase::Established(flow) => flow.handle_timeout(now),
            Phase::Aborting | Phase::Refused | Phase::Broken => {}
        }
    }

    /// When to call [`Connection::handle_timeout`].
    pub fn next_timeout(&self) -> Option<Instant> {
        match &self.phase {
            Phase::Opening(opening) => Some(opening.0.next_timeout()),
            Phase::Established(flow) => flow.next_timeout(),
            Phase::Aborting | Phase::Refused | Phase::Broken => None,
        }
    }

    /// The next packet to send, and the ECN field of its IP header.
    pub fn poll_transmit(&mut self, settings: &Settings, now: Instant) -> Option<(Tcp, Ecn)> {
        match &mut self.phase {
            Phase::Opening(opening) => {
                let first = settings.options.rto_initial.0;
                let tcp = opening.0.poll_transmit(first, settings.syn_linear, now)?;
                Some((tcp, Ecn::NotEct))
            }
            Phase::Established(flow) => {
                let tcp = flow.poll_transmit(now)?;
                let ecn = flow.ecn(&tcp);
                Some((tcp, ecn))
            }
            Phase::Aborting => {
                self.phase = Phase::Broken;
                Some((Tcp::Reset, Ecn::NotEct))
            }
            Phase::Refused | Phase::Broken => None,
        }
    }

    /// Octets that the application may write now.
    pub fn room(&self, settings: &Settings) -> u64 {
        let flow = self.flow();
        flow.map_or(0, |flow| settings.unsent.saturating_sub(flow.queued()))
    }

    /// The application says `octets` more; `has_more` that there was no room for.
    pub fn write(&mut self, octets: u64, has_more: bool) {
        if let Phase::Established(flow) = &mut self.phase {
            flow.write(octets, has_more);
        }
    }

    /// Whether what waits does not fill a segment.
    pub(super) fn has_little(&self) -> bool {
        self.flow().is_some_and(Flow::has_little)
    }

    /// The application says nothing more.
    pub fn close(&mut self) {
        if let Phase::Established(flow) = &mut self.phase {
            flow.close();
        }
    }

    /// Breaks the connection. The peer is told by a reset, if it may know of the connection (RFC 9293 section 3.10.5).
    pub fn abort(&mut self) {
        self.phase = match &self.phase {
            Phase::Refused => Phase::Refused,
            Phase::Broken => Phase::Broken,
            Phase::Opening(opening) if !opening.0.is_answer() => Phase::Broken,
            _ => Phase::Aborting,
        };
    }

    /// Whether something has happened since the last call that an application wants to know: the connection is there, octets
    /// have come, the peer has closed, or there is no connection.
    pub fn take_news(&mut self) -> bool {
        match &mut self.phase {
            Phase::Opening(_) => false,
            Phase::Established(flow) => flow.take_news(),
            Phase::Aborting | Phase::Refused | Phase::Broken => true,
        }
    }

    /// Octets that the peer has said since the last call.
    pub fn take_heard(&mut self) -> u64 {
        match &mut self.phase {
            Phase::Established(flow) => flow.take_heard(),
            _ => 0,
        }
    }

    /// Whether the handshake is done.
    pub const fn is_established(&self) -> bool {
        matches!(self.phase, Phase::Established(_))
    }

    /// Whether the peer has said its last octet, and it has been here.
    pub fn has_peer_closed(&self) -> bool {
        self.flow().is_some_and(Flow::has_peer_closed)
    }

    /// Whether it could not be made.
    pub const fn is_refused(&self) -> bool {
        matches!(self.phase, Phase::Refused)
    }

    /// Whether it was reset, by this end or the other.
    pub const fn is_broken(&self) -> bool {
        matches!(self.phase, Phase::Broken | Phase::Aborting)
    }

    /// Whether nothing is left to be done: both directions have ended and been acknowledged, or there is no connection.
    pub fn is_over(&self) -> bool {
        match &self.phase {
            Phase::Established(flow) => flow.has_peer_closed() && flow.is_all_acked(),
            Phase::Refused | Phase::Broken => true,
            Phase::Opening(_) | Phase::Aborting => false,
        }
    }

    /// The machines of an established connection.
    pub fn machines(&self) -> Option<(&Sender, &Receiver)> {
        self.flow().map(Flow::machines)
    }

    /// Octets that this end said and the peer has acknowledged.
    pub fn acked(&self) -> u64 {
        self.flow().map_or(0, |flow| flow.sender().acked_bytes())
    }

    /// Segments that were sent again, and the least round trip.
    pub fn repairs(&self) -> Option<(u64, Option<Duration>)> {
        let sender = self.flow()?.sender();
        Some((sender.sent().retransmits, sender.min_rtt()))
    }

    pub(super) const fn flow(&self) -> Option<&Flow> {
        match &self.phase {
            Phase::Established(flow) => Some(flow),
            _ => None,
        }
    }
}
