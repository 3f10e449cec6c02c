//! The flow chart of thesis figure 3-3 as a state machine.
//!
//! ```text
//! growth ── preconditions hold ──> test ── each interval: preconditions hold? ── no ──> FAIL or ERROR
//!    │                               │                     └─ yes: losses few? ──> PASS   too many? ──> FAIL
//!    └─ never: FAIL or ERROR         └─ time over: INCONCLUSIVE
//! ```
//!
//! Call [`Judge::observe`] whenever something is known (each interval, or each packet), with totals since the stream began. `now` never goes back.

use super::{Outcome, Reason, Verdict};
use crate::loss::Counts;
use crate::sequential::{Decision, Hypotheses, Ruling, Walk};
use crate::stream::{PatternReport, RateMeter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::Instant;

/// Share of the wanted rate that must be sent, and must arrive (thesis 4.2.2).
pub const RATE_SHARE: f64 = 0.9;
/// Ratio of the times in which a burst arrives and is sent, at least, where that is asked for: 2 in RFC 8337 section 8.3.1, less a tenth for measurement.
pub const ARRIVAL_STRETCH: f64 = 1.8;
/// Shortest time over which rates are measured.
const LEAST_WINDOW: Duration = Duration::from_secs(1);

/// How to judge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgeOptions {
    /// When losses are few enough, or too many.
    pub ruling: Ruling,
    /// Packets per second that the stream is to have.
    pub packets_per_s: f64,
    /// Whether the path is the stream's clock: then a low rate is the path's, never the sender's.
    pub is_self_clocked: bool,
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
    /// The sender's books, where it keeps any.
    pub pattern: Option<PatternReport>,
    /// Mean ratio of the times in which a burst arrived and was sent, where measured.
    pub stretch: Option<f64>,
    /// Whether a clock was set since the stream began.
    pub clock_stepped: bool,
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

/// A precondition, as it was when last looked at.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Check {
    /// Which: `rate_sent`, `rate_arrived`, `pattern`, `clock` or `stretch`.
    pub name: String,
    /// Whether it held; null when not yet known.
    pub held: Option<bool>,
    /// The evidence, in words.
    pub evidence: String,
}

/// The figures of a test, in the form of a record.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TestFigures {
    /// What was asked of the losses.
    pub hypotheses: Hypotheses,
    /// Packets, losses and marks of the test period.
    pub counts: Counts,
    /// The test's way through packets and losses.
    pub walk: Walk,
    /// Preconditions, as they were last.
    pub preconditions: Vec<Check>,
    /// How long the growth period was; null while it lasts.
    pub growth_ns: Option<u64>,
    /// How long the test period was; null before it began.
    pub test_ns: Option<u64>,
    /// Fewest packets that would have passed.
    pub least_packets: u64,
}

/// Judges one stream.
#[derive(Clone, Debug)]
pub struct Judge {
    options: JudgeOptions,
    began: Instant,
    sent: RateMeter,
    arrived: RateMeter,
    /// When the test period began, and what was settled then.
    test: Option<(Instant, Counts)>,
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
            test: None,
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
            self.checks = self.checks(seen);
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
        if let Some(broken) = self.broken() {
            return Some(broken);
        }
        self.counts = seen.settled.since(&before);
        let (n, m) = (self.counts.packets, self.counts.marks());
        self.walk.reach(n, m);
        match self.options.ruling.decide(n, m) {
            Decision::Accept => Some(self.low(seen)),
            Decision::Reject => Some(self.high()),
            Decision::Continue if is_overdue || self.options.ruling.is_spent(n) => {
                Some(self.open())
            }
            Decision::Continue => None,
        }
    }

    /// The growth period ends when all preconditions are known and hold.
    fn grow(&mut self, seen: &Observation, now: Instant) -> Option<Verdict> {
        if self.checks.iter().all(|check| check.held == Some(true)) {
            self.test = Some((now, seen.settled));
            return None;
        }
        let limit = self.options.growth_limit.min(self.options.time_limit);
        if now.since(self.began) < limit {
            return None;
        }
        if seen.arrived == 0 && seen.sent > 0 {
            return Some(Verdict::new(
                Outcome::Fail,
                Reason::Silence,
                format!("none of {} packets arrived", seen.sent),
                "a path that lets these packets through; a firewall may be what does not",
            ));
        }
        self.broken().or_else(|| {
            Some(Verdict::new(
                Outcome::Error,
                Reason::Timeout,
                "the time limit leaves no time to see whether the stream is as planned",
                "a longer time limit",
            ))
        })
    }

    /// The verdict when a precondition does not hold: the sender's own before the path's, for what was not sent cannot arrive.
    fn broken(&self) -> Option<Verdict> {
        let failed = |name: &str| {
            self.checks
                .iter()
                .find(|c| c.name == name && c.held == Some(false))
        };
        if let Some(check) = failed("clock") {
            return Some(Verdict::new(
                Outcome::Error,
                Reason::ClockStep,
                &*check.evidence,
                "a run during which no clock is set",
            ));
        }
        if let Some(check) = failed("rate_sent") {
            return Some(Verdict::new(
                Outcome::Error,
                Reason::SenderRate,
                format!(
                    "the sender did not send the target rate: {}",
                    check.evidence
                ),
                "a sender with more processor time or a faster interface; the path was not tested",
            ));
        }
        if let Some(check) = failed("pattern") {
            return Some(Verdict::new(
                Outcome::Error,
                Reason::SenderPattern,
                format!("the sender did not keep the pattern: {}", check.evidence),
                "a sender that is not disturbed; the path was not tested",
            ));
        }
        if let Some(check) = failed("rate_arrived") {
            return Some(Verdict::new(
                Outcome::Fail,
                Reason::RateLow,
                format!(
                    "the path does not carry the target rate: {}",
                    check.evidence
                ),
                "a path that delivers 0.9 of the target rate, or a lower target rate",
            ));
        }
        let check = failed("stretch")?;
        Some(Verdict::new(
            Outcome::Inconclusive,
            Reason::BurstSlow,
            format!(
                "the bursts were not twice as fast as the bottleneck: {}",
                check.evidence
            ),
            "bursts at twice the bottleneck's rate, once that is known",
        ))
    }

    fn checks(&self, seen: &Observation) -> Vec<Check> {
        let mut checks = vec![Check {
            name: "clock".to_owned(),
            held: Some(!seen.clock_stepped),
            evidence: if seen.clock_stepped {
                "a clock was set during the test"
            } else {
                "no clock was set"
            }
            .to_owned(),
        }];
        if !self.options.is_self_clocked {
            checks.push(self.rate("rate_sent", &self.sent));
        }
        if let Some(pattern) = &seen.pattern {
            checks.push(Check {
                name: "pattern".to_owned(),
                held: Some(pattern.kept),
                evidence: format!(
                    "of {} bursts {} were late by more than {} us (the worst by {} us) and {} took too long",
                    pattern.bursts, pattern.late, pattern.lateness_allowed_ns / 1_000, pattern.lateness_max_ns / 1_000, pattern.smeared
                ),
            });
        }
        checks.push(self.rate("rate_arrived", &self.arrived));
        if self.options.needs_stretch {
            checks.push(Check {
                name: "stretch".to_owned(),
                held: seen.stretch.map(|stretch| stretch >= ARRIVAL_STRETCH),
                evidence: seen.stretch.map_or_else(
                    || "no burst has arrived yet".to_owned(),
                    |stretch| format!("bursts arrived in {stretch:.2} times the time in which they left; twice is asked for"),
                ),
            });
        }
        checks
    }

    fn rate(&self, name: &str, meter: &RateMeter) -> Check {
        let wanted = self.options.packets_per_s;
        let rate = meter.packets_per_s();
        Check {
            name: name.to_owned(),
            held: rate.map(|rate| rate >= RATE_SHARE * wanted),
            evidence: rate.map_or_else(
                || "not measured long enough yet".to_owned(),
                |rate| {
                    format!(
                        "{rate:.1} of {wanted:.1} packets a second ({:.0} %)",
                        100.0 * rate / wanted
                    )
                },
            ),
        }
    }

    fn low(&self, seen: &Observation) -> Verdict {
        let sprt = self.options.ruling.sprt();
        let Counts { packets, .. } = self.counts;
        let marks = sprt.marks_to_fail(packets);
        let pattern = seen.pattern.as_ref().map_or("", |_| ", sent as planned");
        Verdict::new(
            Outcome::Pass,
            Reason::LossLow,
            format!(
                "{} of {packets} packets lost or marked{pattern}: the loss rate is at most {:.3e} (confidence {:.0} %)",
                self.counts.marks(),
                sprt.hypotheses().p1,
                100.0 * (1.0 - sprt.hypotheses().beta)
            ),
            format!("{marks} losses or marks among these packets would fail"),
        )
    }

    fn high(&self) -> Verdict {
        let sprt = self.options.ruling.sprt();
        let Counts { packets, .. } = self.counts;
        let m = self.counts.marks();
        Verdict::new(
            Outcome::Fail,
            Reason::LossHigh,
            format!(
                "{m} of {packets} packets lost or marked: the loss rate is above {:.3e} (confidence {:.0} %)",
                sprt.hypotheses().p0,
                100.0 * (1.0 - sprt.hypotheses().alpha)
            ),
            format!(
                "a loss rate of 1 in {:.0} would pass: a lower rate or a shorter target round trip bears more loss",
                1.0 / sprt.hypotheses().p0
            ),
        )
    }

    /// Time, or the sample, is over.
    fn open(&self) -> Verdict {
        let sprt = self.options.ruling.sprt();
        let Counts { packets, .. } = self.counts;
        let m = self.counts.marks();
        let missing = sprt.packets_to_pass(m).saturating_sub(packets);
        Verdict::new(
            Outcome::Inconclusive,
            Reason::Timeout,
            format!("{m} of {packets} packets lost or marked when time ran out: between the lines"),
            format!(
                "{missing} packets more without a loss would pass; {} losses among these packets would have failed",
                sprt.marks_to_fail(packets)
            ),
        )
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
