//! A distribution in figures and as a curve.

use super::{Measure, Unit};
use crate::sketch::{Point, Sketch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The distribution of one measure. All figures but `count` are in `unit`.
///
/// The quantiles are those that D prints: the median, the 80th and 90th percentiles, and the value that the top 3 % exceed.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    /// In what.
    pub unit: Unit,
    /// Number of values.
    pub count: u64,
    /// Smallest value.
    pub min: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
    /// Median.
    pub p50: f64,
    /// 80th percentile.
    pub p80: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 97th percentile.
    pub p97: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest value.
    pub max: f64,
    /// Points of CDF and CCDF, in the order of their values; some 200 at most.
    pub curve: Vec<Point>,
}

impl Quantity {
    /// `None` without values.
    pub(super) fn of(measure: Measure, sketch: &Sketch) -> Option<Self> {
        let unit = measure.unit();
        let scale = unit.per_count();
        let quantile = |q| sketch.quantile(q).map(|value| value / scale);
        Some(Self {
            unit,
            count: sketch.count(),
            min: sketch.min()? as f64 / scale,
            mean: sketch.mean()? / scale,
            deviation: sketch.deviation()? / scale,
            p50: quantile(0.5)?,
            p80: quantile(0.8)?,
            p90: quantile(0.9)?,
            p97: quantile(0.97)?,
            p99: quantile(0.99)?,
            max: sketch.max()? as f64 / scale,
            curve: sketch.curve(scale),
        })
    }
}
