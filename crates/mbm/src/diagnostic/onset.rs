//! Where a queue begins: the window with the greatest *power*.
//!
//! Power is rate over round trip (L. Kleinrock; RFC 8337 section 8.2 takes it to find the onset of queueing). While the path has room, a larger window
//! raises the rate and leaves the round trip: power rises. Once a queue stands, the rate stays and the round trip rises: power falls.

use crate::stream::{ScanReport, Step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Steps on each side over which rate and round trip are averaged where there are many.
const SMOOTH: usize = 1;
/// Steps from which averaging does not blur the peak.
const MANY: usize = 64;
/// By how much the power must fall after its peak for the peak to be one.
const FALL: f64 = 0.95;

/// The onset of queueing.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Onset {
    /// The window that fills the path without a queue, in packets: the pipe size.
    pub window: u32,
    /// Number of the first packet that left by it.
    pub seq: u64,
    /// Index of its step.
    pub step: usize,
    /// Packets per second there: what the bottleneck carries.
    pub packets_per_s: f64,
    /// Mean round trip there.
    pub rtt_ms: f64,
}

/// The onset that `scan` shows; `None` when no queue was seen: power rose to the end.
pub fn onset(scan: &ScanReport) -> Option<Onset> {
    // The first and the last step are not whole: the stream opens, and ends.
    let steps = &scan.steps;
    let usable = |step: &Step| step.delivered >= 2 && step.packets_per_s > 0.0 && step.rtt_ms > 0.0;
    let powers: Vec<Option<f64>> = steps
        .iter()
        .map(|step| usable(step).then(|| step.packets_per_s / step.rtt_ms))
        .collect();
    let smooth = if steps.len() >= MANY { SMOOTH } else { 0 };
    let power = |index: usize| {
        let around =
            powers.get(index.saturating_sub(smooth)..(index + smooth + 1).min(powers.len()))?;
        let known: Vec<f64> = around.iter().flatten().copied().collect();
        powers.get(index).copied().flatten()?;
        Some(known.iter().sum::<f64>() / known.len() as f64)
    };
    let (peak, most) = (0..steps.len())
        .filter_map(|index| Some((index, power(index)?)))
        .max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let falls = (peak + 1..steps.len())
        .filter_map(power)
        .any(|later| later < FALL * most);
    let step = steps.get(peak)?;
    falls.then_some(Onset {
        window: step.window,
        seq: step.first_seq,
        step: peak,
        packets_per_s: step.packets_per_s,
        rtt_ms: step.rtt_ms,
    })
}
