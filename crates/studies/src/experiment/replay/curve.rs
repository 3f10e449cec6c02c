//! A distribution function of times of which some are known only to be longer.
//!
//! A replay is cut at its end, and connections that wait for minutes are cut with it. Left out, they would make the others look
//! typical. The product-limit estimate (Kaplan and Meier 1958) lets each count for as long as it was seen: of those that
//! were still under way after so long, which share ended just then?

/// Shares closer than this, in per cent, are told as one.
const SMALLEST_STEP: f64 = 0.0005;

/// Shares in per cent, over times in milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Curve {
    /// How many ended.
    pub(super) ended: usize,
    /// How many were cut.
    pub(super) cut: usize,
    /// Mean of those that ended.
    pub(super) mean: f64,
    /// Times in ascending order, each with the share up to it.
    steps: Vec<(f64, f64)>,
}

impl Curve {
    /// Of times, each with whether it is that of an end.
    pub(super) fn of(times: impl IntoIterator<Item = (f64, bool)>) -> Self {
        let mut times: Vec<_> = times
            .into_iter()
            .filter(|time| time.0.is_finite())
            .collect();
        // Of the same time, what ended comes before what was cut.
        times.sort_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
        let mut curve = Self::default();
        let (mut left, mut sum) = (1.0, 0.0);
        for (place, &(ms, ended)) in times.iter().enumerate() {
            if !ended {
                curve.cut += 1;
                continue;
            }
            curve.ended += 1;
            sum += ms;
            left *= 1.0 - 1.0 / (times.len() - place) as f64;
            curve.step(ms, (1.0 - left) * 100.0);
        }
        curve.mean = sum / curve.ended.max(1) as f64;
        curve
    }

    /// The curve rises to `share` at `ms`. Of steps at one time, and of those that are too small to tell, the last is kept, so that curves of
    /// millions of connections stay small.
    fn step(&mut self, ms: f64, share: f64) {
        let kept = match &self.steps[..] {
            [.., (_, before), _] => *before,
            _ => 0.0,
        };
        match self.steps.last_mut() {
            Some(last) if ms <= last.0 || share - kept < SMALLEST_STEP => *last = (ms, share),
            _ => self.steps.push((ms, share)),
        }
    }

    /// Of values that are all known.
    pub(super) fn of_all(values: impl IntoIterator<Item = f64>) -> Self {
        Self::of(values.into_iter().map(|value| (value, true)))
    }

    /// All that it is of.
    pub(super) const fn n(&self) -> usize {
        self.ended + self.cut
    }

    /// The share up to `ms`, in per cent.
    pub(super) fn up_to(&self, ms: f64) -> f64 {
        let place = self.steps.partition_point(|step| step.0 <= ms);
        let step = place.checked_sub(1).and_then(|at| self.steps.get(at));
        step.map_or(0.0, |step| step.1)
    }

    /// The share above `ms`, in per cent; 0 of nothing.
    pub(super) fn above(&self, ms: f64) -> f64 {
        if self.n() == 0 {
            return 0.0;
        }
        100.0 - self.up_to(ms)
    }

    /// What `share` per cent are at most; none when so many never ended.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        // Products of many factors are not exact.
        let place = self.steps.partition_point(|step| step.1 < share - 1e-9);
        self.steps.get(place).map(|step| step.0)
    }

    /// The largest difference of the shares of two curves between two times, in points.
    pub(super) fn gap(&self, other: &Self, from: f64, to: f64) -> f64 {
        let both = self.steps.iter().chain(&other.steps);
        let inside = both
            .map(|step| step.0)
            .filter(|ms| (from..=to).contains(ms));
        let ends = inside.chain([from, to]);
        let gaps = ends.map(|ms| (self.up_to(ms) - other.up_to(ms)).abs());
        gaps.fold(0.0, f64::max)
    }

    /// The mean share between 0 and `to`, in per cent: the more, the faster.
    pub(super) fn body(&self, to: f64) -> f64 {
        let mut area = 0.0;
        let mut last = (0.0, 0.0);
        for &(ms, share) in self.steps.iter().take_while(|step| step.0 < to) {
            area += (ms - last.0) * last.1;
            last = (ms, share);
        }
        (area + (to - last.0) * last.1) / to
    }

    /// The largest share within any `width` milliseconds between two times, in points.
    pub(super) fn steepest(&self, width: f64, from: f64, to: f64) -> f64 {
        let inside = self
            .steps
            .iter()
            .filter(|step| (from..=to).contains(&step.0));
        let rises = inside.map(|step| step.1 - self.up_to(step.0 - width));
        rises.fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) {
        assert!((one - other).abs() < 1e-9, "{one} instead of {other}");
    }

    #[test]
    fn without_cuts_it_is_the_share_of_values() {
        let curve = Curve::of_all([400.0, 100.0, 200.0, 300.0]);
        near(curve.up_to(99.0), 0.0);
        near(curve.up_to(200.0), 50.0);
        near(curve.above(400.0), 0.0);
        assert_eq!(
            [25.0, 50.0, 80.0].map(|q| curve.quantile(q)),
            [100.0, 200.0, 400.0].map(Some)
        );
        near(curve.mean, 250.0);
        // 0, 25, 50, 75 % for 100 ms each.
        near(curve.body(400.0), 37.5);
        near(curve.steepest(100.0, 150.0, 400.0), 25.0);
        near(curve.steepest(150.0, 150.0, 400.0), 50.0);
    }

    #[test]
    fn what_was_cut_counts_as_long_as_it_was_seen() {
        // Kaplan-Meier by hand: 1 - 3/4, then of two left one: 3/4 * 1/2.
        let curve = Curve::of([(1.0, true), (2.0, false), (3.0, true), (4.0, false)]);
        near(curve.up_to(2.5), 25.0);
        near(curve.up_to(9.0), 62.5);
        assert_eq!((curve.ended, curve.cut, curve.quantile(80.0)), (2, 2, None));
    }

    #[test]
    fn a_million_values_are_told_by_fewer_steps() {
        let count = 1_000_000;
        // Uniform to a second, but one in four is of the same time.
        let value = |number: u32| match number % 4 {
            0 => 250.0,
            _ => f64::from(number) * 1e3 / f64::from(count),
        };
        let curve = Curve::of_all((0..count).map(value));
        assert_eq!(curve.n(), 1_000_000);
        assert!(curve.steps.len() < 400_000, "{}", curve.steps.len());
        for (ms, share) in [
            (100.0, 7.5),
            (249.999, 18.75),
            (250.0, 43.75),
            (900.0, 92.5),
            (1e3, 100.0),
        ] {
            let found = curve.up_to(ms);
            assert!((found - share).abs() < 0.001, "{ms}: {found}");
        }
        assert!((curve.quantile(30.0).unwrap() - 250.0).abs() < 1e-9);
        assert!((curve.quantile(92.5).unwrap() - 900.0).abs() < 0.01);
    }

    #[test]
    fn a_gap_is_found_where_it_is() {
        let (fast, slow) = (Curve::of_all([10.0, 20.0]), Curve::of_all([10.0, 600.0]));
        near(fast.gap(&slow, 0.0, 500.0), 50.0);
        near(fast.gap(&slow, 700.0, 900.0), 0.0);
        near(Curve::default().gap(&fast, 0.0, 1e9), 100.0);
    }
}
