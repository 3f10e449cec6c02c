//! Composition: parts of a path that were tested by themselves make a whole (RFC 6049, thesis 3.3 and 4.4).
//!
//! A packet crosses the path when it crosses every part. Where losses of the parts are independent, `p_ac = 1 - (1 - p_ab)(1 - p_bc)` (thesis equation 3.4),
//! and so on for any number. Two uses:
//!
//! - *Budgets* before testing: the good loss rate of the whole is shared out ([`budgets`]), and each part is tested against its share.
//! - A *verdict* after testing ([`compose`]): the parts' losses are put together and judged as those of the whole. Parts
//!   with different numbers of packets are put on the smallest; what the others saw is scaled to it, rounded up.
//!
//! The verdict needs no sequential test: the numbers are given. It passes when the loss rate of the whole is below `p1` with confidence `1 - beta`, and fails when
//! it is above `p0` with confidence `1 - alpha`. Only the tests that losses decide can be composed.

mod error;
mod way;

pub use error::ComposeError;
pub use way::{End, Way};

use crate::diagnostic::Test;
use crate::loss::{Counts, Share};
use crate::model::{Model, RunLength};
use crate::sequential::{Decision, Hypotheses, Rule, Ruling, Sprt};
use crate::target::Target;
use crate::verdict::{Outcome, Reason, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Packets below which an early end of a sequential test has likely bent the loss rate (thesis 4.4.3).
pub const FEW_PACKETS: u64 = 1_000;

/// What a test was for.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Question {
    /// The target.
    pub target: Target,
    /// The model that turned it into a run length.
    pub model: Model,
    /// The run length.
    pub run_length: RunLength,
}

/// One part of the path, as it was tested.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Part {
    /// What it is called: a run, a link.
    pub name: String,
    /// What it was tested for.
    pub question: Question,
    /// By which test.
    pub test: Test,
    /// What the test said.
    pub outcome: Outcome,
    /// What became of its packets.
    pub counts: Counts,
    /// Where it was tested, as far as known.
    #[serde(default)]
    pub way: Way,
}

/// A path put together, in the form of a record.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Composed {
    /// The verdict about the whole.
    pub verdict: Verdict,
    /// Loss rate of the whole by RFC 6049, per cent.
    pub loss_pct: f64,
    /// Loss of the whole on the smallest number of packets, with its interval.
    pub interval: Option<Share>,
    /// That number of packets.
    pub packets: u64,
    /// Losses and marks on so many packets, rounded up.
    pub marks: u64,
    /// What to beware of: parts with so few packets that their loss rates are likely bent.
    pub warnings: Vec<String>,
    /// The parts.
    pub parts: Vec<Part>,
}

/// Loss rate of a path whose parts have the loss rates `parts`: `1 - (1-p1)(1-p2)..` (RFC 6049; thesis equation 3.4). Rates outside of 0 to 1 are taken as
/// the nearer of the two.
pub fn loss_rate(parts: impl IntoIterator<Item = f64>) -> f64 {
    // In logarithms, so that small rates keep their digits.
    let log: f64 = parts
        .into_iter()
        .map(|p| (-p.clamp(0.0, 1.0)).ln_1p())
        .sum();
    -log.exp_m1()
}

/// Shares out the loss rate `whole` over parts in the proportion of `shares` (all above zero), so that the parts compose to it again.
/// Empty when `whole` is not between 0 and 1, or a share is not above zero.
pub fn budgets(whole: f64, shares: &[f64]) -> Vec<f64> {
    let sum: f64 = shares.iter().sum();
    let is_fair = shares.iter().all(|share| *share > 0.0) && sum.is_finite();
    if !is_fair || !(0.0..1.0).contains(&whole) {
        return Vec::new();
    }
    let log = (-whole).ln_1p();
    shares
        .iter()
        .map(|share| -(log * share / sum).exp_m1())
        .collect()
}

/// Puts `parts` together; errors are judged with `alpha` and `beta`.
///
/// # Errors
/// [`ComposeError`] says which two parts differ, and in what.
pub fn compose(parts: Vec<Part>, alpha: f64, beta: f64) -> Result<Composed, ComposeError> {
    error::check(&parts)?;
    let run_length = parts
        .first()
        .map_or(0, |part| part.question.run_length.packets);
    let sprt = Sprt::new(Hypotheses::for_run_length(run_length, alpha, beta))?;
    let rate = |part: &Part| part.counts.marks() as f64 / part.counts.packets as f64;
    let packets = parts
        .iter()
        .map(|part| part.counts.packets)
        .min()
        .unwrap_or(0);
    let scaled: f64 = parts.iter().map(|part| rate(part) * packets as f64).sum();
    let marks = up(scaled).min(packets);
    Ok(Composed {
        verdict: verdict(&parts, packets, marks, sprt),
        loss_pct: 100.0 * loss_rate(parts.iter().map(rate)),
        interval: Share::of(marks, packets),
        packets,
        marks,
        warnings: parts.iter().filter_map(warning).collect(),
        parts,
    })
}

/// Rounded up, but for the last bits of a sum.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of packets"
)]
fn up(x: f64) -> u64 {
    (x - 1e-9).ceil().max(0.0) as u64
}

fn warning(part: &Part) -> Option<String> {
    (part.counts.packets < FEW_PACKETS).then(|| {
        format!(
            "{} ended after {} packets: a sequential test that ends so early has seen unusually few or many losses; ask for at least {FEW_PACKETS}",
            part.name, part.counts.packets
        )
    })
}

fn verdict(parts: &[Part], packets: u64, marks: u64, sprt: Sprt) -> Verdict {
    if let Some(part) = parts.iter().find(|part| part.outcome == Outcome::Fail) {
        return Verdict::new(
            Outcome::Fail,
            Reason::Composed,
            format!("{} failed by itself, so the whole does", part.name),
            format!("{} must pass", part.name),
        );
    }
    if let Some(part) = parts.iter().find(|part| part.outcome == Outcome::Error) {
        return Verdict::new(
            Outcome::Error,
            Reason::Composed,
            format!("{} was not tested: its verdict is ERROR", part.name),
            format!("a test of {} that works", part.name),
        );
    }
    let ruling = Ruling::new(Rule::Fixed { packets: 0 }, sprt);
    let says = format!(
        "{marks} losses or marks on {packets} packets over all {} parts",
        parts.len()
    );
    match ruling.decide(packets, marks) {
        Decision::Accept => Verdict::new(
            Outcome::Pass,
            Reason::Composed,
            says,
            "more loss on any part",
        ),
        Decision::Reject => Verdict::new(
            Outcome::Fail,
            Reason::Composed,
            format!("{says}: each part is good enough by itself, and all together are not"),
            "less loss on the part that loses most",
        ),
        Decision::Continue => Verdict::new(
            Outcome::Inconclusive,
            Reason::Composed,
            format!("{says}: too few packets to tell"),
            format!("longer tests: of the part with {packets} packets first"),
        ),
    }
}

#[cfg(test)]
mod tests;
