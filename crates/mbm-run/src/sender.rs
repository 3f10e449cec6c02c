//! What a sending end sends and what it says of the path: a machine without clock and socket.
//!
//! Whoever carries the packets asks [`Sender::poll`] what is due, tells when it has left and what reports came, and lets it
//! [judge](Sender::judge) every [`TICK`].

use super::messages::Passed;
use super::plan::Plan;
use super::report::Totals;
use super::results::SenderResult;
use super::spans::Spans;
use kit::datagrams::Quality;
use kit::thinned::Thinned;
use mbm::diagnostic::{AqmLimits, Decider, QueueLimits, Setup, Test, judge_rounds, judge_scan};
use mbm::loss::Counts;
use mbm::stream::{Ack, Burst, Keeping, Schedule, Stream};
use mbm::verdict::{Judge, Observation, Outcome, Reason, Verdict};
use std::time::Duration;
use units::Instant;

/// How often what is known is judged.
pub(super) const TICK: Duration = Duration::from_millis(10);
/// The time that a burst may take for each of its packets: what a slow host needs to hand one over, or 1 Gbit/s.
pub(super) const PER_PACKET: Duration = Duration::from_micros(12);
/// Packets of a test that get rows.
pub(super) const MOST_ROWS: usize = 20_000;

/// A test of a plan over a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'a> {
    pub plan: &'a Plan,
    pub test: Test,
    /// Round trip of the idle path.
    pub path_rtt: Duration,
}

/// The receiver's report of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report {
    /// The packet's number.
    pub seq: u64,
    /// When it left.
    pub sent: Instant,
    /// When it arrived, on the receiver's clock.
    pub received: Instant,
    /// When the report came.
    pub reported: Instant,
    /// Whether it arrived marked CE.
    pub ce: bool,
}

/// See the module.
pub(crate) struct Sender<'a> {
    task: Task<'a>,
    stream: Box<dyn Stream>,
    judge: Judge,
    keeping: Keeping,
    /// Whether bursts leave at the interface's rate, for they were slower than twice the bottleneck.
    at_line_rate: bool,
    spans: Spans,
    seen: Observation,
    /// Number of the latest packet that was reported.
    last: u64,
    /// The packet of the last report: its number, and when it arrived.
    named: Option<(u64, Instant)>,
    start: Instant,
    judged: Instant,
    rtt_ms: Thinned,
    rows: Vec<Passed>,
    left_out: u64,
}

impl<'a> Sender<'a> {
    /// A sender whose stream begins at `start`.
    ///
    /// # Errors
    /// When the test sends nothing, or the plan has no run length.
    pub(crate) fn new(task: Task<'a>, start: Instant) -> Result<Self, String> {
        let Task { plan, test, .. } = task;
        let setup = plan.setup(task.path_rtt);
        let stream = setup
            .stream(test, start)
            .ok_or_else(|| format!("the {test} test sends nothing"))?;
        let options = setup.judge(test, plan.ruling()?, plan.timeout.0);
        let shape = stream.shape();
        let span = setup
            .pattern(test)
            .map_or(Duration::ZERO, |pattern| pattern.span());
        let span = span + PER_PACKET * shape.burst_packets;
        Ok(Self {
            task,
            judge: Judge::new(options, start),
            keeping: Keeping::new(shape, plan.target.rtt(), span),
            at_line_rate: false,
            spans: Spans::new(shape.burst_packets),
            stream,
            seen: Observation::default(),
            last: 0,
            named: None,
            start,
            judged: start,
            rtt_ms: Thinned::default(),
            rows: Vec::new(),
            left_out: 0,
        })
    }

    /// What is to leave at `now`; nothing when nothing more is due.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<Burst> {
        self.stream.poll(now)
    }

    /// When to poll next though nothing is reported.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.stream.next_due()
    }

    /// The packets of `burst` left from `first` to `last`.
    pub(crate) fn left(&mut self, burst: &Burst, first: Instant, last: Instant) {
        // A single packet has no length: what handing it over took was the kernel's time, or another thread's.
        let end = if burst.packets == 1 { first } else { last };
        self.keeping.left(burst, first, end);
        self.spans.sent(burst.first, first);
        let seq = burst.first + u64::from(burst.packets.saturating_sub(1));
        self.spans.sent(seq, last);
        self.seen.sent += u64::from(burst.packets);
    }

    /// Number of the latest packet that was reported.
    pub(crate) const fn last(&self) -> u64 {
        self.last
    }

    /// A report came, with the totals of the receiver's counters.
    pub(crate) fn handle_report(&mut self, report: &Report, totals: &Totals) {
        self.take(totals);
        let seq = report.seq;
        if seq >= self.seen.sent {
            return;
        }
        // What has changed since is reported in the name of the same packet once more.
        let name = (seq, report.received);
        if self.named.replace(name) == Some(name) {
            return;
        }
        self.last = self.last.max(seq);
        let ce = report.ce;
        self.stream.handle_ack(Ack { seq, ce }, report.reported);
        self.spans.arrived(seq, report.received);
        let took = report.reported.since(report.sent);
        self.rtt_ms.add(took.as_secs_f64() * 1e3);
        if self.rows.len() < MOST_ROWS {
            self.rows.push(Passed {
                seq,
                sent_ns: report.sent.as_nanos(),
                arrived_ns: report.received.as_nanos(),
                reported_ns: report.reported.as_nanos(),
                ce,
            });
        } else {
            self.left_out += 1;
        }
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

    /// A clock was set at this end.
    pub(crate) const fn note_clock_step(&mut self) {
        self.seen.clock_stepped = true;
    }

    /// Packets whose fate is known.
    pub(crate) const fn settled(&self) -> Counts {
        self.seen.settled
    }

    /// When to judge next, if the stream is not over before.
    pub(crate) fn next_judgement(&self) -> Instant {
        self.judged + TICK
    }

    /// Whether it is time to judge.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        now >= self.next_judgement() || self.stream.is_done()
    }

    /// Judges what is known. The verdict, once there is one.
    pub(crate) fn judge(&mut self, now: Instant) -> Option<Verdict> {
        self.judged = now;
        self.spans.settle(self.last);
        match self.verdict(now)? {
            slow if slow.reason == Reason::BurstSlow && !self.at_line_rate => {
                self.hasten(now);
                None
            }
            verdict => Some(self.at_its_rate(verdict)),
        }
    }

    fn verdict(&mut self, now: Instant) -> Option<Verdict> {
        let Task { plan, test, .. } = self.task;
        match test.decider() {
            Decider::Losses => {
                self.seen.pattern = Some(self.keeping.report());
                self.seen.stretch = self.spans.stretch();
                self.judge.observe(&self.seen, now).cloned()
            }
            Decider::Scan if self.stream.is_done() => {
                let run = plan.run_length().ok()?;
                let limits = QueueLimits::new(&plan.setup(self.task.path_rtt), run);
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

    /// Slow-start bursts go on at the rate of the interface, and are judged anew in the time that is left.
    fn hasten(&mut self, now: Instant) {
        let Task { plan, test, .. } = self.task;
        self.at_line_rate = true;
        let setup = Setup {
            at_line_rate: true,
            ..plan.setup(self.task.path_rtt)
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

    /// The counters of a test that ended with `verdict`, and the rows of its first packets.
    pub(crate) fn end(self, verdict: Verdict, mut quality: Quality) -> (SenderResult, Vec<Passed>) {
        quality.rows_left_out = self.left_out;
        let is_counted = self.task.test.decider() == Decider::Losses;
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

/// The verdict of a test that was not made to its end.
pub(super) fn called_off() -> Verdict {
    Verdict {
        outcome: Outcome::Inconclusive,
        reason: Reason::Timeout,
        says: "it was called off".to_owned(),
        would_change: "a test that is not interrupted".to_owned(),
    }
}
