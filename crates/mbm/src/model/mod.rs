//! Models: how many packets must pass between two losses for a transport to keep its rate.
//!
//! A transport that shrinks its window at each loss and grows it in between swings around a mean. The closer the losses, the
//! lower the mean. A model inverts this: given the window that the target needs, how far apart must losses be? That is
//! the *target run length* R (RFC 8337 section 5.2); the loss rate that is still good is `1/R`.
//!
//! | model | R for a target window W | assumes |
//! |---|---|---|
//! | [`Model::Reference`] | `3 W^2` | Reno with delayed acknowledgements; all that exceeds W waits in a queue, so the window must never fall below W: it swings between W and 2W (RFC 8337 section 5.2 and appendix A; thesis equation 3.2) |
//! | [`Model::Queueless`] | `4/3 W^2` | Reno with delayed acknowledgements; no queue, so the *mean* of the window must be W: it swings between 2/3 W and 4/3 W (RFC 8337 appendix A.1) |
//! | [`Model::Mathis`] | `(W/C)^2` | the macroscopic model: window `C/sqrt(p)`; C is sqrt(3/2) when every packet is acknowledged, sqrt(3/4) with delayed acknowledgements, where it is the queueless model (thesis equation 2.1 and section 5.3) |
//! | [`Model::Cubic`] | the lesser of `(W/1.054)^(4/3) / rtt` and `2/3 W^2` | RFC 9438 section 5.1: the mean window of CUBIC with its C = 0.4 and beta = 0.7, or of Reno where that is larger |
//! | [`Model::Stated`] | as stated | the application itself says what it bears, with a reason |
//!
//! The reference is the most cautious: a path that just passes would give a single Reno flow 2.1 times the target
//! ([`conservativeness`], thesis 5.3).

mod conservative;
mod throughput;

pub use conservative::{Conservativeness, Prediction, conservativeness};
pub use throughput::{C_DELAYED_ACK, C_EVERY_ACK, cubic_window, mathis_window, throughput};

use crate::target::{Target, TargetError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A model of the transport that will carry the application. See the module for the formulas and their sources.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
pub enum Model {
    /// RFC 8337's own: `3 W^2`.
    #[default]
    Reference,
    /// RFC 8337 appendix A.1: `4/3 W^2`.
    Queueless,
    /// The macroscopic model: `(W/C)^2`.
    Mathis {
        /// Its constant, above zero; sqrt(3/2) unless said otherwise.
        #[serde(default = "every_ack")]
        c: f64,
    },
    /// RFC 9438 section 5.1.
    Cubic,
    /// What the application bears.
    Stated {
        /// Packets between two losses.
        run_length: u64,
        /// Why. Mandatory.
        reason: String,
    },
}

const fn every_ack() -> f64 {
    C_EVERY_ACK
}

/// A target run length.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RunLength {
    /// What the model says, in packets between two losses.
    pub model_packets: u64,
    /// What is asked for: the same, derated (RFC 8337 section 5.3).
    pub packets: u64,
}

impl RunLength {
    /// The loss rate that is still good: one packet in a run length (thesis equation 3.3).
    pub fn loss_rate(self) -> f64 {
        1.0 / self.packets as f64
    }
}

/// The longest run length that is accepted, in packets: a day at 100 Gbit/s.
const MAX_RUN_LENGTH: f64 = 1e15;

impl Model {
    /// The model's name, as it is written.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Queueless => "queueless",
            Self::Mathis { .. } => "mathis",
            Self::Cubic => "cubic",
            Self::Stated { .. } => "stated",
        }
    }

    /// Its formula for the run length, for people.
    pub fn formula(&self) -> String {
        match self {
            Self::Reference => "3 W^2".to_owned(),
            Self::Queueless => "4/3 W^2".to_owned(),
            Self::Mathis { c } => format!("(W/{c:.4})^2"),
            Self::Cubic => "min((W/1.054)^(4/3) / rtt, 2/3 W^2)".to_owned(),
            Self::Stated { run_length, .. } => run_length.to_string(),
        }
    }

    /// Where the formula comes from.
    pub fn source(&self) -> &str {
        match self {
            Self::Reference => "RFC 8337 section 5.2",
            Self::Queueless => "RFC 8337 appendix A.1",
            Self::Mathis { .. } => {
                "Mathis et al., The macroscopic behavior of the TCP congestion avoidance algorithm, 1997"
            }
            Self::Cubic => "RFC 9438 section 5.1",
            Self::Stated { reason, .. } => reason,
        }
    }

    /// The run length that `target` needs, rounded up to whole packets.
    ///
    /// # Errors
    /// [`TargetError::Model`] for a constant that is not above zero, a statement without a reason, and a run length with which
    /// nothing can be told: [`RATIO`](crate::sequential::RATIO) packets or fewer.
    pub fn run_length(&self, target: &Target) -> Result<RunLength, TargetError> {
        let refused = |what: String| TargetError::Model { what };
        let window = f64::from(target.window());
        let packets = match self {
            Self::Reference => 3.0 * window * window,
            Self::Queueless => 4.0 / 3.0 * window * window,
            Self::Mathis { c } if *c > 0.0 && c.is_finite() => (window / c).powi(2),
            Self::Mathis { c } => {
                return Err(refused(format!(
                    "the constant of the Mathis model is above zero, not {c}"
                )));
            }
            Self::Cubic => throughput::cubic_run_length(window, target.rtt().as_secs_f64()),
            Self::Stated { reason, .. } if reason.trim().is_empty() => {
                return Err(refused("a stated run length needs a written reason: who says that the application bears it".to_owned()));
            }
            Self::Stated { run_length, .. } => *run_length as f64,
        };
        let asked = packets * target.run_length_derating();
        let (model_packets, packets) = (whole(packets), whole(asked));
        if packets as f64 <= crate::sequential::RATIO {
            return Err(refused(format!(
                "a run length of {packets} packets is too short to tell good from bad: raise the rate or the round-trip time, or derate less"
            )));
        }
        Ok(RunLength {
            model_packets,
            packets,
        })
    }
}

/// Rounded up, with an allowance for the last bits of an exact product.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bounded on both sides"
)]
fn whole(packets: f64) -> u64 {
    (packets * (1.0 - 1e-12)).ceil().clamp(0.0, MAX_RUN_LENGTH) as u64
}

#[cfg(test)]
mod tests;
