//! Flent's time line: one value every `STEP_SIZE` from the run's start to its end.
//!
//! Flent takes for each step the value that the line between the raw values before and after it has there. That shows
//! what a tool said at that moment, not what went by. Here a step is a bin of its own length around its moment: a rate
//! is what was delivered in it, a round trip the mean of the probes that were sent in it. Where no probe was sent in a
//! bin the line between its neighbours counts, over as many steps as Flent bridges; a longer gap is null.

/// Flent's usual `STEP_SIZE`, in ns.
const STEP_NS: u64 = 200_000_000;
/// Flent makes no more steps than this; a longer run gets longer ones.
const MAX_STEPS: u64 = 1_000_000;
/// Steps without a value that are bridged: Flent's limit.
const MAX_BRIDGED: usize = 5;
/// Octets in a ns as Mbit/s.
pub(super) const MBPS: f64 = 8_000.0;
/// Part of a bin that must be known for a rate; the end of a load would give outliers otherwise.
const LEAST_COVERED: f64 = 0.5;

/// The time line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Grid {
    pub(super) step_ns: u64,
    pub(super) steps: usize,
}

/// What one stream delivered in the time that ends at `end_ns`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    pub(super) end_ns: u64,
    pub(super) bin_ns: u64,
    pub(super) bytes: u64,
}

impl Grid {
    /// The time line of a run that ends so many ns after its start.
    pub(super) fn over(end_ns: u64) -> Self {
        Self::with_step(STEP_NS, end_ns)
    }

    /// The same with steps of another length.
    pub(super) fn with_step(mut step_ns: u64, end_ns: u64) -> Self {
        while end_ns / step_ns >= MAX_STEPS {
            step_ns *= 2;
        }
        Self {
            step_ns,
            steps: usize::try_from(end_ns / step_ns).map_or(1, |last| last + 1),
        }
    }

    pub(super) fn step_s(self) -> f64 {
        self.step_ns as f64 / 1e9
    }

    pub(super) fn x_values(self) -> Vec<f64> {
        let at = |step: usize| step as f64 * self.step_ns as f64 / 1e9;
        (0..self.steps).map(at).collect()
    }

    /// The step whose bin holds that moment, which may be past the end.
    fn step_of(self, t_ns: u64) -> usize {
        let step = t_ns.saturating_add(self.step_ns / 2) / self.step_ns;
        usize::try_from(step).unwrap_or(usize::MAX)
    }

    /// Start of a step's bin; that of the first is cut at the run's start.
    fn start(self, step: usize) -> u64 {
        (step as u64 * self.step_ns).saturating_sub(self.step_ns / 2)
    }

    /// Mbit/s in each bin of which the chunks tell at least half.
    pub(super) fn rates(self, chunks: &[Chunk]) -> Vec<Option<f64>> {
        let mut bins = vec![(0.0, 0.0); self.steps];
        for chunk in chunks.iter().filter(|chunk| chunk.bin_ns > 0) {
            self.spread(*chunk, &mut bins);
        }
        let rate = |(step, &(bytes, ns)): (usize, &(f64, f64))| {
            let length = (self.start(step + 1) - self.start(step)) as f64;
            (ns >= LEAST_COVERED * length).then(|| bytes / ns * MBPS)
        };
        bins.iter().enumerate().map(rate).collect()
    }

    /// Adds a chunk to the bins that it lies in: octets, and the time that it covers.
    fn spread(self, chunk: Chunk, bins: &mut [(f64, f64)]) {
        let start = chunk.end_ns.saturating_sub(chunk.bin_ns);
        let per_ns = chunk.bytes as f64 / chunk.bin_ns as f64;
        let first = self.step_of(start);
        for (at, bin) in bins.iter_mut().enumerate().skip(first) {
            let (from, until) = (
                self.start(at).max(start),
                self.start(at + 1).min(chunk.end_ns),
            );
            if self.start(at) >= chunk.end_ns {
                break;
            }
            let covered = until.saturating_sub(from) as f64;
            bin.0 += per_ns * covered;
            bin.1 += covered;
        }
    }

    /// Mean of the values in each bin, bridged where none is.
    pub(super) fn means(self, values: impl Iterator<Item = (u64, f64)>) -> Vec<Option<f64>> {
        let mut bins = vec![(0.0, 0_u32); self.steps];
        for (t_ns, value) in values {
            if let Some(bin) = bins.get_mut(self.step_of(t_ns)) {
                bin.0 += value;
                bin.1 += 1;
            }
        }
        let mean = |(sum, count): (f64, u32)| (count > 0).then(|| sum / f64::from(count));
        let mut steps: Vec<_> = bins.into_iter().map(mean).collect();
        bridge(&mut steps);
        steps
    }
}

/// Fills short gaps between two values by the line between them.
fn bridge(steps: &mut [Option<f64>]) {
    let mut before: Option<(usize, f64)> = None;
    for at in 0..steps.len() {
        let Some(value) = steps[at] else { continue };
        if let Some((from, first)) = before.filter(|(from, _)| at - from <= MAX_BRIDGED) {
            let slope = (value - first) / (at - from) as f64;
            for (gap, step) in steps[from + 1..at].iter_mut().enumerate() {
                *step = Some(first + slope * (gap + 1) as f64);
            }
        }
        before = Some((at, value));
    }
}

/// Adds series step by step: the sum of what is not null, null where all are.
pub(super) fn sum<'a>(all: impl Iterator<Item = &'a [Option<f64>]>) -> Vec<Option<f64>> {
    let mut sums: Vec<Option<f64>> = Vec::new();
    for steps in all {
        sums.resize(sums.len().max(steps.len()), None);
        for (sum, step) in sums.iter_mut().zip(steps) {
            *sum = match (*sum, *step) {
                (Some(sum), Some(step)) => Some(sum + step),
                (sum, step) => sum.or(step),
            };
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn the_time_line_covers_the_run_with_flents_step() {
        let grid = Grid::over(20_029 * MS);
        assert_eq!((grid.steps, grid.step_s()), (101, 0.2));
        assert!(grid.x_values()[1] - 0.2 < 1e-9);
        let year = Grid::over(366 * 86_400_000 * MS);
        assert!(year.steps <= 1_000_000, "{year:?}");
    }

    #[test]
    fn a_steady_rate_is_that_rate_in_every_bin_that_it_covers() {
        let grid = Grid::over(1_000 * MS);
        let chunks: Vec<_> = (5..=8)
            .map(|at| Chunk {
                end_ns: at * 100 * MS,
                bin_ns: 100 * MS,
                bytes: 125_000,
            })
            .collect();
        let rates = grid.rates(&chunks);
        assert_eq!(rates.len(), 6);
        for (step, rate) in rates.iter().enumerate() {
            let expected = (2..=4).contains(&step).then_some(10.0);
            assert_eq!(rate.map(f64::round), expected, "step {step}");
        }
    }

    #[test]
    fn short_gaps_are_bridged_and_long_ones_are_not() {
        let grid = Grid::over(4_000 * MS);
        let means = grid.means(
            [
                (0, 10.0),
                (600 * MS, 40.0),
                (601 * MS, 40.0),
                (3_000 * MS, 5.0),
            ]
            .into_iter(),
        );
        let rounded: Vec<_> = means.iter().take(6).map(|x| x.map(f64::round)).collect();
        assert_eq!(
            rounded,
            [Some(10.0), Some(20.0), Some(30.0), Some(40.0), None, None]
        );
        assert_eq!(means[15], Some(5.0));
        assert_eq!(means[16], None);
    }

    #[test]
    fn sums_leave_nulls_out() {
        let (a, b) = ([Some(1.0), None, None], [Some(2.0), Some(3.0), None]);
        let sum = sum([&a[..], &b[..]].into_iter());
        assert_eq!(sum, [Some(3.0), Some(3.0), None]);
    }

    proptest! {
        #[test]
        fn no_octet_is_lost_or_made(chunks in proptest::collection::vec((100..50_000_u64, 1..400_u64, 0..1_000_000_u64), 1..40)) {
            let grid = Grid::over(60_000 * MS);
            let chunks: Vec<_> = chunks.into_iter()
                .map(|(end, bin, bytes)| Chunk { end_ns: end * MS, bin_ns: bin.min(end) * MS, bytes })
                .collect();
            let mut bins = vec![(0.0, 0.0); grid.steps];
            for &chunk in &chunks {
                grid.spread(chunk, &mut bins);
            }
            let spread: f64 = bins.iter().map(|bin| bin.0).sum();
            let total: u64 = chunks.iter().map(|chunk| chunk.bytes).sum();
            prop_assert!((spread - total as f64).abs() < 1e-3 * (1.0 + total as f64), "{spread} {total}");
        }
    }
}
