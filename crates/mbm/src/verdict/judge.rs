//! The flow chart of thesis figure 3-3 as a state machine.
//!
//! ```text
//! growth ── preconditions hold ──> test ── each interval: preconditions hold? ── no ──> FAIL or ERROR
//!    │                               │                     └─ yes: losses few? ──> PASS   too many? ──> FAIL
//!    └─ never: FAIL or ERROR         └─ time over: INCONCLUSIVE
//! ```
//!
//! Call [`Judge::observe`] whenever something is known (each interval, or each packet), with totals since the stream began. `now` never goes back.

use super::checks::{self, Check};
use super::{TestFigures, Verdict, words};
use crate::loss::Counts;
use crate::sequential::{Decision, Ruling, Walk};
use crate::stream::{PatternReport, RateMeter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::Instant;

/// Shortest time over which rates are measured.
const LEAST_WINDOW: Duration = Duration::from_secs(1);

/// A test period begins at most so long after its preconditions hold, even if packets are missing.
const LONGEST_GAP: Duration = Duration::from_secs(1);

/// How to judge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgeOptions {
    /// When losses are few enough, or too many.
    pub ruling: Ruling,
    /// Packets per second that the stream is to have.
    pub packets_per_s: f64,
    /// Whether the path is the stream's clock: then a low rate is the path's, never the sender's.
    pub is_self_clocked: bool,
    /// Whether TCP carries the stream: it slows down for losses, which is the path's doing and makes a low rate, and its window may hold
    /// bursts back, which leaves nothing to pass (thesis 3.5 and 3.6).
    pub by_tcp: bool,
    /// Whether bursts must arrive at half the rate at which they left, or slower.
    pub needs_stretch: bool,
    /// Time over which rates are measured; several bursts must fit. At least a second is taken.
    pub rate_window: Duration,
    /// Time to reach the preconditions.
    pub growth_limit: Duration,
    /// Time for the whole test.
    pub time_limit: Duration,
}

/// What is known at an instant; all counts since the stream began.
#[derive(Clone, Debug, Default)]
pub struct Observation {
    /// Packets that left.
    pub sent: u64,
    /// Packets that arrived, copies apart.
    pub arrived: u64,
    /// Packets whose fate is known.
    pub settled: Counts,
    /// The sender's counters, where it keeps any.
    pub pattern: Option<PatternReport>,
    /// Mean ratio of the times in which a burst arrived and was sent, where measured.
    pub stretch: Option<f64>,
    /// Whether a clock was set since the stream began.
    pub clock_stepped: bool,
}

impl Observation {
    /// Whether packets have arrived behind one that is still missing, so that neither its fate nor theirs is known. Of TCP, whose kernel says
    /// only what was acknowledged, that is never seen.
    fn has_gap(&self) -> bool {
        self.arrived > self.settled.packets.saturating_sub(self.settled.lost)
    }
}

/// Where the test stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The stream has yet to reach its preconditions.
    Growth,
    /// Losses are counted.
    Test,
    /// There is a verdict.
    Over,
}

/// Judges one stream.
#[derive(Clone, Debug)]
pub struct Judge {
    options: JudgeOptions,
    began: Instant,
    sent: RateMeter,
    arrived: RateMeter,
    /// Since when all preconditions hold.
    ready: Option<Instant>,
    /// When the test period began, and what was settled and sent then.
    test: Option<(Instant, Counts)>,
    pattern: Option<PatternReport>,
    counts: Counts,
    walk: Walk,
    checks: Vec<Check>,
    last: Instant,
    verdict: Option<Verdict>,
}

impl Judge {
    /// A judge of a stream that begins at `now`.
    pub fn new(options: JudgeOptions, now: Instant) -> Self {
        let window = options.rate_window.max(LEAST_WINDOW);
        Self {
            options,
            began: now,
            sent: RateMeter::new(window),
            arrived: RateMeter::new(window),
            ready: None,
            test: None,
            pattern: None,
            counts: Counts::default(),
            walk: Walk::default(),
            checks: Vec::new(),
            last: now,
            verdict: None,
        }
    }

    /// This is known at `now`. The verdict, once there is one; it never changes.
    pub fn observe(&mut self, seen: &Observation, now: Instant) -> Option<&Verdict> {
        if self.verdict.is_none() {
            self.last = now;
            self.sent.count(seen.sent, now);
            self.arrived.count(seen.arrived, now);
            self.checks = checks::all(&self.options, seen, &self.sent, &self.arrived);
            self.verdict = self.step(seen, now);
            if self.verdict.is_some() {
                self.walk.finish();
            }
        }
        self.verdict.as_ref()
    }

    fn step(&mut self, seen: &Observation, now: Instant) -> Option<Verdict> {
        let is_overdue = now.since(self.began) >= self.options.time_limit;
        let Some((_, before)) = self.test else {
            return self.grow(seen, now);
        };
        if let Some(broken) = checks::broken(&self.checks) {
            return Some(broken);
        }
        self.counts = seen.settled.since(&before);
        let (n, m) = (self.counts.packets, self.counts.marks());
        self.walk.reach(n, m);
        match self.options.ruling.decide(n, m) {
            Decision::Accept if self.is_held_back(seen) => Some(words::held_back(
                seen.pattern.as_ref(),
                self.pattern.as_ref(),
            )),
            Decision::Accept => Some(words::low(
                &self.options.ruling,
                &self.counts,
                seen.pattern.is_some(),
            )),
            Decision::Reject => Some(words::high(&self.options.ruling, &self.counts)),
            Decision::Continue if is_overdue || self.options.ruling.is_spent(n) => {
                Some(words::open(&self.options.ruling, &self.counts))
            }
            Decision::Continue => None,
        }
    }

    /// Whether TCP's window held so many bursts back that few losses say nothing. (Many losses do: whole bursts lose no less.)
    fn is_held_back(&self, seen: &Observation) -> bool {
        let pattern = seen.pattern.as_ref().filter(|_| self.options.by_tcp);
        pattern.is_some_and(|pattern| !pattern.is_whole_since(self.pattern.as_ref()))
    }

    /// The growth period ends when all preconditions are known and hold, and no packet is missing: what is settled ends before a missing packet,
    /// so a test that began there would begin with a loss far more often than packets are lost. With so many losses that some packet is
    /// always missing, this does not matter.
    fn grow(&mut self, seen: &Observation, now: Instant) -> Option<Verdict> {
        let limit = self.options.growth_limit.min(self.options.time_limit);
        let is_overdue = now.since(self.began) >= limit;
        if self.checks.iter().all(|check| check.held == Some(true)) {
            let ready = *self.ready.get_or_insert(now);
            if is_overdue || !seen.has_gap() || now.since(ready) >= LONGEST_GAP {
                self.test = Some((now, seen.settled));
                self.pattern.clone_from(&seen.pattern);
            }
            return None;
        }
        self.ready = None;
        if !is_overdue {
            return None;
        }
        if seen.arrived == 0 && seen.sent > 0 {
            return Some(words::silence(seen.sent));
        }
        checks::broken(&self.checks).or_else(|| Some(words::no_time()))
    }

    /// When time runs out though nothing is observed; observe again then.
    pub fn next_timeout(&self) -> Option<Instant> {
        let limit = match self.phase() {
            Phase::Growth => self.options.growth_limit.min(self.options.time_limit),
            Phase::Test => self.options.time_limit,
            Phase::Over => return None,
        };
        Some(self.began + limit)
    }

    /// Where the test stands.
    pub const fn phase(&self) -> Phase {
        match (&self.verdict, &self.test) {
            (Some(_), _) => Phase::Over,
            (None, Some(_)) => Phase::Test,
            (None, None) => Phase::Growth,
        }
    }

    /// The verdict, once there is one.
    pub const fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    /// The figures so far.
    pub fn figures(&self) -> TestFigures {
        let ns = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let began = self.test.map(|(at, _)| at);
        let mut walk = self.walk.clone();
        walk.finish();
        TestFigures {
            hypotheses: *self.options.ruling.sprt().hypotheses(),
            counts: self.counts,
            walk,
            preconditions: self.checks.clone(),
            growth_ns: began.map(|at| ns(at.since(self.began))),
            test_ns: began.map(|at| ns(self.last.since(at))),
            least_packets: self.options.ruling.least_packets(),
        }
    }
}
