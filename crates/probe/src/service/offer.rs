//! What estimators cost and how good they are: what is known beforehand, and what their runs have taught.

use super::{Estimate, Path};
use std::collections::BTreeMap;
use std::time::Duration;
use units::Instant;

/// What a run has taught is believed for this long: what was too dear or too vague may be better by then.
const BELIEVED: Duration = Duration::from_secs(600);

/// What a run takes, and how well it then knows the figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Octets of probes.
    pub octets: u64,
    /// How long it lasts.
    pub time: Duration,
    /// Half of the interval as a share of the figure, in percent; none where it says no interval.
    pub interval_pct: Option<f64>,
}

/// A way to find something out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer {
    /// What it finds.
    pub what: &'static str,
    /// What it is called.
    pub estimator: &'static str,
    /// What is typical for it.
    pub typical: Cost,
    /// Whether it may be chosen for who wants no quality in particular.
    pub is_usual: bool,
}

/// What runs have taught of each path: at most as much as there are paths and offers.
#[derive(Debug, Default)]
pub(super) struct Costs(BTreeMap<(Path, usize), (Cost, Instant)>);

impl Costs {
    /// What is to be expected on this path of the offer with this number.
    pub(super) fn expected(&self, path: Path, number: usize, offer: &Offer, now: Instant) -> Cost {
        let learnt = self.0.get(&(path, number));
        let learnt = learnt.filter(|(_, at)| now.since(*at) < BELIEVED);
        learnt.map_or(offer.typical, |(cost, _)| *cost)
    }

    /// Takes what a run took: half of what is expected from now on is what the last run took.
    pub(super) fn learn<T>(
        &mut self,
        path: Path,
        number: usize,
        offer: &Offer,
        estimate: &Estimate<T>,
        now: Instant,
    ) {
        let before = self.expected(path, number, offer, now);
        let seen = estimate.figure.interval_pct();
        let seen = seen.filter(|_| estimate.figure.conclusive);
        let interval_pct = before.interval_pct.zip(seen);
        let interval_pct = interval_pct.map(|(before, seen)| f64::midpoint(before, seen));
        let cost = Cost {
            octets: before.octets.midpoint(estimate.octets),
            time: (before.time.saturating_add(estimate.took)) / 2,
            interval_pct: interval_pct.or(before.interval_pct),
        };
        self.0.insert((path, number), (cost, now));
    }
}
