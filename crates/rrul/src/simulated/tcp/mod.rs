//! One end of a stream over TCP: load either way, or round trips over a connection.

mod looks;
mod program;

use super::super::streams::{Kind, StreamPlan};
use super::{Wire, as_tcp, as_wire, flow};
use kit::sampler::StreamEnd;
use schema::tables::{Sample, Series};
use sim::tcp::{Incoming, Key, Settings, Stack, Tcp, Terms};
use sim::{NodeId, Parcel};
use transport::{CongestionControl, Options};
use units::{Ecn, Instant, TrafficClass};

/// The kernel wakes a sender when less than this is unsent, as real load has it.
const UNSENT: u64 = 128 << 10;
/// Octets of one write.
const BLOCK: u64 = 64 << 10;

/// What this end does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Role {
    Ask,
    Echo,
    Send,
    Receive,
}

/// Segments that this end has sent and received.
#[derive(Clone, Copy, Debug, Default)]
struct Segments {
    sent: u64,
    sent_with_data: u64,
    received: u64,
    received_with_data: u64,
    received_marked: u64,
}

/// See the module.
#[derive(Debug)]
pub(super) struct TcpEnd<'a> {
    plan: &'a StreamPlan,
    role: Role,
    end: &'static str,
    ends: [NodeId; 2],
    stack: Stack,
    cc: CongestionControl,
    ecn: bool,
    seed: u64,
    key: Option<Key>,
    phase: Phase,
    segments: Segments,
    /// Payload that has arrived, behind a missing segment or not.
    arrived: u64,
    /// The same in order, of a connection that is no more too.
    received: u64,
    retransmits: u64,
    /// `arrived` and what was acknowledged at the last look.
    looked: (u64, u64),
    look: Instant,
    first_byte: Option<Instant>,
    /// Traffic-class octet of the peer's handshake.
    class_seen: Option<u8>,
    /// Of round trips: octets of the message at hand, its number, when it left, and when the next may leave.
    heard: u64,
    sequence: u64,
    asked: Option<Instant>,
    next: Instant,
    pub(super) found: Found,
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    /// It is not time yet.
    Before,
    Opening,
    Open,
    Over,
}

/// What an end has to tell.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) connected: Option<Instant>,
    pub(super) series: Vec<Series>,
    pub(super) samples: Vec<Sample>,
    pub(super) ended: Option<StreamEnd>,
    pub(super) failed: Option<&'static str>,
}

/// What all connections of a run have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Common {
    pub(super) cc: CongestionControl,
    pub(super) ecn: bool,
    pub(super) seed: u64,
}

impl<'a> TcpEnd<'a> {
    /// The client's end of the stream `plan`, or the server's, at the first of `ends`.
    pub(super) fn new(
        plan: &'a StreamPlan,
        is_client: bool,
        ends: [NodeId; 2],
        common: Common,
    ) -> Self {
        let role = match (plan.kind, is_client) {
            (Kind::Down, false) | (Kind::Up, true) => Role::Send,
            (Kind::Down, true) | (Kind::Up, false) => Role::Receive,
            (_, true) => Role::Ask,
            (_, false) => Role::Echo,
        };
        let settings = Settings {
            unsent: UNSENT,
            ..Settings::new(Options {
                congestion_control: common.cc,
                ecn: common.ecn,
                ..Options::default()
            })
        };
        Self {
            plan,
            role,
            end: if is_client { "client" } else { "server" },
            ends,
            stack: Stack::new(ends[0], settings),
            cc: common.cc,
            ecn: common.ecn,
            seed: common.seed.wrapping_add(u64::from(plan.id) << 1),
            key: None,
            phase: if is_client {
                Phase::Before
            } else {
                Phase::Opening
            },
            segments: Segments::default(),
            arrived: 0,
            received: 0,
            retransmits: 0,
            looked: (0, 0),
            look: Instant::ZERO + plan.start,
            first_byte: None,
            class_seen: None,
            heard: 0,
            sequence: 0,
            asked: None,
            next: Instant::ZERO,
            found: Found::default(),
        }
    }

    fn stop(&self) -> Instant {
        Instant::ZERO + self.plan.stop
    }

    /// Whether this end ends the stream when its time is over: who sends does.
    fn stops(&self) -> bool {
        matches!(self.role, Role::Ask | Role::Send)
    }

    /// Whether this end sends no more than the plan says.
    fn is_limited(&self) -> bool {
        self.role == Role::Send && self.phase == Phase::Open && self.plan.rate.is_some()
    }

    const fn terms(&self) -> Terms {
        Terms {
            seed: self.seed,
            window: None,
            peer_window: None,
        }
    }

    /// A packet of the connection arrived.
    pub(super) fn handle_packet(&mut self, parcel: Parcel<Wire>, now: Instant) {
        let Some(parcel) = as_tcp(parcel) else {
            return;
        };
        let len = data(&parcel.body.payload);
        let class = TrafficClass {
            dscp: parcel.dscp,
            ecn: parcel.ecn,
        };
        if self.class_seen.is_none() {
            self.class_seen = Some(class.octet());
        }
        self.segments.received += 1;
        self.segments.received_with_data += u64::from(len > 0);
        self.segments.received_marked += u64::from(parcel.ecn == Ecn::Ce);
        if parcel.body.payload.is_reset() {
            // What it knows is gone with it.
            self.conclude(now);
        }
        let copies = self.copies();
        match self.stack.handle_packet(&parcel, now) {
            Incoming::Asked { from, flow } => {
                let terms = self.terms();
                self.key = Some(self.stack.accept(from, flow, terms, now));
            }
            Incoming::Changed(_) | Incoming::Nothing => {}
        }
        if len > 0 && self.copies() == copies {
            self.arrived += len;
            self.first_byte.get_or_insert(now);
        }
        self.act(now);
    }

    /// Packets with data that had arrived already.
    fn copies(&self) -> u64 {
        let machines = self.key.and_then(|key| self.stack.get(key)?.machines());
        machines.map_or(0, |(_, receiver)| receiver.receipts().duplicates)
    }

    /// The instant of [`TcpEnd::next_timeout`] has come.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        let mut changed = Vec::new();
        if self.stack.next_timeout().is_some_and(|at| at <= now) {
            self.stack.handle_timeout(now, &mut changed);
        }
        if self.phase == Phase::Before && Instant::ZERO + self.plan.start <= now {
            self.phase = Phase::Opening;
            let (to, terms) = (self.ends[1], self.terms());
            self.key = Some(self.stack.open(to, flow(self.plan.id, 0), terms, now));
        }
        self.act(now);
        if self.stops() && now >= self.stop() && self.phase != Phase::Over {
            self.conclude(now);
            if let Some(key) = self.key {
                self.stack.abort(key);
            }
        }
    }

    /// When to call [`TcpEnd::handle_timeout`].
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let start = (self.phase == Phase::Before).then(|| Instant::ZERO + self.plan.start);
        let stop = (self.stops() && self.phase != Phase::Over).then(|| self.stop());
        let asks = self.role == Role::Ask && self.phase == Phase::Open && self.asked.is_none();
        let next = (asks || self.is_limited()).then_some(self.next);
        let all = [self.stack.next_timeout(), start, stop, next];
        all.into_iter().flatten().min()
    }

    /// The next packet to send.
    pub(super) fn poll_transmit(&mut self, now: Instant) -> Option<Parcel<Wire>> {
        loop {
            if let Some(parcel) = self.stack.poll_transmit(now) {
                self.segments.sent += 1;
                self.segments.sent_with_data += u64::from(data(&parcel.body.payload) > 0);
                return Some(as_wire(parcel, self.plan.class, now));
            }
            let key = self.stack.poll_drained()?;
            if self.role == Role::Send && self.phase == Phase::Open && !self.is_limited() {
                self.fill(key);
            }
        }
    }
}

/// Octets of payload.
fn data(tcp: &Tcp) -> u64 {
    match tcp {
        Tcp::Data(data) => data.segment.len.into(),
        _ => 0,
    }
}
