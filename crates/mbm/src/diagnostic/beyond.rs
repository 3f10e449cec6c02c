//! Scans of a path that has much more than the target asks for.
//!
//! The scan ends at a window that would stand 2.5 target round trips long in the queue of a path that just carries the target. A path may carry
//! that window at more than twice the rate that the target needs of a bottleneck, which is the fastest that a transport for this
//! target ever sends (slow start, RFC 8337 section 6.1), and with no queue. What this says to the four tests:
//!
//! | test | section | asks | so |
//! |---|---|---|---|
//! | [`Test::CongestionAvoidance`] | 8.2.1 | more than a run length before the first loss, counted from `test_window` where no queue shows | PASS, when so many passed |
//! | [`Test::Bufferbloat`] | 8.2.2 | no standing queue of twice the target round trip before a loss | PASS: none stands |
//! | [`Test::NonExcessiveLoss`] | 8.2.3 | at the first loss no more than the window grew by | PASS: nothing was lost |
//! | [`Test::DuplexSelfInterference`] | 8.2.4 | no round trip beyond what the queue explains | PASS: none was longer by the bound, queue or not |
//!
//! None of this says how the path's queue behaves when others fill it: the verdict says so. Section 7.1 leaves it to a suite to state when a test passes
//! and when it is inconclusive, and asks for few of the latter.

use super::{QueueLimits, Test};
use crate::stream::{ScanReport, Step};
use crate::verdict::{Outcome, Reason, Verdict};

/// Times the rate of the target's bottleneck from which no packets of the target make a queue.
const FASTEST: f64 = 2.0;

/// What a path showed that has much more than the target asks for.
struct Beyond<'a> {
    top: &'a Step,
    /// Rate at the largest window, in multiples of that of the target's bottleneck.
    times: f64,
    /// Mean delay there beyond the least.
    queue_ms: f64,
}

/// A complete scan without loss, mark or standing queue; `None` for any other.
fn beyond<'a>(scan: &'a ScanReport, limits: &QueueLimits) -> Option<Beyond<'a>> {
    if !scan.is_done || scan.first_mark.is_some() {
        return None;
    }
    let is_told = |step: &&Step| {
        step.delivered >= 2 && step.delivered.saturating_mul(2) >= step.window.into()
    };
    let top = scan.steps.iter().rev().find(is_told)?;
    // A part of a step may be one clump; a whole window takes a round trip.
    let mean = f64::from(top.window) / top.rtt_ms.max(f64::MIN_POSITIVE) * 1e3;
    let times = top.packets_per_s.min(mean) / limits.capacity_packets_per_s;
    let queue_ms = (top.rtt_ms - scan.rtt_min_ns? as f64 / 1e6).max(0.0);
    let is_beyond = times >= FASTEST && queue_ms <= limits.interference_ns as f64 / 1e6;
    is_beyond.then_some(Beyond {
        top,
        times,
        queue_ms,
    })
}

/// PASS where the path has so much more than the target asks for that nothing is left open; `None` where the test must look closer.
pub(super) fn judge(test: Test, scan: &ScanReport, limits: &QueueLimits) -> Option<Verdict> {
    let found = beyond(scan, limits)?;
    let finding = match test {
        Test::CongestionAvoidance => run_length(scan, limits)?,
        Test::Bufferbloat => format!(
            "the queue was {:.1} ms long, and {:.1} ms are allowed",
            found.queue_ms,
            limits.queue_ns as f64 / 1e6
        ),
        Test::NonExcessiveLoss => "nothing was lost or marked".to_owned(),
        Test::DuplexSelfInterference => interference(scan, limits)?,
        _ => return None,
    };
    Some(Verdict::new(
        Outcome::Pass,
        Reason::Exceeds,
        format!(
            "{finding}, up to a window of {} at {:.1} times the rate that the target needs",
            found.top.window, found.times
        ),
        "a target at half of that rate or more: what the queue does when others fill it was not seen",
    ))
}

/// Packets that passed from the window on that carries the target; `None` when they are too few.
fn run_length(scan: &ScanReport, limits: &QueueLimits) -> Option<String> {
    let carries = |step: &&Step| step.window >= limits.test_window;
    let first = scan.steps.iter().find(carries)?.first_seq;
    let passed = scan.sent.saturating_sub(first);
    (passed > limits.run_length).then(|| {
        format!(
            "{passed} packets passed without a loss or mark, more than {}",
            limits.run_length
        )
    })
}

/// The longest round trip of a step; `None` when it is beyond the bound.
fn interference(scan: &ScanReport, limits: &QueueLimits) -> Option<String> {
    let least_ms = scan.rtt_min_ns? as f64 / 1e6;
    let told = scan.steps.iter().filter(|step| step.delivered > 0);
    let worst = told.map(|step| step.rtt_ms - least_ms).fold(0.0, f64::max);
    let bound = limits.interference_ns as f64 / 1e6;
    (worst <= bound).then(|| {
        format!(
            "round trips were up to {worst:.1} ms longer than the least, {bound:.1} ms are allowed"
        )
    })
}
