//! Streams of datagrams: round trips at the client, and both directions of calls.

use super::super::stream::requests::{Requests, slot_after};
use super::super::streams::{Kind, StreamPlan};
use super::super::tables::CallSample;
use super::{Datagram, Says};
use kit::stream::{DRAIN, nanos};
use packet::UDP_HEADERS;
use schema::tables::Sample;
use session::wire::Probe;
use std::time::Duration;
use units::{Instant, TrafficClass};

/// Octets of a datagram of the stream, headers included.
fn octets(plan: &StreamPlan) -> u32 {
    let payload = plan.size.max(Probe::LEN);
    u32::try_from(payload).unwrap_or(u32::MAX) + UDP_HEADERS[0]
}

/// A stream of requests, and what became of each: what `UDP_RR` does on sockets.
#[derive(Debug)]
pub(super) struct Asking<'a> {
    plan: &'a StreamPlan,
    requests: Requests<()>,
    sequence: u32,
    /// When the next one is to leave.
    next: Instant,
    /// The one that is waited for, and how long; the next leaves after it.
    waits: Option<(u32, Instant)>,
    pub(super) samples: Vec<Sample>,
}

impl<'a> Asking<'a> {
    pub(super) fn new(plan: &'a StreamPlan) -> Self {
        Self {
            plan,
            requests: Requests::default(),
            sequence: 0,
            next: Instant::ZERO + plan.start,
            waits: None,
            samples: Vec::new(),
        }
    }

    fn is_paced(&self) -> bool {
        self.plan.kind == Kind::UdpPaced
    }

    /// The last part of the stream's time is for replies that are still on their way.
    fn last_request(&self) -> Instant {
        Instant::ZERO + self.plan.stop.saturating_sub(DRAIN)
    }

    /// A request that leaves at `now`, if one does.
    pub(super) fn poll(&mut self, now: Instant) -> Option<Datagram> {
        if let Some((sequence, until)) = self.waits
            && until <= now
        {
            self.requests.give_up(sequence);
            self.waits = None;
        }
        if now >= self.last_request() {
            self.next = Instant::FAR_FUTURE;
        }
        if self.waits.is_some() || self.next > now {
            return None;
        }
        let sequence = self.sequence;
        self.requests.sent(sequence, now, ());
        if self.is_paced() {
            let begun = Instant::ZERO + self.plan.start;
            (self.sequence, self.next) = slot_after(self.plan.gap, sequence, begun, now);
        } else {
            self.waits = Some((sequence, now + self.requests.patience()));
            self.sequence = sequence.wrapping_add(1);
            self.next = now + self.plan.gap;
        }
        while let Some((sequence, request)) = self.requests.forget_oldest() {
            self.samples.push(self.sample(sequence, request.sent));
        }
        let octets = octets(self.plan);
        Some(Datagram {
            sequence,
            octets,
            says: Says::Request { answer: octets },
        })
    }

    /// When to poll next.
    pub(super) fn next_due(&self) -> Option<Instant> {
        match self.waits {
            Some((_, until)) => Some(until),
            None => (self.next < self.last_request()).then_some(self.next),
        }
    }

    /// A reply came at `now`, marked so; the request had come to the far end at `received`, marked as `far` says.
    pub(super) fn handle_reply(
        &mut self,
        sequence: u32,
        (received, far): (Instant, u8),
        near: TrafficClass,
        now: Instant,
    ) {
        let Some(request) = self.requests.replied(sequence) else {
            return;
        };
        let rtt = now.since(request.sent);
        self.requests.took(rtt);
        if self.waits.is_some_and(|(waits, _)| waits == sequence) {
            self.waits = None;
        }
        let delay = |from: Instant, to: Instant| Some(to.signed_since(from));
        self.samples.push(Sample {
            rtt_ns: Some(nanos(rtt)),
            owd_up_ns: delay(request.sent, received),
            owd_down_ns: delay(received, now),
            lost: false,
            late: request.overdue,
            clock: "kernel".into(),
            tos_seen_far: Some(far),
            tos_seen_near: Some(near.octet()),
            ..self.sample(sequence, request.sent)
        });
    }

    /// The run is over at `now`.
    pub(super) fn end(&mut self, now: Instant) {
        let unanswered: Vec<_> = self.requests.unanswered(now).collect();
        for (sequence, request) in unanswered {
            self.samples.push(self.sample(sequence, request.sent));
        }
    }

    /// Of a request that was never answered.
    fn sample(&self, sequence: u32, sent: Instant) -> Sample {
        Sample {
            t_ns: sent.as_nanos(),
            stream: self.plan.id,
            seq: sequence.into(),
            lost: true,
            clock: "user".into(),
            tos_sent: self.plan.marks().octet(),
            ..Sample::default()
        }
    }
}

/// The sending end of one direction of a call.
#[derive(Debug)]
pub(super) struct Talking {
    octets: u32,
    start: Duration,
    every: Duration,
    until: Instant,
    /// Datagrams that have left.
    pub(super) sent: u32,
}

impl Talking {
    pub(super) fn new(plan: &StreamPlan) -> Self {
        Self {
            octets: octets(plan),
            start: plan.start,
            every: plan.gap,
            until: Instant::ZERO + plan.stop.saturating_sub(DRAIN),
            sent: 0,
        }
    }

    /// When the next one leaves.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let due = Instant::ZERO + self.start + self.every * self.sent;
        (due < self.until).then_some(due)
    }

    /// A datagram that leaves at `now`, if one does.
    pub(super) fn poll(&mut self, now: Instant) -> Option<Datagram> {
        self.next_due().filter(|due| *due <= now)?;
        let sequence = self.sent;
        self.sent += 1;
        Some(Datagram {
            sequence,
            octets: self.octets,
            says: Says::Call { sent: now },
        })
    }
}

/// A datagram of a call that arrived at `now`.
pub(super) fn heard(
    stream: u16,
    (seq, sent): (u32, Instant),
    class: TrafficClass,
    now: Instant,
) -> CallSample {
    CallSample {
        stream,
        seq,
        t_ns: sent.as_nanos(),
        owd_ns: now.signed_since(sent),
        kernel: true,
        tos: Some(class.octet()),
    }
}
