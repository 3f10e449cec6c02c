//! Slow start until something is lost, again and again (RFC 8337 section 8.3.2).
//!
//! Each round sends at slow-start rate until the first loss or mark is known, then stops and lets the path drain. How much was delivered before,
//! and how long the queue was, say how the bottleneck manages it.

use super::flight::Flight;
use super::{Ack, Burst, Schedule, Shape, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::Instant;

/// One round.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Round {
    /// Packets sent.
    pub sent: u64,
    /// Packets delivered before the first loss or mark.
    pub before_mark: u64,
    /// Losses and marks in all.
    pub marks: u64,
    /// Packets in the longest row of losses and marks.
    pub longest_row: u64,
    /// Longest round trip less the shortest of all rounds.
    pub queue_max_ns: u64,
    /// Time in the queue of the first packet delivered after the first loss or mark: its round trip less the shortest; null
    /// without either.
    pub sojourn_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Sending,
    /// Nothing leaves until all is back.
    Draining,
    Done,
}

/// Sends a schedule until a loss, some rounds long.
#[derive(Clone, Debug)]
pub struct UntilLoss {
    schedule: Schedule,
    flight: Flight,
    state: State,
    rounds: Vec<Round>,
    most_rounds: usize,
    /// Packets of a round, at most.
    most_packets: u64,
    /// The first packet of the round.
    round_first: u64,
    /// The round's first lost or marked packet.
    first_mark: Option<u64>,
    /// The last lost or marked packet, and how many in a row up to it.
    row: (u64, u64),
    rtt_min: Option<Duration>,
}

impl UntilLoss {
    /// `rounds` rounds of `schedule`, each of `most_packets` at most.
    pub fn new(schedule: Schedule, rounds: u32, most_packets: u64) -> Self {
        Self {
            round_first: schedule.next_seq(),
            schedule,
            flight: Flight::default(),
            state: State::Sending,
            rounds: vec![Round::default()],
            most_rounds: rounds.max(1) as usize,
            most_packets: most_packets.max(1),
            first_mark: None,
            row: (0, 0),
            rtt_min: None,
        }
    }

    /// Packet `seq` was lost or marked; the queue after it was `sojourn`.
    fn marked(&mut self, seq: u64, sojourn: Option<Duration>) {
        let row = if self.row.1 > 0 && seq == self.row.0 + 1 {
            self.row.1 + 1
        } else {
            1
        };
        self.row = (seq, row);
        let is_first = self.first_mark.is_none();
        self.first_mark.get_or_insert(seq);
        let before = seq.saturating_sub(self.round_first);
        if let Some(round) = self.rounds.last_mut() {
            if is_first {
                round.before_mark = before;
                round.sojourn_ns = sojourn.map(nanos);
            }
            round.marks += 1;
            round.longest_row = round.longest_row.max(row);
        }
        if self.state == State::Sending {
            self.state = State::Draining;
        }
    }

    fn delivered(&mut self, rtt: Duration) {
        let least = self.rtt_min.map_or(rtt, |least| least.min(rtt));
        self.rtt_min = Some(least);
        let is_before = self.first_mark.is_none();
        if let Some(round) = self.rounds.last_mut() {
            round.queue_max_ns = round.queue_max_ns.max(nanos(rtt.saturating_sub(least)));
            round.before_mark += u64::from(is_before);
        }
    }

    /// How much longer than the shortest round trip `rtt` was.
    fn queue(&self, rtt: Duration) -> Duration {
        rtt.saturating_sub(self.rtt_min.unwrap_or(rtt))
    }

    fn give_up(&mut self, now: Instant) {
        while let Some(news) = self.flight.lost(now) {
            let sojourn = news.rtt_after.map(|rtt| self.queue(rtt));
            self.marked(news.seq, sojourn);
        }
    }

    fn next_round(&mut self, now: Instant) {
        if self.rounds.len() >= self.most_rounds {
            self.state = State::Done;
            return;
        }
        self.rounds.push(Round::default());
        self.round_first = self.schedule.next_seq();
        self.first_mark = None;
        self.row = (0, 0);
        self.schedule.restart(now);
        self.state = State::Sending;
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

impl Stream for UntilLoss {
    fn poll(&mut self, now: Instant) -> Option<Burst> {
        self.give_up(now);
        if self.state == State::Draining && self.flight.open() == 0 {
            self.next_round(now);
        }
        if self.state != State::Sending {
            return None;
        }
        let burst = self.schedule.poll(now)?;
        for _ in 0..burst.packets {
            self.flight.send(now, 0);
        }
        if let Some(round) = self.rounds.last_mut() {
            round.sent += u64::from(burst.packets);
        }
        if self.schedule.next_seq() - self.round_first >= self.most_packets {
            self.state = State::Draining;
        }
        Some(burst)
    }

    fn next_due(&self) -> Option<Instant> {
        let sends = (self.state == State::Sending)
            .then(|| self.schedule.next_due())
            .flatten();
        [sends, self.flight.next_timeout()]
            .into_iter()
            .flatten()
            .min()
    }

    fn handle_ack(&mut self, ack: Ack, now: Instant) {
        if let Some(news) = self.flight.acked(ack.seq, now) {
            let rtt = news.rtt.unwrap_or_default();
            self.delivered(rtt);
            if ack.ce {
                self.marked(ack.seq, Some(self.queue(rtt)));
            }
        }
    }

    fn is_done(&self) -> bool {
        self.state == State::Done
    }

    fn shape(&self) -> Shape {
        self.schedule.shape()
    }

    fn rounds(&self) -> &[Round] {
        &self.rounds
    }
}
