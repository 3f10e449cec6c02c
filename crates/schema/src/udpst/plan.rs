//! What a run of `isobath udpst` is to do.

use crate::Ways;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::{Dscp, Span};

/// How long a direction lasts; the protocol has whole seconds.
const SHORTEST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(3_600);
/// How long a sub-interval may be.
const SUB_INTERVALS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(10)];

/// How long a trial may be.
const TRIALS: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(250)];
/// What a threshold may be.
const MS: Duration = Duration::from_millis(1);
const MOST_THRESHOLD: Duration = Duration::from_secs(10);

/// How the rate is searched.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Algorithm {
    /// Type B: in steps of 10 Mbit/s, then of 1.
    #[default]
    B,
    /// Type C: by doubling; faster where the capacity is large.
    C,
}

/// A run of `isobath udpst`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Plan {
    /// The server that was asked for.
    pub server: String,
    /// Which ways the load goes.
    pub ways: Ways,
    /// How long each lasts.
    pub duration: Span,
    /// How the rate is searched.
    pub algorithm: Algorithm,
    /// The capacity is the largest of a time so long.
    pub sub_interval: Span,
    /// From one feedback to the next.
    pub trial: Span,
    /// Delay variation below which the rate rises, and above which it falls.
    pub low: Span,
    /// See `low`.
    pub upper: Span,
    /// Whether that is one-way delay variation, and not that of round trips.
    pub one_way: bool,
    /// The class of the load; none: best effort.
    pub dscp: Option<Dscp>,
}

impl Plan {
    /// Checks what parsing cannot.
    ///
    /// # Errors
    /// In one line what cannot be.
    pub fn check(&self) -> Result<(), String> {
        let duration = self.duration.0;
        if duration < SHORTEST || duration > LONGEST || duration.subsec_nanos() > 0 {
            return Err("a direction lasts 5s to 1h, in whole seconds".to_owned());
        }
        let [least, most] = SUB_INTERVALS;
        if self.sub_interval.0 < least || self.sub_interval.0 > most {
            return Err("a sub-interval lasts 100ms to 10s".to_owned());
        }
        if self.sub_interval.0 > duration {
            return Err("a sub-interval lasts no longer than a direction".to_owned());
        }
        let [least, most] = TRIALS;
        if self.trial.0 < least || self.trial.0 > most {
            return Err("a trial lasts 5ms to 250ms".to_owned());
        }
        let is_threshold = |span: Span| {
            span.0 >= MS
                && span.0 <= MOST_THRESHOLD
                && span.0.as_nanos().is_multiple_of(MS.as_nanos())
        };
        if !is_threshold(self.low) || !is_threshold(self.upper) || self.low.0 > self.upper.0 {
            return Err(
                "thresholds are 1ms to 10s, in whole milliseconds, and the lower one is at most the upper one"
                    .to_owned(),
            );
        }
        Ok(())
    }
}
