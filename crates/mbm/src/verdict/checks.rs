//! Preconditions: was the stream what it was to be? (RFC 8337 section 5.4, thesis 3.5)

use super::judge::{JudgeOptions, Observation};
use super::{Outcome, Reason, Verdict};
use crate::stream::RateMeter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Share of the wanted rate that must be sent, and must arrive (thesis 4.2.2).
pub const RATE_SHARE: f64 = 0.9;
/// Ratio of the times in which a burst arrives and is sent, at least, where that is asked for: 2 in RFC 8337 section 8.3.1, less a tenth for measurement.
pub const ARRIVAL_STRETCH: f64 = 1.8;
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

/// All preconditions, as they are now.
pub(super) fn all(
    options: &JudgeOptions,
    seen: &Observation,
    sent: &RateMeter,
    arrived: &RateMeter,
) -> Vec<Check> {
    let wanted = options.packets_per_s;
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
    if !options.is_self_clocked && !options.by_tcp {
        checks.push(rate("rate_sent", sent, wanted));
    }
    if let Some(pattern) = &seen.pattern {
        checks.push(Check {
                name: "pattern".to_owned(),
                held: Some(if options.by_tcp { pattern.is_punctual() } else { pattern.kept }),
                evidence: format!(
                    "of {} bursts {} were late by more than {} us (the worst by {} us) and {} took too long",
                    pattern.bursts, pattern.late, pattern.lateness_allowed_ns / 1_000, pattern.lateness_max_ns / 1_000, pattern.smeared
                ),
            });
    }
    checks.push(rate("rate_arrived", arrived, wanted));
    if options.needs_stretch {
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

fn rate(name: &str, meter: &RateMeter, wanted: f64) -> Check {
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

/// The verdict when a precondition does not hold: the sender's own before the path's, for what was not sent cannot arrive.
pub(super) fn broken(checks: &[Check]) -> Option<Verdict> {
    let failed = |name: &str| {
        checks
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
