//! Look-ups of names, one at a time.

use super::super::stream::dns::OVERDUE;
use super::super::streams::StreamPlan;
use super::{Datagram, Says};
use kit::stream::nanos;
use packet::UDP_HEADERS;
use schema::tables::Sample;
use std::net::{IpAddr, Ipv4Addr};
use units::Instant;
use web::{dns, names};

/// A stream of look-ups, each of a new name: what is done on sockets.
#[derive(Debug)]
pub(super) struct LookingUp<'a> {
    plan: &'a StreamPlan,
    /// The names' token.
    token: u64,
    sequence: u32,
    /// When the next one is to leave.
    next: Instant,
    /// The one that is waited for, and when it left.
    waits: Option<(u32, Instant)>,
    pub(super) samples: Vec<Sample>,
}

impl<'a> LookingUp<'a> {
    pub(super) fn new(plan: &'a StreamPlan, token: u64) -> Self {
        Self {
            plan,
            token,
            sequence: 0,
            next: Instant::ZERO + plan.start,
            waits: None,
            samples: Vec::new(),
        }
    }

    fn stop(&self) -> Instant {
        Instant::ZERO + self.plan.stop
    }

    /// A query that leaves at `now`, if one does.
    pub(super) fn poll(&mut self, now: Instant) -> Option<Datagram> {
        if let Some((sequence, sent)) = self.waits
            && sent + OVERDUE <= now
        {
            self.waits = None;
            self.samples.push(self.sample(sequence, sent));
        }
        if now >= self.stop() {
            self.next = Instant::FAR_FUTURE;
        }
        if self.waits.is_some() || self.next > now {
            return None;
        }
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        self.waits = Some((sequence, now));
        self.next = now + self.plan.gap;
        let name = names::host_name(&format!("dns{sequence}"), self.token);
        let [octets, answer] = octets(&name, dns::Family::V4);
        Some(Datagram {
            sequence,
            octets,
            says: Says::Request { answer },
        })
    }

    /// When to poll next.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let due = match self.waits {
            Some((_, sent)) => sent + OVERDUE,
            None => self.next,
        };
        (due < self.stop()).then_some(due)
    }

    /// An answer came at `now`; one that is overdue is nobody's.
    pub(super) fn handle_answer(&mut self, sequence: u32, now: Instant) {
        let Some((_, sent)) = self.waits.filter(|(waits, _)| *waits == sequence) else {
            return;
        };
        self.waits = None;
        self.samples.push(Sample {
            rtt_ns: Some(nanos(now.since(sent))),
            lost: false,
            clock: "kernel".into(),
            ..self.sample(sequence, sent)
        });
    }

    /// Of a look-up that was never answered.
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

/// Octets of a query for the name's addresses of one family and of its answer by a server that has IPv4 only.
pub(super) fn octets(name: &str, family: dns::Family) -> [u32; 2] {
    let query = dns::query(0, name, family);
    let mut answer = Vec::new();
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    dns::answer(&query, |_| true, here, &mut answer);
    [query.len(), answer.len()]
        .map(|length| u32::try_from(length).unwrap_or(u32::MAX) + UDP_HEADERS[0])
}
