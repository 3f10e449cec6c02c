//! The slow-start AQM test: does the bottleneck let a burst of slow start in, and does it say stop in time? (RFC 8337 section 8.3.2)
//!
//! The RFC asks for one thing: the first packet delivered after the first loss is to have waited for at least half a target round trip, or slow start
//! ends before the queue could carry a transport over its first cut. That the first loss is not to come *late* is ours: the queue may have at
//! most twice the target round trip, as in the bufferbloat test.
//!
//! Beyond that the section requires no result. A path in which twice the target's window leaves at slow-start rate, each round, and makes no queue of half a target round
//! trip and no loss, stops no slow start for this target: it passes. Twice the window is what slow start has under way when it overshoots.

use crate::stream::Round;
use crate::target::Target;
use crate::verdict::{Outcome, Reason, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is asked of the rounds.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct AqmLimits {
    /// Wait of the first packet behind the first loss, at least: half the target round trip.
    pub least_ns: u64,
    /// The same, at most: twice the target round trip.
    pub most_ns: u64,
    /// Packets of a round that slow start for the target does not exceed: twice the target window.
    pub round_packets: u64,
}

impl AqmLimits {
    /// For `target`.
    pub fn new(target: &Target) -> Self {
        let rtt = u64::try_from(target.rtt().as_nanos()).unwrap_or(u64::MAX);
        Self {
            least_ns: rtt / 2,
            most_ns: rtt.saturating_mul(2),
            round_packets: 2 * u64::from(target.window()),
        }
    }
}

/// What the rounds say: by the median of their waits.
pub fn judge_rounds(rounds: &[Round], limits: &AqmLimits) -> Verdict {
    let ended: Vec<&Round> = rounds.iter().filter(|round| round.marks > 0).collect();
    let mut waits: Vec<u64> = ended.iter().filter_map(|round| round.sojourn_ns).collect();
    waits.sort_unstable();
    let longest = rounds
        .iter()
        .map(|round| round.queue_max_ns)
        .max()
        .unwrap_or(0);
    let ms = |ns: u64| ns as f64 / 1e6;
    let Some(&median) = waits.get(waits.len().saturating_sub(1) / 2) else {
        return if longest > limits.most_ns {
            long(ms(longest), ms(limits.most_ns))
        } else if let Some(sent) =
            whole_rounds(rounds, limits).filter(|_| longest < limits.least_ns)
        {
            Verdict::new(
                Outcome::Pass,
                Reason::Exceeds,
                format!(
                    "nothing was lost or marked in {} rounds of slow start of at least {sent} packets, and the queue was at most {:.1} ms long",
                    rounds.len(),
                    ms(longest)
                ),
                "a faster target: how the bottleneck stops a slow start was not seen",
            )
        } else {
            Verdict::new(
                Outcome::Inconclusive,
                Reason::NoOnset,
                format!(
                    "nothing was lost or marked in {} rounds of slow start; the queue grew to {:.1} ms",
                    rounds.len(),
                    ms(longest)
                ),
                "longer rounds, or slow start at twice the bottleneck's rate once that is known",
            )
        };
    };
    if median < limits.least_ns {
        Verdict::new(
            Outcome::Fail,
            Reason::QueueShort,
            format!(
                "behind the first loss packets had waited for {:.1} ms (median of {} rounds); at least {:.1} ms are asked for",
                ms(median),
                waits.len(),
                ms(limits.least_ns)
            ),
            "a longer queue, or queue management that bears a burst of slow start",
        )
    } else if median > limits.most_ns {
        long(ms(median), ms(limits.most_ns))
    } else {
        Verdict::new(
            Outcome::Pass,
            Reason::QueueGood,
            format!(
                "behind the first loss packets had waited for {:.1} ms (median of {} rounds), between {:.1} and {:.1} ms",
                ms(median),
                waits.len(),
                ms(limits.least_ns),
                ms(limits.most_ns)
            ),
            format!(
                "a wait shorter by {:.1} ms or longer by {:.1} ms would fail",
                ms(median - limits.least_ns),
                ms(limits.most_ns - median)
            ),
        )
    }
}

/// Packets delivered in the shortest round, when each had as many as slow start for the target may have.
fn whole_rounds(rounds: &[Round], limits: &AqmLimits) -> Option<u64> {
    let shortest = rounds.iter().map(|round| round.before_mark).min()?;
    (shortest >= limits.round_packets).then_some(shortest)
}

fn long(wait_ms: f64, most_ms: f64) -> Verdict {
    Verdict::new(
        Outcome::Fail,
        Reason::QueueLong,
        format!(
            "slow start was told to stop only when the queue was {wait_ms:.1} ms long; at most {most_ms:.1} ms are allowed"
        ),
        "a shorter queue, or active queue management",
    )
}
