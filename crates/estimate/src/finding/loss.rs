//! What estimators of loss found.

use probe::badabing::{Estimate, Outcome};
use schema::estimate::Finding;
use serde_json::json;
use stats::interval::Interval;

const PERCENT: f64 = 100.0;

/// By badabing: the share of slots in which the path loses packets.
pub(in super::super) fn of_badabing(estimate: &Estimate) -> Finding {
    let ms = |interval: Interval| [interval.estimate, interval.low, interval.high].map(|s| s * 1e3);
    let duration = estimate.corrected_s.or(estimate.duration_s).map(ms);
    let (conclusive, says) = match (estimate.outcome, duration) {
        (Outcome::Untimed, _) => (
            false,
            "the sender could not keep its slots - use a host that does less".to_owned(),
        ),
        (Outcome::Conclusive, Some([ms, low, high])) => (
            true,
            format!("episodes of loss last {ms:.1} ms on average ({low:.1} to {high:.1} ms)"),
        ),
        _ if estimate.counts.packets_lost == 0 => (true, "no probe was lost".to_owned()),
        _ => (
            true,
            "too few episodes of loss to say how long they last".to_owned(),
        ),
    };
    let finding = Finding {
        conclusive,
        says,
        details: json!({
            "episode_ms": duration,
            "packet_loss_pct": estimate.loss.map(|loss| loss.estimate * PERCENT),
            "full_queue_ms": estimate.full_queue_s.map(|s| s * 1e3),
            "experiments": estimate.counts.m,
            "congested": estimate.counts.z,
            "edges": estimate.counts.s,
            "imbalance": estimate.counts.imbalance(),
            "untimed_trains": estimate.untimed,
        }),
        ..Finding::default()
    };
    finding.within(estimate.frequency, PERCENT)
}
