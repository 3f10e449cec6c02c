//! What rate a transport reaches at a loss rate.

use crate::target::Target;
use units::Rate;

/// The constant of the Mathis model when every packet is acknowledged: sqrt(3/2).
pub const C_EVERY_ACK: f64 = 1.224_744_871_391_589;
/// The same with delayed acknowledgements, one for two packets: sqrt(3/4).
pub const C_DELAYED_ACK: f64 = 0.866_025_403_784_438_6;

/// CUBIC's C, in packets per second cubed (RFC 9438 section 4.1).
const CUBIC_C: f64 = 0.4;
/// What CUBIC's window falls to at a loss (RFC 9438 section 4.6).
const CUBIC_BETA: f64 = 0.7;

/// Mean window of Reno in packets at loss rate `p`: `C/sqrt(p)` (Mathis et al. 1997). Infinite for `p` = 0.
pub fn mathis_window(p: f64, c: f64) -> f64 {
    c / p.sqrt()
}

/// Mean window of CUBIC in packets at loss rate `p` over `rtt_s` seconds: the larger of its own and of the Reno that it
/// emulates (RFC 9438 section 5.1, equations 5 and 6, and section 4.3).
pub fn cubic_window(p: f64, rtt_s: f64) -> f64 {
    let own = cubic_scale() * (rtt_s / p).powf(0.75);
    own.max(mathis_window(p, C_EVERY_ACK))
}

/// The run length at which [`cubic_window`] is `window`.
pub(super) fn cubic_run_length(window: f64, rtt_s: f64) -> f64 {
    let own = (window / cubic_scale()).powf(4.0 / 3.0) / rtt_s;
    own.min((window / C_EVERY_ACK).powi(2))
}

/// `(C (3 + beta) / (4 (1 - beta)))^(1/4)`: 1.054.
fn cubic_scale() -> f64 {
    (CUBIC_C * (3.0 + CUBIC_BETA) / (4.0 * (1.0 - CUBIC_BETA))).powf(0.25)
}

/// Data rate of a transport whose mean window is `window` packets, over the target's round-trip time with its packets;
/// `None` when it is no rate (an infinite window).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be in range"
)]
pub fn throughput(target: &Target, window: f64) -> Option<Rate> {
    let bits = window * f64::from(target.payload()) * 8.0 / target.rtt().as_secs_f64();
    (bits.is_finite() && (1.0..1e18).contains(&bits))
        .then(|| Rate::from_bps(bits as u64))
        .flatten()
}
