//! The sending end of a test: drives its stream and judges it.
//!
//! A thread of its own goes round a loop: take reports, each at the time of its arrival; send what is due; judge what is known;
//! wait, asleep until shortly before the next departure and spinning for the rest.

use super::messages::Passed;
use super::plan::Plan;
use super::report::Totals;
use super::results::SenderResult;
use super::spans::Spans;
use kit::datagrams::{Link, expand};
use kit::thinned::Thinned;
use mbm::diagnostic::{AqmLimits, Decider, QueueLimits, Setup, Test, judge_rounds, judge_scan};
use mbm::loss::Counts;
use mbm::stream::{Ack, Keeping, Schedule, Stream};
use mbm::verdict::{Judge, Observation, Outcome, Reason, Verdict};
use session::wire::Kind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use sys::{Error, clock};
use units::{Ecn, Instant};

/// How often what is known is judged.
pub(super) const TICK: Duration = Duration::from_millis(10);
/// A departure is slept towards until this long before it.
const SPIN: Duration = Duration::from_micros(80);
/// The time that a burst may take for each of its packets: what a slow host needs to hand one over, or 1 Gbit/s.
pub(super) const PER_PACKET: Duration = Duration::from_micros(12);
/// Packets of a test that get rows.
pub(super) const MOST_ROWS: usize = 20_000;

/// What a sending end is to do.
pub(crate) struct Job<'a> {
    pub plan: &'a Plan,
    pub test: Test,
    pub path_rtt: Duration,
    pub together: &'a Together,
    pub abort: &'a (dyn Fn() -> bool + Sync),
    /// Told how it goes.
    pub watch: &'a Mutex<Counts>,
}

/// Streams side by side: they begin at one instant, and each goes on until all have their verdicts, so that none is judged with
/// fewer beside it.
pub(crate) struct Together {
    pub(super) start: Instant,
    undecided: AtomicUsize,
}

impl Together {
    /// So many streams, which begin soon.
    pub(crate) fn of(streams: usize) -> Self {
        Self {
            start: clock::now() + TICK,
            undecided: AtomicUsize::new(streams),
        }
    }

    fn is_decided(&self) -> bool {
        self.undecided.load(Ordering::Relaxed) == 0
    }
}

/// A stream without a verdict; however it ends, the others need not wait for it any longer.
struct Undecided<'a>(&'a Together);

impl Drop for Undecided<'_> {
    fn drop(&mut self) {
        self.0.undecided.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A sender at work.
struct Sending<'a> {
    job: &'a Job<'a>,
    link: &'a mut Link,
    stream: Box<dyn Stream>,
    judge: Judge,
    keeping: Keeping,
    /// Whether bursts leave at the interface's rate, for they were slower than twice the bottleneck.
    at_line_rate: bool,
    spans: Spans,
    seen: Observation,
    /// Number of the latest packet that was reported.
    last: u64,
    start: Instant,
    judged: Instant,
    rtt_ms: Thinned,
    rows: Vec<Passed>,
    left_out: u64,
}

/// Sends until there is a verdict; the rows of its first packets beside the counters.
pub(crate) fn run(job: &Job<'_>, link: &mut Link) -> Result<(SenderResult, Vec<Passed>), String> {
    // Only where /proc is closed does this fail, and timers are later then.
    let _ = clock::timer_slack(1);
    let start = job.together.start;
    let undecided = Undecided(job.together);
    let setup = job.plan.setup(job.path_rtt);
    let stream = setup
        .stream(job.test, start)
        .ok_or_else(|| format!("the {} test sends nothing", job.test))?;
    let options = setup.judge(job.test, job.plan.ruling()?, job.plan.timeout.0);
    let shape = stream.shape();
    let span = setup
        .pattern(job.test)
        .map_or(Duration::ZERO, |pattern| pattern.span());
    let span = span + PER_PACKET * shape.burst_packets;
    let mut sending = Sending {
        job,
        link,
        judge: Judge::new(options, start),
        keeping: Keeping::new(shape, job.plan.target.rtt(), span),
        at_line_rate: false,
        spans: Spans::new(shape.burst_packets),
        stream,
        seen: Observation::default(),
        last: 0,
        start,
        judged: start,
        rtt_ms: Thinned::default(),
        rows: Vec::new(),
        left_out: 0,
    };
    let verdict = sending.drive(undecided);
    Ok(sending.counters(verdict))
}

impl Sending<'_> {
    fn drive(&mut self, undecided: Undecided<'_>) -> Verdict {
        let mut undecided = Some(undecided);
        let mut verdict = None;
        loop {
            match self.turn(verdict.is_none()) {
                Ok(found) => verdict = verdict.or(found),
                Err(error) => return verdict.unwrap_or_else(|| failed(&error)),
            }
            if verdict.is_some() {
                drop(undecided.take());
            }
            if let Some(verdict) = verdict.take_if(|_| self.job.together.is_decided()) {
                return verdict;
            }
            if (self.job.abort)() {
                return verdict.unwrap_or_else(called_off);
            }
        }
    }

    /// Once round the loop.
    fn turn(&mut self, judges: bool) -> Result<Option<Verdict>, Error> {
        let any = self.receive()?;
        let now = self.link.advance(clock::now());
        self.send(now)?;
        if judges && (now.since(self.judged) >= TICK || self.stream.is_done()) {
            self.judged = now;
            match self.judge(now) {
                Some(slow) if slow.reason == Reason::BurstSlow && !self.at_line_rate => {
                    self.hasten(now);
                }
                Some(verdict) => return Ok(Some(self.at_its_rate(verdict))),
                None => {}
            }
        }
        if !any {
            self.wait(now)?;
        }
        Ok(None)
    }

    /// Slow-start bursts go on at the rate of the interface, and are judged anew in the time that is left.
    fn hasten(&mut self, now: Instant) {
        let (plan, test) = (self.job.plan, self.job.test);
        self.at_line_rate = true;
        let setup = Setup {
            at_line_rate: true,
            ..plan.setup(self.job.path_rtt)
        };
        if let (Some(pattern), Ok(ruling)) = (setup.pattern(test), plan.ruling()) {
            let left = plan.timeout.0.saturating_sub(now.since(self.start));
            let stream = Schedule::new(pattern, now).numbered(self.seen.sent);
            let shape = stream.shape();
            self.stream = Box::new(stream);
            self.judge = Judge::new(setup.judge(test, ruling, left), now);
            let span = PER_PACKET * shape.burst_packets;
            self.keeping = Keeping::new(shape, plan.target.rtt(), span);
        }
    }

    /// Says so of bursts that left faster than the section asks: few losses of these pass all the more, many may be due to that.
    fn at_its_rate(&self, mut verdict: Verdict) -> Verdict {
        if self.at_line_rate {
            if verdict.reason == Reason::LossHigh {
                verdict.outcome = Outcome::Inconclusive;
                verdict.reason = Reason::BurstSlow;
                "bursts at twice the bottleneck's rate, once that is known"
                    .clone_into(&mut verdict.would_change);
            }
            verdict.says += "; in bursts at the interface's rate, for at twice the target's they were slower than twice the bottleneck";
        }
        verdict
    }

    /// Takes one batch of reports; false when there was none.
    fn receive(&mut self) -> Result<bool, Error> {
        let mut reports = Vec::new();
        let any = self.link.recv(|probe, payload, receipt| {
            if probe.kind == Kind::Reply
                && let Some(totals) = Totals::parse(payload)
            {
                reports.push((*probe, totals, receipt.received));
            }
        })?;
        for (probe, totals, at) in reports {
            self.take(&totals);
            let seq = expand(probe.sequence, self.last);
            if seq >= self.seen.sent {
                continue;
            }
            self.last = self.last.max(seq);
            let ce = probe.arrived().is_some_and(|class| class.ecn == Ecn::Ce);
            self.stream.handle_ack(Ack { seq, ce }, at);
            self.spans.arrived(seq, probe.received);
            self.rtt_ms.add(at.since(probe.sent).as_secs_f64() * 1e3);
            if self.rows.len() < MOST_ROWS {
                self.rows.push(Passed {
                    seq,
                    sent_ns: probe.sent.as_nanos(),
                    arrived_ns: probe.received.as_nanos(),
                    reported_ns: at.as_nanos(),
                    ce,
                });
            } else {
                self.left_out += 1;
            }
        }
        Ok(any)
    }

    /// Totals only grow; a report that was overtaken says nothing new. More than was sent is nobody's.
    fn take(&mut self, totals: &Totals) {
        let is_newer = totals.settled.packets >= self.seen.settled.packets;
        if totals.settled.packets <= self.seen.sent && is_newer {
            self.seen.settled = totals.settled;
        }
        if totals.arrived <= self.seen.sent {
            self.seen.arrived = self.seen.arrived.max(totals.arrived);
        }
        self.seen.clock_stepped |= totals.clock_stepped;
    }

    fn send(&mut self, now: Instant) -> Result<(), Error> {
        while let Some(burst) = self.stream.poll(now) {
            let (first, last) = self.link.send_burst(burst.first, burst.packets)?;
            // A single packet has no length: what the call took was the kernel's time, or another thread's.
            let end = if burst.packets == 1 { first } else { last };
            self.keeping.left(&burst, first, end);
            self.spans.sent(burst.first, first);
            let seq = burst.first + u64::from(burst.packets.saturating_sub(1));
            self.spans.sent(seq, last);
            self.seen.sent += u64::from(burst.packets);
            if last.since(now) >= TICK {
                // A stream that is behind for good still hears and is judged.
                return Ok(());
            }
        }
        Ok(())
    }

    fn judge(&mut self, now: Instant) -> Option<Verdict> {
        self.seen.clock_stepped |= self.link.clock_stepped();
        self.spans.settle(self.last);
        if let Ok(mut watch) = self.job.watch.lock() {
            *watch = self.seen.settled;
        }
        let (plan, test) = (self.job.plan, self.job.test);
        match test.decider() {
            Decider::Losses => {
                self.seen.pattern = Some(self.keeping.report());
                self.seen.stretch = self.spans.stretch();
                self.judge.observe(&self.seen, now).cloned()
            }
            Decider::Scan if self.stream.is_done() => {
                let run = plan.run_length().ok()?;
                let limits = QueueLimits::new(&plan.setup(self.job.path_rtt), run);
                Some(judge_scan(test, &self.stream.scan()?, &limits))
            }
            Decider::Rounds if self.stream.is_done() => {
                let limits = AqmLimits::new(&plan.target);
                Some(judge_rounds(self.stream.rounds(), &limits))
            }
            _ => (now.since(self.start) >= plan.timeout.0).then(|| Verdict {
                outcome: Outcome::Inconclusive,
                reason: Reason::Timeout,
                says: format!("not over after {:.0} s", plan.timeout.0.as_secs_f64()),
                would_change: "a longer --timeout".to_owned(),
            }),
        }
    }

    /// Waits for a report or for the next departure, whichever is first.
    fn wait(&mut self, now: Instant) -> Result<(), Error> {
        let due = self.stream.next_due().filter(|due| *due > now);
        let deadline = due.map_or(now + TICK, |due| due.min(now + TICK));
        if deadline.since(now) > SPIN {
            return self.link.wait(deadline - SPIN);
        }
        while clock::now() < deadline {
            std::hint::spin_loop();
        }
        Ok(())
    }

    fn counters(self, verdict: Verdict) -> (SenderResult, Vec<Passed>) {
        let mut quality = self.link.quality();
        quality.rows_left_out = self.left_out;
        let is_counted = self.job.test.decider() == Decider::Losses;
        let counters = SenderResult {
            sent: self.seen.sent,
            seconds: self.judged.since(self.start).as_secs_f64(),
            verdict,
            figures: is_counted.then(|| self.judge.figures()),
            scan: self.stream.scan(),
            rounds: self.stream.rounds().to_vec(),
            pattern: self.keeping.report(),
            rtt_ms: self.rtt_ms.distribution(),
            told: self.seen.settled,
            quality,
            tcp: None,
        };
        (counters, self.rows)
    }
}

/// The sender's own failure is no property of the path.
fn failed(error: &Error) -> Verdict {
    Verdict {
        outcome: Outcome::Error,
        reason: Reason::SenderRate,
        says: format!("the sender could not send: {error}"),
        would_change: if error.is_too_long() {
            "packets that fit the interface: a smaller --mtu".to_owned()
        } else {
            "a host whose network works".to_owned()
        },
    }
}

pub(super) fn called_off() -> Verdict {
    Verdict {
        outcome: Outcome::Inconclusive,
        reason: Reason::Timeout,
        says: "it was called off".to_owned(),
        would_change: "a test that is not interrupted".to_owned(),
    }
}
