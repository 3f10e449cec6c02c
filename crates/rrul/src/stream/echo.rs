//! Round trips at an even pace with a far end that has agreed to nothing: ICMP echo, or whatever else it answers.

use super::requests::{Requests, slot_after};
use far_ends::Terms;
use kit::control::Broken;
use kit::foreign::{Asking, Found};
use kit::secret::secret;
use kit::stream::{DRAIN, PATIENCE};
use std::time::Duration;
use sys::clock;
use units::{Instant, TrafficClass};

/// Hosts that have agreed to nothing are asked no faster.
pub(crate) const LEAST_GAP: Duration = Duration::from_millis(20);
/// Who answered nothing for this long does not answer.
const ENOUGH: Duration = Duration::from_secs(1);

/// Requests to be sent.
pub(crate) struct Echoes<'a> {
    pub found: &'a Found,
    pub class: TrafficClass,
    /// Octets of a request's payload, where the protocol can be padded.
    pub size: usize,
    pub gap: Duration,
    pub until: Instant,
}

/// What became of a request.
pub(crate) struct Echoed {
    pub sequence: u32,
    pub sent: Instant,
    /// `None` for a request that was never answered.
    pub rtt: Option<Duration>,
}

impl Echoes<'_> {
    /// Sends requests until the end of the stream, whatever comes back, and reports what became of each. In one line, why nobody
    /// answers, if nobody did.
    ///
    /// # Errors
    /// When the far end cannot be asked.
    pub(crate) fn run(
        &self,
        abort: &dyn Fn() -> bool,
        mut each: impl FnMut(Echoed),
    ) -> Result<Option<String>, Broken> {
        let least = self.found.far_end.protocol.least_interval();
        let gap = self.gap.max(LEAST_GAP).max(least);
        let terms = Terms {
            payload: self.size,
            duration: self.until.since(clock::now()),
            interval: gap,
            class: self.class,
            secret: secret(),
        };
        let asking = Asking::open(self.found, terms, &|| !abort())?;
        let mut line = Line {
            asking,
            requests: Requests::default(),
            is_answered: false,
        };
        let begun = clock::now();
        let passed = self.pass(&mut line, gap, abort, &mut each);
        // However it ended, what is known of each request is told.
        for (sequence, request) in line.requests.unanswered(clock::now()) {
            each(lost(sequence, request.sent));
        }
        line.asking.close();
        passed?;
        let is_silent = !line.is_answered && clock::now().since(begun) > ENOUGH;
        Ok(is_silent.then(|| line.asking.silence()))
    }

    /// Asks until the end of the stream, and waits for the rest of the replies.
    fn pass(
        &self,
        line: &mut Line,
        gap: Duration,
        abort: &dyn Fn() -> bool,
        each: &mut impl FnMut(Echoed),
    ) -> Result<(), Broken> {
        let begun = clock::now();
        let (mut sequence, mut due) = (0, begun);
        while due + DRAIN < self.until && !abort() {
            if let Some(sent) = line.ask(sequence)? {
                (sequence, due) = slot_after(gap, sequence, begun, sent);
            } else {
                // No route for the moment, or no room: nothing was sent, so nothing is lost.
                due = clock::now() + PATIENCE;
            }
            while let Some((sequence, request)) = line.requests.forget_oldest() {
                each(lost(sequence, request.sent));
            }
            line.receive(due, abort, each)?;
        }
        while clock::now() < self.until && !line.requests.is_empty() && !abort() {
            line.receive(self.until.min(clock::now() + PATIENCE), abort, each)?;
        }
        Ok(())
    }
}

const fn lost(sequence: u32, sent: Instant) -> Echoed {
    Echoed {
        sequence,
        sent,
        rtt: None,
    }
}

struct Line {
    asking: Asking,
    requests: Requests<()>,
    is_answered: bool,
}

impl Line {
    fn ask(&mut self, sequence: u32) -> Result<Option<Instant>, Broken> {
        let sent = self.asking.ask(sequence)?;
        if let Some(sent) = sent {
            self.requests.sent(sequence, sent, ());
        }
        Ok(sent)
    }

    /// Takes replies until `deadline`.
    fn receive(
        &mut self,
        deadline: Instant,
        abort: &dyn Fn() -> bool,
        each: &mut impl FnMut(Echoed),
    ) -> Result<(), Broken> {
        while !abort() {
            let left = deadline.since(clock::now());
            if left.is_zero() {
                break;
            }
            self.asking.wait(left.min(PATIENCE))?;
            let Self {
                asking,
                requests,
                is_answered,
            } = self;
            asking.take(|reply, came| {
                // A copy finds its request gone.
                let Some(request) = requests.replied(reply.number) else {
                    return;
                };
                let rtt = came.since(request.sent);
                requests.took(rtt);
                *is_answered = true;
                // The time that the far end says it took is not the path's.
                let held = reply.stamps.and_then(|stamps| stamps.held(rtt));
                each(Echoed {
                    sequence: reply.number,
                    sent: request.sent,
                    rtt: Some(rtt.saturating_sub(held.unwrap_or_default())),
                });
            })?;
            if let Some(reason) = self.asking.ended() {
                return Err(Broken::Far(reason.to_owned()));
            }
        }
        Ok(())
    }
}
