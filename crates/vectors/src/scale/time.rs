//! The same connections, closer together or further apart.

use super::ScaleError;
use crate::Vector;
use core::time::Duration;

/// Multiplies the times of starts. The load is divided by the factor, and so is the trace's rate of change: an hour's
/// rise becomes half an hour's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeScaling(f64);

impl TimeScaling {
    /// With this factor: 0.5 doubles the load.
    ///
    /// # Errors
    ///
    /// When it is not a finite number above zero.
    pub fn new(factor: f64) -> Result<Self, ScaleError> {
        if !(factor.is_finite() && factor > 0.0) {
            return Err(ScaleError::Factor);
        }
        Ok(Self(factor))
    }

    /// A span of starts, scaled, to the nanosecond; as far as a duration reaches.
    pub fn span(&self, span: Duration) -> Duration {
        Duration::try_from_secs_f64(span.as_secs_f64() * self.0).unwrap_or(Duration::MAX)
    }

    /// Rewrites a vector.
    pub fn apply(&self, vector: &mut Vector) {
        vector.start = self.span(vector.start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::samples::{any_vector, ms, sequential, vector};
    use crate::scale::Load;
    use proptest::prelude::*;

    #[test]
    fn half_the_time_is_twice_the_load() {
        let turns = [crate::model::samples::a(1_000, 0)];
        let mut vector = vector(sequential(&turns, None));
        let half = TimeScaling::new(0.5).unwrap();
        let mut before = Load::over(ms(10_000));
        before.enter(&vector);
        half.apply(&mut vector);
        let mut after = Load::over(half.span(ms(10_000)));
        after.enter(&vector);
        assert_eq!(vector.start, ms(3_500));
        let ratios = [
            after.bits_per_second(None) / before.bits_per_second(None),
            after.starts_per_second() / before.starts_per_second(),
            before.bits_per_second(None) / 800.0,
        ];
        let expected = [2.0, 2.0, 1.0];
        let close = |(one, other): (f64, f64)| (one - other).abs() < 1e-9;
        assert!(ratios.into_iter().zip(expected).all(close), "{ratios:?}");
    }

    #[test]
    fn what_is_no_factor_is_refused() {
        for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(TimeScaling::new(factor), Err(ScaleError::Factor));
        }
    }

    proptest! {
        #[test]
        fn only_the_start_changes(vector in any_vector(), factor in 1e-9..1e9_f64) {
            let mut scaled = vector.clone();
            TimeScaling::new(factor).unwrap().apply(&mut scaled);
            prop_assert_eq!(Vector { start: vector.start, ..scaled }, vector);
        }
    }
}
