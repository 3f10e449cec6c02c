//! How cautious a model is: what the path's transport would really reach at the edge of the test.
//!
//! A test accepts loss rates up to `p0 = 1/R` and refuses them from `p1 = 4/R`. Put into the Mathis model, each says what rate
//! Reno would have. With the reference `R = 3 W^2` the answer is `sqrt(3) C` and `sqrt(3)/2 C` times the target (thesis
//! 5.3): 2.12 and 1.06 for C = sqrt(3/2). So a path is refused only when it would give a flow hardly more than the target.

use super::{C_DELAYED_ACK, C_EVERY_ACK, RunLength, cubic_window, mathis_window, throughput};
use crate::sequential::RATIO;
use crate::target::Target;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Rate;

/// What one model of a transport predicts.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Prediction {
    /// Which transport: `reno`, `reno-delayed-ack` or `cubic`.
    pub transport: String,
    /// Its throughput at the loss rate that is still good, 10^6 bit/s of data.
    pub at_p0_mbps: f64,
    /// The same as a multiple of the target rate.
    pub at_p0_ratio: f64,
    /// Its throughput at the loss rate that is too high, 10^6 bit/s of data.
    pub at_p1_mbps: f64,
    /// The same as a multiple of the target rate.
    pub at_p1_ratio: f64,
}

/// How cautious a target's run length is.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Conservativeness {
    /// The loss rate that is still good, as a fraction.
    pub p0: f64,
    /// The loss rate that is too high, as a fraction.
    pub p1: f64,
    /// What transports would reach there.
    pub predictions: Vec<Prediction>,
}

/// What transports reach at the edges of a test for `run_length`.
pub fn conservativeness(target: &Target, run_length: RunLength) -> Conservativeness {
    let p0 = run_length.loss_rate();
    let p1 = RATIO * p0;
    let rtt_s = target.rtt().as_secs_f64();
    let reno = |c: f64| [p0, p1].map(|p| mathis_window(p, c));
    let windows = [
        ("reno", reno(C_EVERY_ACK)),
        ("reno-delayed-ack", reno(C_DELAYED_ACK)),
        ("cubic", [p0, p1].map(|p| cubic_window(p, rtt_s))),
    ];
    let predictions = windows
        .into_iter()
        .map(|(transport, windows)| predict(target, transport, windows))
        .collect();
    Conservativeness {
        p0,
        p1,
        predictions,
    }
}

fn predict(target: &Target, transport: &str, windows: [f64; 2]) -> Prediction {
    let [at_p0_mbps, at_p1_mbps] =
        windows.map(|window| throughput(target, window).map_or(f64::INFINITY, Rate::as_mbps));
    let wanted = target.rate().as_mbps();
    Prediction {
        transport: transport.to_owned(),
        at_p0_mbps,
        at_p0_ratio: at_p0_mbps / wanted,
        at_p1_mbps,
        at_p1_ratio: at_p1_mbps / wanted,
    }
}
