//! The receiving end of a test over a socket: drives its [`Receiver`] until it is told that the test is over.

use super::plan::Plan;
use super::receiver::{Receiver, drain};
use super::results::ReceiverResult;
use kit::datagrams::{Link, expand};
use session::wire::{Kind, Probe, Receipt};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use sys::{Error, clock};
use units::{Ecn, Instant};

/// How often a receiver that waits looks up, and reports what has changed without an arrival.
const TICK: Duration = Duration::from_millis(20);
/// Until the sender has said how many it sent.
pub(super) const UNKNOWN: u64 = u64::MAX;

/// What a receiving end is to do.
pub(crate) struct Job<'a> {
    pub plan: &'a Plan,
    /// One of so many packets is reported.
    pub report_every: u64,
    /// How many packets were sent, once that is known: the test is over.
    pub sent: &'a AtomicU64,
    pub abort: &'a (dyn Fn() -> bool + Sync),
}

/// A receiver at work.
struct Receiving<'a> {
    job: &'a Job<'a>,
    link: &'a mut Link,
    receiver: Receiver,
    /// The last packet there was, to report in its name.
    shown: Option<(Probe, Receipt)>,
}

/// Receives until the job is done.
pub(crate) fn run(job: &Job<'_>, link: &mut Link) -> ReceiverResult {
    // Only where /proc is closed does this fail, and timers are later then.
    let _ = clock::timer_slack(1);
    let mut receiving = Receiving {
        job,
        link,
        receiver: Receiver::new(job.report_every, job.plan.target.rtt()),
        shown: None,
    };
    while job.sent.load(Ordering::Relaxed) == UNKNOWN && !(job.abort)() && receiving.turn().is_ok()
    {
    }
    receiving.drain();
    let sent = Some(job.sent.load(Ordering::Relaxed)).filter(|sent| *sent != UNKNOWN);
    receiving.receiver.end(sent, &receiving.link.quality())
}

impl Receiving<'_> {
    /// Once round the loop.
    fn turn(&mut self) -> Result<(), Error> {
        if self.take()? {
            return Ok(());
        }
        let now = self.link.advance(clock::now());
        self.receiver.handle_timeout(now);
        if self.link.clock_stepped() {
            self.receiver.note_clock_step();
        }
        if self.receiver.has_news()
            && let Some((probe, receipt)) = self.shown
        {
            self.report(&probe, &receipt)?;
        }
        let tick = now + TICK;
        let due = self.receiver.next_timeout().filter(|due| *due > now);
        self.link.wait(due.map_or(tick, |due| due.min(tick)))
    }

    /// Takes one batch; false when there was nothing.
    fn take(&mut self) -> Result<bool, Error> {
        let mut arrivals = Vec::new();
        let any = self.link.recv(|probe, _, receipt| {
            if probe.kind == Kind::OneWay {
                arrivals.push((*probe, *receipt));
            }
        })?;
        if self.link.clock_stepped() {
            self.receiver.note_clock_step();
        }
        for (probe, receipt) in arrivals {
            let seq = expand(probe.sequence, self.receiver.last());
            let ce = receipt.arrived.is_some_and(|class| class.ecn == Ecn::Ce);
            let reports = self.receiver.handle_packet(seq, ce, receipt.received);
            self.shown = Some((probe, receipt));
            if reports {
                self.report(&probe, &receipt)?;
            }
        }
        Ok(any)
    }

    fn report(&mut self, probe: &Probe, receipt: &Receipt) -> Result<(), Error> {
        let totals = self.receiver.report();
        self.link.send_reply(probe, receipt, &totals.emit())
    }

    /// Takes what is still under way.
    fn drain(&mut self) {
        let end: Instant = clock::now() + drain(self.job.plan.target.rtt());
        while clock::now() < end && !(self.job.abort)() {
            match self.take() {
                Ok(true) => {}
                Ok(false) if self.link.wait(end).is_ok() => {}
                _ => break,
            }
        }
    }
}
