//! The receiving end of a test: keeps the counters of what arrived and reports them, until it is told that the test is over.

use super::plan::Plan;
use super::report::Totals;
use super::results::ReceiverResult;
use kit::datagrams::{Link, Quality, expand};
use mbm::loss::{Arrival, Ledger, LossReport};
use mbm::stream::Stream;
use session::wire::{Kind, Probe, Receipt};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use sys::{Error, clock};
use units::{Ecn, Instant};

/// How often a receiver that waits looks up, and reports what has changed without an arrival.
const TICK: Duration = Duration::from_millis(20);
/// What is under way when the sender is done has come after this and two target round trips.
const DRAIN: Duration = Duration::from_millis(100);
/// Reports of packets a second, about, where the stream's clock does not need more.
const REPORTS_PER_S: f64 = 2_000.0;
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

/// Which packets of `stream` are to be reported: all that its clock or its judge needs.
pub(super) fn report_every(stream: &dyn Stream, packets_per_s: f64, is_self_clocked: bool) -> u64 {
    if is_self_clocked || stream.shape().burst_packets > 1 {
        return 1;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive ratio"
    )]
    let every = (packets_per_s / REPORTS_PER_S) as u64;
    every.max(1)
}

/// A receiver at work.
struct Receiving<'a> {
    job: &'a Job<'a>,
    link: &'a mut Link,
    ledger: Ledger,
    arrived: u64,
    /// Number of the latest packet.
    last: u64,
    /// The last packet there was, to report in its name.
    shown: Option<(Probe, Receipt)>,
    reported: Totals,
}

/// Receives until the job is done.
pub(crate) fn run(job: &Job<'_>, link: &mut Link) -> ReceiverResult {
    // Only where /proc is closed does this fail, and timers are later then.
    let _ = clock::timer_slack(1);
    let mut receiving = Receiving {
        job,
        link,
        ledger: Ledger::new(job.plan.target.rtt()),
        arrived: 0,
        last: 0,
        shown: None,
        reported: Totals::default(),
    };
    while job.sent.load(Ordering::Relaxed) == UNKNOWN && !(job.abort)() && receiving.turn().is_ok()
    {
    }
    receiving.drain();
    receiving.counters()
}

impl Receiving<'_> {
    /// Once round the loop.
    fn turn(&mut self) -> Result<(), Error> {
        if self.take()? {
            return Ok(());
        }
        let now = self.link.advance(clock::now());
        self.ledger.handle_timeout(now);
        if self.totals() != self.reported
            && let Some((probe, receipt)) = self.shown
        {
            self.report(&probe, &receipt)?;
        }
        let tick = now + TICK;
        let due = self.ledger.next_timeout().filter(|due| *due > now);
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
        for (probe, receipt) in arrivals {
            let seq = expand(probe.sequence, self.last);
            let ce = receipt.arrived.is_some_and(|class| class.ecn == Ecn::Ce);
            let arrival = self.ledger.handle_arrival(seq, ce, receipt.received);
            if arrival == Arrival::New {
                self.arrived += 1;
                self.last = self.last.max(seq);
            }
            self.shown = Some((probe, receipt));
            if seq.is_multiple_of(self.job.report_every) && arrival != Arrival::Implausible {
                self.report(&probe, &receipt)?;
            }
        }
        Ok(any)
    }

    fn totals(&self) -> Totals {
        Totals {
            arrived: self.arrived,
            settled: *self.ledger.counts(),
            clock_stepped: self.link.clock_stepped(),
        }
    }

    fn report(&mut self, probe: &Probe, receipt: &Receipt) -> Result<(), Error> {
        let totals = self.totals();
        self.link.send_reply(probe, receipt, &totals.emit())?;
        self.reported = totals;
        Ok(())
    }

    /// Takes what is still under way.
    fn drain(&mut self) {
        let end: Instant = clock::now() + DRAIN + self.job.plan.target.rtt() * 2;
        while clock::now() < end && !(self.job.abort)() {
            match self.take() {
                Ok(true) => {}
                Ok(false) if self.link.wait(end).is_ok() => {}
                _ => break,
            }
        }
        let sent = self.job.sent.load(Ordering::Relaxed);
        if sent != UNKNOWN {
            self.ledger.close(sent);
        }
    }

    fn counters(self) -> ReceiverResult {
        ReceiverResult {
            loss: LossReport::of(&self.ledger),
            quality: Quality {
                refused: self.link.quality().refused + self.ledger.implausible(),
                ..self.link.quality()
            },
        }
    }
}
