//! Bounds of figures: beyond them somebody is to hear of a run.

use crate::figures::{Found, short};
use serde::Deserialize;

/// A bound of a figure.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Threshold {
    /// The figure, as `isobath compare` calls it; the measurement's first one without it.
    #[serde(default)]
    pub figure: Option<String>,
    /// In the figure's unit: more is too much.
    #[serde(default)]
    pub above: Option<f64>,
    /// In the figure's unit: less is too little.
    #[serde(default)]
    pub below: Option<f64>,
}

impl Threshold {
    pub(super) fn check(&self) -> Result<(), String> {
        let bounds = [self.above, self.below];
        if bounds.iter().flatten().any(|bound| !bound.is_finite()) {
            return Err("the bound of a threshold is no number".to_owned());
        }
        match bounds {
            [None, None] => {
                Err("a threshold without a bound - add above = .. or below = ..".to_owned())
            }
            [Some(above), Some(below)] if below > above => Err(format!(
                "a threshold that every figure is beyond: above {above}, or below {below}"
            )),
            _ => Ok(()),
        }
    }

    /// What is wrong with its figure, in words; none if nothing is.
    pub(crate) fn exceeded_by(&self, found: &Found) -> Option<String> {
        let is_above = self.above.filter(|above| found.value > *above);
        let is_below = self.below.filter(|below| found.value < *below);
        let said = |side: &str, bound: f64| {
            let Found { name, unit, value } = found;
            format!("{name} {} {unit} is {side} {}", short(*value), short(bound))
        };
        is_above
            .map(|above| said("above", above))
            .or_else(|| is_below.map(|below| said("below", below)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(above: Option<f64>, below: Option<f64>) -> Threshold {
        Threshold {
            figure: None,
            above,
            below,
        }
    }

    #[test]
    fn what_is_beyond_a_bound_is_said_in_words() {
        let within = threshold(Some(60.0), Some(5.0));
        let of = |value| {
            let (name, unit) = ("value".to_owned(), "ms".to_owned());
            within.exceeded_by(&Found { name, unit, value })
        };
        assert_eq!(of(75.5).as_deref(), Some("value 75.5 ms is above 60.0"));
        assert_eq!(of(4.0).as_deref(), Some("value 4.00 ms is below 5.00"));
        assert_eq!((of(60.0), of(5.0)), (None, None));
    }

    #[test]
    fn a_threshold_has_a_bound_that_some_figure_is_within() {
        assert!(threshold(None, None).check().is_err());
        assert!(threshold(Some(1.0), Some(2.0)).check().is_err());
        assert!(threshold(Some(f64::NAN), None).check().is_err());
        assert!(threshold(Some(2.0), Some(1.0)).check().is_ok());
    }
}
