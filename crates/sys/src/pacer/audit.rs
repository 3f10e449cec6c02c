//! The counters of a pacer.

use hdrhistogram::Histogram;
use stats::Distribution;
use std::time::Duration;
use units::Instant;

/// The largest error told apart, in nanoseconds; larger ones count as this.
const MAX_ERROR_NS: u64 = 60_000_000_000;
/// Significant digits of the distributions: one percent of the value, in 30 kB.
const DIGITS: u8 = 2;

/// Compares when things were planned with when they were done. Bounded memory, however long the
/// run.
///
/// Three different failings are kept apart: a single act is *late* when it came more than the
/// tolerance after its plan; a *gap error* is the difference between an actual and a planned gap
/// (a constant lateness makes none); a deadline is *missed* when the act before it was done only
/// after it had passed.
#[derive(Debug)]
pub struct GapAudit {
    tolerance: Duration,
    last: Option<Act>,
    count: u64,
    late: u64,
    missed: u64,
    errors: Histogram<u64>,
    lateness: Histogram<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Act {
    planned: Instant,
    actual: Instant,
}

impl GapAudit {
    /// Counters in which an act counts as late when it is done more than `tolerance` after its plan.
    #[expect(
        clippy::missing_panics_doc,
        reason = "constant arguments, covered by the tests"
    )]
    pub fn new(tolerance: Duration) -> Self {
        let histogram = || {
            Histogram::new_with_bounds(1, MAX_ERROR_NS, DIGITS)
                .expect("the bounds are constants that the histogram takes")
        };
        Self {
            tolerance,
            last: None,
            count: 0,
            late: 0,
            missed: 0,
            errors: histogram(),
            lateness: histogram(),
        }
    }

    /// Enters an act, in order of plan.
    pub fn record(&mut self, planned: Instant, actual: Instant) {
        let lateness = actual.since(planned);
        self.count += 1;
        self.late += u64::from(lateness > self.tolerance);
        enter(&mut self.lateness, lateness);
        if let Some(last) = self.last.replace(Act { planned, actual }) {
            let planned_gap = planned.since(last.planned);
            let actual_gap = actual.since(last.actual);
            enter(&mut self.errors, planned_gap.abs_diff(actual_gap));
            self.missed += u64::from(!planned_gap.is_zero() && last.actual >= planned);
        }
    }

    /// Acts entered.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Acts done more than the tolerance after their plan.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Deadlines that had passed before the act before them was done.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// |actual - planned gap|, in nanoseconds to one percent. `None` before the second act.
    pub fn errors(&self) -> Option<Distribution> {
        distribution(&self.errors)
    }

    /// The `q` quantile (0 to 1) of |actual - planned gap|; zero before the second act.
    pub fn error_quantile(&self, q: f64) -> Duration {
        Duration::from_nanos(self.errors.value_at_quantile(q))
    }

    /// Actual - planned time, in nanoseconds to one percent. `None` before the first act.
    pub fn lateness(&self) -> Option<Distribution> {
        distribution(&self.lateness)
    }
}

fn enter(histogram: &mut Histogram<u64>, value: Duration) {
    histogram.saturating_record(u64::try_from(value.as_nanos()).unwrap_or(u64::MAX));
}

fn distribution(histogram: &Histogram<u64>) -> Option<Distribution> {
    let at = |q| histogram.value_at_quantile(q) as f64;
    (!histogram.is_empty()).then(|| Distribution {
        n: histogram.len(),
        min: histogram.min() as f64,
        mean: histogram.mean(),
        p50: at(0.50),
        p90: at(0.90),
        p95: at(0.95),
        p99: at(0.99),
        max: histogram.max() as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acts planned every 100 us and done so many nanoseconds late.
    fn audit(lateness_ns: &[u64]) -> GapAudit {
        let mut audit = GapAudit::new(Duration::from_micros(10));
        let start = Instant::from_millis(1);
        for (gap, late) in (0..).zip(lateness_ns) {
            let planned = start + Duration::from_micros(100) * gap;
            audit.record(planned, planned + Duration::from_nanos(*late));
        }
        audit
    }

    #[test]
    fn a_constant_lateness_is_no_gap_error() {
        let audit = audit(&[50_000; 10]);
        assert_eq!((audit.count(), audit.late(), audit.missed()), (10, 10, 0));
        let errors = audit.errors().unwrap();
        assert_eq!((errors.n, errors.max), (9, 0.0));
        assert!((audit.lateness().unwrap().p50 - 50_000.0).abs() <= 500.0);
    }

    #[test]
    fn one_late_act_makes_two_gap_errors_and_no_missed_deadline() {
        let audit = audit(&[0, 0, 20_000, 0, 0]);
        assert_eq!((audit.late(), audit.missed()), (1, 0));
        let errors = audit.errors().unwrap();
        assert!(errors.p50.abs() < 1.0);
        assert!((errors.max - 20_000.0).abs() <= 200.0);
        assert!(audit.error_quantile(0.75) >= Duration::from_micros(19));
    }

    #[test]
    fn a_stall_over_three_gaps_misses_three_deadlines() {
        // The second act is done 310 us late: the three after it were due meanwhile.
        let audit = audit(&[0, 310_000, 211_000, 112_000, 13_000, 0]);
        assert_eq!((audit.late(), audit.missed()), (4, 3));
    }

    #[test]
    fn acts_planned_together_miss_nothing() {
        let mut audit = GapAudit::new(Duration::ZERO);
        for _ in 0..3 {
            audit.record(Instant::from_millis(1), Instant::from_millis(1));
        }
        assert_eq!((audit.late(), audit.missed()), (0, 0));
    }

    #[test]
    fn empty_counters_have_no_distribution() {
        assert_eq!(audit(&[]).lateness(), None);
        assert_eq!(audit(&[0]).errors(), None);
    }
}
