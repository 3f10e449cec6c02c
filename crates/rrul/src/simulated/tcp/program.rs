//! What the program at an end does: sends as much as it can, asks, or echoes.

use super::{BLOCK, Phase, Role, TcpEnd, UNSENT};
use kit::stream::nanos;
use schema::tables::Sample;
use sim::tcp::Key;
use units::Instant;

/// Octets of a full segment.
const SEGMENT: u64 = 1_448;

impl TcpEnd<'_> {
    /// Writes more than there is room for, so that room is told of.
    pub(super) fn fill(&mut self, key: Key) {
        self.stack.write(key, UNSENT + BLOCK);
    }

    /// Writes a segment whenever it is time for one, and there is room: what the path has not taken is not made up for.
    fn drip(&mut self, key: Key, now: Instant) {
        let Some(rate) = self.plan.rate else { return };
        while self.next <= now {
            self.stack.write(key, SEGMENT);
            self.next += rate.time_for(SEGMENT);
        }
    }

    /// What the application does when something has happened.
    pub(super) fn act(&mut self, now: Instant) {
        let Some(key) = self.key else { return };
        let Some(connection) = self.stack.get(key) else {
            return;
        };
        if self.phase == Phase::Opening {
            if connection.is_refused() {
                self.phase = Phase::Over;
                self.found.failed = Some("the connection could not be made");
                return;
            }
            if !connection.is_established() {
                return;
            }
            self.phase = Phase::Open;
            self.found.connected = Some(now);
            self.look = now;
            self.next = now;
            if self.role == Role::Send && !self.is_limited() {
                self.fill(key);
            }
        }
        if self.phase != Phase::Open {
            return;
        }
        let heard = self.stack.take_heard(key);
        self.received += heard;
        self.heard += heard;
        match self.role {
            Role::Send => self.drip(key, now),
            Role::Receive => {}
            Role::Echo => self.echo(key),
            Role::Ask => self.ask(key, now),
        }
    }

    /// Sends each message back when it is complete.
    fn echo(&mut self, key: Key) {
        let size = self.size();
        while self.heard >= size {
            self.heard -= size;
            self.stack.write(key, size);
        }
    }

    /// Asks again when the answer is complete, but not too soon.
    fn ask(&mut self, key: Key, now: Instant) {
        let size = self.size();
        if let Some(sent) = self.asked.filter(|_| self.heard >= size) {
            self.heard -= size;
            self.asked = None;
            self.next = sent + self.plan.gap;
            self.found.samples.push(Sample {
                t_ns: sent.as_nanos(),
                stream: self.plan.id,
                seq: self.sequence,
                rtt_ns: Some(nanos(now.since(sent))),
                clock: "user".into(),
                tos_sent: self.plan.marks().octet(),
                ..Sample::default()
            });
            self.sequence += 1;
        }
        if self.asked.is_none() && self.next <= now && now < self.stop() {
            self.asked = Some(now);
            self.stack.write(key, size);
        }
    }

    fn size(&self) -> u64 {
        (self.plan.size as u64).max(1)
    }
}
