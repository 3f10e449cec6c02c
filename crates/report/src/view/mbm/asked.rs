//! What was asked of the path: the target, the loss that is good and the loss that is bad.

use crate::number::short;
use crate::told;
use mbm::model::Prediction;
use mbm::sequential::Rule;
use mbm::target::{Derating, TargetSpec};
use record::Run;
use schema::Direction;
use schema::mbm::{Plan, Summary};
use serde::Serialize;

/// The question of a run.
#[derive(Serialize)]
pub(crate) struct Asked {
    /// The name of the target, where it has one.
    name: Option<String>,
    /// What the application is to get, headers apart.
    rate_mbps: Option<f64>,
    /// What that is on the link, headers included.
    link_mbps: Option<f64>,
    /// Round trip of the complete path.
    rtt_ms: Option<f64>,
    /// Octets of a packet, headers included.
    packet_bytes: Option<u32>,
    /// By how much the tests are milder than the model, and why.
    derating: Option<Derating>,
    /// Where the packets go.
    direction: Option<Direction>,
    rule: Option<Rule>,
    window_packets: Option<u32>,
    run_length_packets: Option<u64>,
    /// The model's formula for it, and where that comes from.
    formula: Option<String>,
    source: Option<String>,
    /// A loss up to this is good.
    good_pct: Option<f64>,
    /// One from this on is bad.
    bad_pct: Option<f64>,
    path_rtt_ms: Option<f64>,
    /// What transports would get at those losses.
    predictions: Vec<Prediction>,
}

impl Asked {
    pub(crate) fn of(run: &Run) -> Self {
        let plan = Plan::of_record(&run.plan).ok();
        let summary: Option<Summary> = told::summary(run);
        let target = plan
            .as_ref()
            .map(|plan| TargetSpec::from(plan.target.clone()));
        let target = target.as_ref();
        let pct = |share: f64| short(share * 100.0);
        let summary = summary.as_ref();
        Self {
            name: plan.as_ref().and_then(|plan| plan.name.clone()),
            rate_mbps: target.map(|target| target.rate.as_mbps()),
            link_mbps: target.and_then(link_mbps).map(short),
            rtt_ms: target.map(|target| target.rtt.0.as_secs_f64() * 1e3),
            packet_bytes: target.map(|target| target.mtu),
            derating: target.and_then(|target| target.derating.clone()),
            direction: plan.as_ref().map(|plan| plan.direction),
            rule: plan.as_ref().map(|plan| plan.rule),
            window_packets: summary.map(|told| told.window_packets),
            run_length_packets: summary.map(|told| told.run_length_packets),
            formula: summary.map(|told| told.formula.clone()),
            source: summary.map(|told| told.source.clone()),
            good_pct: summary.map(|told| pct(told.p0)),
            bad_pct: summary.map(|told| pct(told.p1)),
            path_rtt_ms: summary.and_then(|told| told.path_rtt_ms).map(short),
            predictions: summary
                .map_or_else(Vec::new, |told| told.conservativeness.predictions.clone()),
        }
    }

    /// Whether the packets go from the far end to here.
    pub(super) fn is_down(&self) -> bool {
        self.direction == Some(Direction::Down)
    }

    /// What so many packets in a second are on the link.
    pub(super) fn mbps(&self, packets_per_s: f64) -> Option<f64> {
        let bits = f64::from(self.packet_bytes?) * 8.0;
        Some(short(packets_per_s * bits / 1e6))
    }

    /// The target in words, such as `video-hd (5 Mbit/s over 50 ms)`; `None` when the plan does not tell it.
    pub(crate) fn words(&self) -> Option<String> {
        let number = |value: f64| format!("{}", short(value));
        let figures = format!(
            "{} Mbit/s over {} ms",
            number(self.rate_mbps?),
            number(self.rtt_ms?)
        );
        Some(match &self.name {
            Some(name) => format!("{name} ({figures})"),
            None => figures,
        })
    }
}

/// The target's rate on the link, headers included.
fn link_mbps(target: &TargetSpec) -> Option<f64> {
    let payload = target.mtu.checked_sub(target.overhead).filter(|&n| n > 0)?;
    Some(target.rate.as_mbps() * f64::from(target.mtu) / f64::from(payload))
}
