//! How far two sets are apart.

use super::{Describer, Measure, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One measure in two sets.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// Which.
    pub measure: Measure,
    /// In what the figures are.
    pub unit: Unit,
    /// Numbers of values.
    pub counts: [u64; 2],
    /// Means.
    pub means: [f64; 2],
    /// Medians.
    pub medians: [f64; 2],
    /// 90th percentiles.
    pub p90s: [f64; 2],
    /// The largest vertical distance of the two distribution functions, from 0 to 1: the statistic of Kolmogorov and
    /// Smirnov.
    pub distance: f64,
    /// The distance that two sets as large as these, drawn from one distribution, exceed in 5 of 100 cases. With millions of
    /// values it is so small that any two traces differ; then the distance itself is what says whether it matters.
    pub by_chance: f64,
}

impl Describer {
    /// Compares this set with another, in each measure of which both have values.
    pub fn compare(&self, other: &Self) -> Vec<Difference> {
        let difference = |measure| self.difference(other, measure);
        Measure::ALL.into_iter().filter_map(difference).collect()
    }

    fn difference(&self, other: &Self, measure: Measure) -> Option<Difference> {
        let sketches = [self.sketch(measure), other.sketch(measure)];
        let [ours, theirs] = sketches;
        let distance = ours.distance(theirs)?;
        let unit = measure.unit();
        let counts = sketches.map(crate::sketch::Sketch::count);
        let sizes = counts.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        let quantiles =
            |q| sketches.map(|sketch| sketch.quantile(q).unwrap_or_default() / unit.per_count());
        Some(Difference {
            measure,
            unit,
            counts,
            means: sketches.map(|sketch| sketch.mean().unwrap_or_default() / unit.per_count()),
            medians: quantiles(0.5),
            p90s: quantiles(0.9),
            distance,
            by_chance: stats::ks::critical(sizes[0], sizes[1])?,
        })
    }
}
