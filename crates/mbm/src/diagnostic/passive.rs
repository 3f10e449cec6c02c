//! The passive test: a verdict from a measurement that was made for something else (RFC 8337 section 8.5.2).
//!
//! Whatever load stayed inside the envelope of the other tests is a test stream: at no time more than the target rate, no burst longer than the target window.
//! A load beyond it may have caused the losses itself, so it proves nothing.

use crate::loss::{Counts, LossReport};
use crate::sequential::{Decision, Ruling};
use crate::target::Target;
use crate::verdict::{Outcome, Reason, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::Rate;

/// By how much a load may exceed the envelope: measurement is not exact.
const TOLERANCE: f64 = 1.05;

/// What a load is to stay inside of.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Envelope {
    /// Data rate over any second, 10^6 bit/s.
    pub rate_mbps: f64,
    /// Packets in a burst.
    pub burst_packets: u32,
    /// Window to which a sender with this round trip is to be clamped, in packets (`serving_window_clamp`).
    pub window_packets: u32,
}

impl Envelope {
    /// For `target` and a load whose round trip is `path_rtt`.
    pub fn new(target: &Target, path_rtt: Duration) -> Self {
        Self {
            rate_mbps: target.rate().as_mbps(),
            burst_packets: target.window(),
            window_packets: target.test_window(path_rtt),
        }
    }
}

/// What another measurement sent.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Highest data rate over a second.
    pub peak: Rate,
    /// Packets in its longest burst (its largest window is a bound).
    pub burst_packets: u32,
    /// What became of its packets.
    pub counts: Counts,
}

/// What the counts of `load` say, when it stayed inside `envelope`.
pub fn judge_passive(load: &Load, envelope: &Envelope, ruling: &Ruling) -> (Verdict, LossReport) {
    let report = LossReport::of_counts(load.counts);
    let is_inside = load.peak.as_mbps() <= TOLERANCE * envelope.rate_mbps
        && load.burst_packets <= envelope.burst_packets;
    if !is_inside {
        let says = format!(
            "the load reached {:.3} Mbit/s and bursts of {} packets; the target allows {:.3} Mbit/s and {}",
            load.peak.as_mbps(),
            load.burst_packets,
            envelope.rate_mbps,
            envelope.burst_packets
        );
        let change = format!(
            "a sender whose window is clamped to {} packets",
            envelope.window_packets
        );
        return (
            Verdict::new(Outcome::Error, Reason::Envelope, says, change),
            report,
        );
    }
    let (n, m) = (load.counts.packets, load.counts.marks());
    let says = format!("{m} of {n} packets lost or marked, by a load within the target's envelope");
    let sprt = ruling.sprt();
    let verdict = match ruling.decide(n, m) {
        Decision::Accept => Verdict::new(
            Outcome::Pass,
            Reason::LossLow,
            says,
            format!("{} losses or marks would fail", sprt.marks_to_fail(n)),
        ),
        Decision::Reject => Verdict::new(
            Outcome::Fail,
            Reason::LossHigh,
            says,
            format!(
                "a loss rate of 1 in {:.0} would pass",
                1.0 / sprt.hypotheses().p0
            ),
        ),
        Decision::Continue => Verdict::new(
            Outcome::Inconclusive,
            Reason::Timeout,
            says,
            format!(
                "{} packets more without a loss would pass",
                sprt.packets_to_pass(m).saturating_sub(n)
            ),
        ),
    };
    (verdict, report)
}
