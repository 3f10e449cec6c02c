//! When the test may end.
//!
//! The sequential test ends as soon as it can. That is its virtue and, for the *estimate*, its vice: it ends early when the first
//! packets were unusually good or bad, so the loss rate among them is unusual too (thesis 4.4.3: runs that saw fewer than 1,000 packets
//! over- or underestimate). Who wants the rate as well, or to compose it, asks for at least N packets.

use super::{Decision, Sprt, sprt::to_count};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::proportion;

/// When counts become a decision.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Rule {
    /// As soon as the sequential test can tell.
    #[default]
    Sequential,
    /// The sequential test, but not before so many packets.
    AtLeast {
        /// Packets.
        packets: u64,
    },
    /// After so many packets, once: pass or fail by the exact confidence interval of the loss rate, whose upper end (at
    /// confidence 1 - beta) must be below `p1` to pass; its lower end (at 1 - alpha) above `p0` to fail.
    Fixed {
        /// Packets.
        packets: u64,
    },
}

/// A rule at work on a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ruling {
    rule: Rule,
    sprt: Sprt,
}

impl Ruling {
    /// `rule` for `sprt`.
    pub const fn new(rule: Rule, sprt: Sprt) -> Self {
        Self { rule, sprt }
    }

    /// The rule.
    pub const fn rule(&self) -> Rule {
        self.rule
    }

    /// The test behind it.
    pub const fn sprt(&self) -> &Sprt {
        &self.sprt
    }

    /// What `m` marks among `n` packets say under the rule.
    pub fn decide(&self, n: u64, m: u64) -> Decision {
        match self.rule {
            Rule::AtLeast { packets } | Rule::Fixed { packets } if n < packets => {
                Decision::Continue
            }
            Rule::Sequential | Rule::AtLeast { .. } => self.sprt.decide(n, m),
            Rule::Fixed { .. } => self.after_all(n, m),
        }
    }

    /// The decision of a sample of fixed size.
    fn after_all(&self, n: u64, m: u64) -> Decision {
        let asked = self.sprt.hypotheses();
        let one_sided = |error: f64| proportion::exact(m.min(n), n, 1.0 - 2.0 * error);
        let upper = one_sided(asked.beta).map(|i| i.high);
        let lower = one_sided(asked.alpha).map(|i| i.low);
        if upper.is_some_and(|high| high < asked.p1) {
            Decision::Accept
        } else if lower.is_some_and(|low| low > asked.p0) {
            Decision::Reject
        } else {
            Decision::Continue
        }
    }

    /// Whether no further packet can change the answer: a fixed sample that is complete.
    pub const fn is_spent(&self, n: u64) -> bool {
        matches!(self.rule, Rule::Fixed { packets } if n >= packets)
    }

    /// The fewest packets after which the test can pass: without a single mark.
    pub fn least_packets(&self) -> u64 {
        match self.rule {
            Rule::Sequential => self.sprt.packets_to_pass(0),
            Rule::AtLeast { packets } => packets.max(self.sprt.packets_to_pass(0)),
            Rule::Fixed { packets } => packets,
        }
    }
}

/// The size of a fixed sample that tells the hypotheses of `sprt` apart about as surely as the sequential test: by the
/// normal approximation, `((z_alpha sqrt(p0 (1-p0)) + z_beta sqrt(p1 (1-p1))) / (p1 - p0))^2`.
pub fn fixed_size(sprt: &Sprt) -> u64 {
    let asked = sprt.hypotheses();
    let z = |error: f64| proportion::normal_quantile(1.0 - error).unwrap_or(0.0);
    let sd = |p: f64| (p * (1.0 - p)).sqrt();
    let distance = z(asked.alpha) * sd(asked.p0) + z(asked.beta) * sd(asked.p1);
    to_count((distance / (asked.p1 - asked.p0)).powi(2).ceil())
}
