//! How a connection begins (RFC 9293 section 3.5, RFC 6298 section 2.1).

use super::Tcp;
use std::time::Duration;
use units::Instant;

/// One end of a handshake: what it has sent, and when it sends it again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handshake {
    /// It answers a SYN, which left then.
    answers: Option<Instant>,
    /// Times that it was sent, and those that nobody had answered in time.
    sent: u32,
    timeouts: u32,
    /// When it was sent for the first time, and last.
    first: Instant,
    at: Instant,
    /// When to send it again.
    due: Instant,
    /// To be sent now.
    is_due: bool,
}

impl Handshake {
    pub(super) const fn new(answers: Option<Instant>, now: Instant) -> Self {
        Self {
            answers,
            sent: 0,
            timeouts: 0,
            first: now,
            at: now,
            due: now,
            is_due: true,
        }
    }

    /// Whether it answers a SYN.
    pub(super) const fn is_answer(&self) -> bool {
        self.answers.is_some()
    }

    /// The timer has run out; says whether to give up, after so many `retries`.
    pub(super) fn handle_timeout(&mut self, retries: u32, now: Instant) -> bool {
        if now < self.due {
            return false;
        }
        self.is_due = true;
        self.timeouts += 1;
        self.timeouts > retries
    }

    /// The peer has asked again: it has not heard the answer.
    pub(super) const fn handle_again(&mut self) {
        self.is_due = true;
    }

    /// What is to be sent now. `first` is the timeout of the first; each later one takes twice as long, but for the first `linear` of a SYN sent
    /// again.
    pub(super) fn poll_transmit(
        &mut self,
        first: Duration,
        linear: u32,
        now: Instant,
    ) -> Option<Tcp> {
        if !std::mem::take(&mut self.is_due) {
            return None;
        }
        let linear = if self.is_answer() { 0 } else { linear };
        let doublings = self.timeouts.saturating_sub(linear);
        let factor = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
        if self.sent == 0 {
            self.first = now;
        }
        self.sent += 1;
        (self.at, self.due) = (now, now + first.saturating_mul(factor));
        Some(match self.answers {
            Some(syn) => Tcp::SynAck(Box::new([now, syn])),
            None => Tcp::Syn(now),
        })
    }

    pub(super) const fn next_timeout(&self) -> Instant {
        self.due
    }

    /// What the handshake took: since what was sent once, or since the copy of which there is an `echo`; none when it is not certain which copy
    /// was answered (RFC 6298 section 3).
    pub(super) fn rtt(&self, echo: Option<Instant>, now: Instant) -> Option<Duration> {
        let answered = if self.sent == 1 { Some(self.at) } else { echo };
        answered.map(|sent| now.since(sent))
    }

    /// Whether more than one copy was lost: the window starts at one segment (RFC 5681 section 3.1, as the kernel takes it). None was where the
    /// first is echoed.
    pub(super) fn was_hard(&self, echo: Option<Instant>) -> bool {
        self.sent > 2 && echo != Some(self.first)
    }
}
