//! What is printed of a trace, and what a fit makes of it.

use crate::describe::{Describer, Measure};
use core::fmt;
use serde::{Deserialize, Serialize};

/// A figure of a distribution.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// Standard deviation.
    Deviation,
    /// Arithmetic mean.
    Mean,
    /// The value that this share of all does not exceed.
    Quantile(f64),
    /// The share of values that are at least this.
    ShareFrom(f64),
}

impl Statistic {
    /// That of the vectors that a describer has seen, in the measure's unit.
    pub fn of(self, describer: &Describer, measure: Measure) -> Option<f64> {
        let sketch = describer.sketch(measure);
        let scale = measure.unit().per_count();
        match self {
            Self::Deviation => sketch.deviation().map(|value| value / scale),
            Self::Mean => sketch.mean().map(|value| value / scale),
            Self::Quantile(q) => sketch.quantile(q).map(|value| value / scale),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturating, and no value is below zero"
            )]
            Self::ShareFrom(value) => sketch.share_from((value * scale).ceil() as u64),
        }
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deviation => f.pad("deviation"),
            Self::Mean => f.pad("mean"),
            Self::Quantile(q) => f.pad(&format!("quantile {q}")),
            Self::ShareFrom(value) => f.pad(&format!("share from {value}")),
        }
    }
}

/// A printed figure beside the fit's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statement {
    /// Of what.
    pub measure: Measure,
    /// Which figure.
    pub statistic: Statistic,
    /// What is printed, in the unit of the measure.
    pub published: f64,
    /// What the fit has.
    pub fitted: f64,
    /// The section that prints it; `derived` when it is reckoned from what is printed.
    pub from: String,
}

impl Statement {
    /// How far the fit is off, as a part of what is printed.
    pub fn error(&self) -> f64 {
        self.fitted / self.published - 1.0
    }
}

impl fmt::Display for Statement {
    /// A line of a table.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<20} {:<16} {:>14.4} {:>14.4} {:>+8.2} %  {}",
            format!("{:?}", self.measure),
            self.statistic,
            self.published,
            self.fitted,
            self.error() * 100.0,
            self.from
        )
    }
}
