//! The end from which the load comes.

use super::load::Load;
use super::rates::{Burst, SendingRate, Transmitters};
use super::status::Status;
use crate::Moment;
use std::time::Duration;
use units::Instant;

/// After so long without feedback the receiver is told.
const SILENCE: Duration = Duration::from_secs(1);

/// Sends a load.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    transmitters: Transmitters,
    number: u32,
    /// Number of the latest feedback.
    feedback_number: u32,
    feedback_lost: u16,
    /// When it left there and came here.
    feedback: Option<(Duration, Instant)>,
    heard: Instant,
}

impl Sender {
    /// Of `rate`, from `start` on.
    pub fn new(rate: SendingRate, is_v6: bool, start: Instant, seed: u64) -> Self {
        Self {
            transmitters: Transmitters::new(rate, is_v6, start, seed),
            number: 0,
            feedback_number: 0,
            feedback_lost: 0,
            feedback: None,
            heard: start,
        }
    }

    /// When feedback came last.
    pub const fn heard(&self) -> Instant {
        self.heard
    }

    /// When the next burst is due; none while nothing is sent.
    pub fn next(&self) -> Option<Instant> {
        self.transmitters.next()
    }

    /// A burst that is due; call again until there is none.
    pub fn burst(&mut self, now: Instant) -> Option<Burst> {
        self.transmitters.take(now)
    }

    /// Sends by `rate` from now on.
    pub fn change(&mut self, rate: SendingRate, now: Instant) {
        self.transmitters.change(rate, now);
    }

    /// Feedback has come.
    pub fn handle(&mut self, status: &Status, now: Instant) {
        self.heard = now;
        let expected = self.feedback_number.saturating_add(1);
        // What is out of its turn is told by the largest number.
        self.feedback_lost = match status.number.checked_sub(expected) {
            Some(lost) => u16::try_from(lost).unwrap_or(u16::MAX - 1),
            None => u16::MAX,
        };
        self.feedback_number = self.feedback_number.max(status.number);
        self.feedback = Some((status.sent, now));
    }

    /// The head of the next datagram, which has so many octets of payload and leaves now.
    pub fn load(&mut self, payload: u16, now: Moment, is_stop: bool) -> Load {
        let mono = Instant::from_nanos(now.mono_ns);
        self.number = self.number.wrapping_add(1);
        let waited = self
            .feedback
            .map_or(Duration::ZERO, |(_, came)| mono.since(came));
        let waited = (waited + Duration::from_micros(500)).as_millis();
        Load {
            is_stop,
            heard_nothing: mono.since(self.heard) >= SILENCE,
            number: self.number,
            payload,
            feedback_lost: self.feedback_lost,
            feedback_sent: self.feedback.map_or(Duration::ZERO, |(sent, _)| sent),
            sent: Duration::from_nanos(now.wall_ns),
            response_delay_ms: u16::try_from(waited).unwrap_or(u16::MAX),
        }
    }

    /// The datagram that was made last did not leave: its number is free.
    pub fn take_back(&mut self) {
        self.number = self.number.wrapping_sub(1);
    }
}
