//! What calls heard.

use record::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The calls of a class.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Calls {
    /// What the server heard.
    pub up: CallFigures,
    /// What the client heard.
    pub down: CallFigures,
}

/// What one end of a call heard: the figures under load where there was load, else the idle ones.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct CallFigures {
    /// Mean opinion score by the E-model, 1 (bad) to 4.5 (excellent); G.711 with concealment, a jitter buffer of 30 ms.
    pub mos: Option<f64>,
    /// The same behind a jitter buffer that adapts to the path.
    pub mos_adaptive: Option<f64>,
    /// 99th percentile of the delay variation against the least delay (RFC 5481 section 4.2).
    pub jitter_ms: Option<f64>,
    /// Datagrams that never arrived.
    pub loss_pct: Option<f64>,
    /// Datagrams that came more than 30 ms after the least delay of the phase: too late to be heard. (A queue that only stands
    /// is delay, not jitter; a jitter buffer adapts to it.)
    pub late_pct: Option<f64>,
    /// All of it before the load.
    pub idle: Option<Heard>,
    /// All of it under load.
    pub loaded: Option<Heard>,
}

/// What one end of a call heard in one phase.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Heard {
    /// Datagrams that were sent.
    pub sent: u64,
    /// Mean opinion score.
    pub mos: Option<f64>,
    /// The E-model's rating factor, 0 to 93.2.
    pub r: Option<f64>,
    /// One-way delay, clocks corrected.
    pub delay_ms: Option<Distribution>,
    /// Delay variation against the least delay of the phase.
    pub variation_ms: Option<Distribution>,
    /// 99th percentile of it.
    pub jitter_ms: Option<f64>,
    /// Mean difference between one datagram's delay and the next one's (RFC 3393).
    pub ipdv_ms: Option<f64>,
    /// Never arrived.
    pub loss_pct: f64,
    /// Came too late.
    pub late_pct: f64,
    /// Most datagrams in a row that were lost or late.
    pub longest_loss_run: u64,
    /// How much burstier the losses are than independent ones (G.107): 1 is not at all.
    pub burst_ratio: Option<f64>,
    /// Overtaken by a later one (RFC 4737).
    pub reordered: u64,
    /// The same datagrams behind a jitter buffer that adapts to the path.
    pub adaptive: Option<Adaptive>,
}

/// What one end of a call heard behind an adaptive jitter buffer (Moon, Kurose and Towsley 1998).
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Adaptive {
    /// Mean time from when a datagram was sent until it was played; null when nothing arrived.
    pub playout_ms: Option<f64>,
    /// Came after they should have been played.
    pub late_pct: f64,
    /// The E-model's rating factor.
    pub r: Option<f64>,
    /// Mean opinion score.
    pub mos: Option<f64>,
}
