//! What was asked of the path: the target, the loss that is good and the loss that is bad.

use super::piece;
use crate::number::short;
use record::Run;
use serde::{Deserialize, Serialize};
use units::{Rate, Span};

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
    direction: Option<String>,
    rule: Option<Rule>,
    window_packets: Option<u64>,
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

#[derive(Deserialize, Serialize)]
struct Derating {
    #[serde(default)]
    run_length: Option<f64>,
    #[serde(default)]
    burst: Option<f64>,
    #[serde(default)]
    reason: String,
}

/// When a test may end.
#[derive(Deserialize, Serialize)]
struct Rule {
    kind: String,
    #[serde(default)]
    packets: Option<u64>,
}

#[derive(Deserialize, Serialize)]
struct Prediction {
    transport: String,
    at_p0_mbps: Option<f64>,
    at_p1_mbps: Option<f64>,
}

/// The target as a plan writes it.
#[derive(Deserialize)]
struct Target {
    rate: Rate,
    rtt: Span,
    #[serde(default = "mtu")]
    mtu: u32,
    #[serde(default = "overhead")]
    overhead: u32,
    #[serde(default)]
    derating: Option<Derating>,
}

const fn mtu() -> u32 {
    1_500
}

const fn overhead() -> u32 {
    64
}

impl Target {
    fn link_mbps(&self) -> Option<f64> {
        let payload = self.mtu.checked_sub(self.overhead).filter(|&n| n > 0)?;
        Some(self.rate.as_mbps() * f64::from(self.mtu) / f64::from(payload))
    }
}

impl Asked {
    pub(crate) fn of(run: &Run) -> Self {
        let (plan, summary) = (&run.plan, &run.summary);
        let target: Option<Target> = piece(&plan["target"]);
        let pct = |key: &str| summary[key].as_f64().map(|share| short(share * 100.0));
        let told = |key: &str| summary[key].as_str().map(str::to_owned);
        Self {
            name: plan["name"].as_str().map(str::to_owned),
            rate_mbps: target.as_ref().map(|t| t.rate.as_mbps()),
            link_mbps: target.as_ref().and_then(Target::link_mbps).map(short),
            rtt_ms: target.as_ref().map(|t| t.rtt.0.as_secs_f64() * 1e3),
            packet_bytes: target.as_ref().map(|t| t.mtu),
            derating: target.and_then(|t| t.derating),
            direction: plan["direction"].as_str().map(str::to_lowercase),
            rule: piece(&plan["rule"]),
            window_packets: summary["window_packets"].as_u64(),
            run_length_packets: summary["run_length_packets"].as_u64(),
            formula: told("formula"),
            source: told("source"),
            good_pct: pct("p0"),
            bad_pct: pct("p1"),
            path_rtt_ms: summary["path_rtt_ms"].as_f64().map(short),
            predictions: piece(&summary["conservativeness"]["predictions"]).unwrap_or_default(),
        }
    }

    /// Whether the packets go from the far end to here.
    pub(super) fn is_down(&self) -> bool {
        self.direction.as_deref() == Some("down")
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
