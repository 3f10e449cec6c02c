//! The search for the rate above which delays rise.
//!
//! Four bounds are moved: below `low` no fleet of streams rises, above `high` all do, and between `grey_low` and `grey_high`
//! lie rates at which some do, because what is available changed meanwhile (the paper's Rmin, Rmax, Gmin, Gmax).
//!
//! A search that halves takes each answer for true for ever. Where what is available comes and goes, it ends between two answers
//! of different times, sure of a figure that never was. So both bounds are asked once more at the end, over some seconds (which is
//! ours, not the paper's): one that no longer holds becomes grey, and the search goes on beyond it.

use super::Verdict;

/// Below this the search ends: the path has next to nothing to give. In bit/s.
pub(super) const LEAST: f64 = 50e3;

/// Rates are in bit/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Search {
    low: f64,
    /// Known once a fleet has risen.
    high: Option<f64>,
    grey: Option<[f64; 2]>,
    /// The rate of the fleet at hand.
    rate: f64,
    most: f64,
    /// The bound that is asked once more, and which held when they were.
    asking: Option<Bound>,
    held: [bool; 2],
    contradictions: u32,
}

/// One of two bounds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Bound {
    Low,
    High,
}

/// Bounds that did not hold, after which no more are asked: it varies, and how far is known as well as it will be.
const MOST_CONTRADICTIONS: u32 = 4;

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) grey: Option<[f64; 2]>,
}

/// Before anything is known.
pub(super) const UNKNOWN: Range = Range {
    low: 0.0,
    high: f64::INFINITY,
    grey: None,
};

impl Search {
    /// From `first` on, up to `most`.
    pub(super) fn new(first: f64, most: f64) -> Self {
        Self {
            low: 0.0,
            high: None,
            grey: None,
            rate: first.min(most),
            most,
            asking: None,
            held: [false; 2],
            contradictions: 0,
        }
    }

    pub(super) const fn rate(&self) -> f64 {
        self.rate
    }

    /// Whether the rate at hand is that of a bound that was found before.
    pub(super) const fn is_asking(&self) -> bool {
        self.asking.is_some()
    }

    /// What a fleet at the rate at hand said.
    pub(super) fn enter(&mut self, verdict: Verdict) {
        match (self.asking.take(), verdict) {
            (Some(Bound::Low), Verdict::Below) => self.held[0] = true,
            (Some(Bound::High), Verdict::Above) => self.held[1] = true,
            (Some(bound), _) => self.contradict(bound),
            (None, verdict) => self.learn(verdict),
        }
    }

    /// A bound does not hold any more.
    fn contradict(&mut self, bound: Bound) {
        self.contradictions += 1;
        let [low, high] = self.grey.unwrap_or([self.rate; 2]);
        self.grey = Some([low.min(self.rate), high.max(self.rate)]);
        match bound {
            Bound::Low => self.low = 0.0,
            Bound::High => self.high = None,
        }
    }

    fn learn(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Above => {
                self.held[1] = false;
                self.high = Some(self.rate);
                self.grey = self.grey.filter(|grey| grey[0] < self.rate);
                if let Some(grey) = &mut self.grey {
                    grey[1] = grey[1].min(self.rate);
                }
            }
            Verdict::Below => {
                self.held[0] = false;
                self.low = self.rate;
                self.grey = self.grey.filter(|grey| grey[1] > self.rate);
                if let Some(grey) = &mut self.grey {
                    grey[0] = grey[0].max(self.rate);
                }
            }
            Verdict::Grey => {
                let [low, high] = self.grey.unwrap_or([self.rate; 2]);
                self.grey = Some([low.min(self.rate), high.max(self.rate)]);
            }
        }
    }

    /// What was found, when that is known to within `resolution` (a share of the rate) and, if it `confirms`, holds; else the
    /// next rate is chosen.
    pub(super) fn advance(&mut self, resolution: f64, confirms: bool) -> Option<Range> {
        let Some(high) = self.high else {
            if self.rate >= self.most {
                // Nothing rises at the highest rate that can be sent.
                return Some(self.range(self.most));
            }
            self.rate = (self.rate * 2.0).min(self.most);
            return None;
        };
        let narrow = |from: f64, to: f64| to - from <= resolution * to;
        // Where the answer is not yet known: beside the grey region, the wider side first, or between the bounds.
        let (from, to) = match self.grey {
            None => (self.low, high),
            Some([grey_low, _]) if !narrow(self.low, grey_low) => (self.low, grey_low),
            Some([_, grey_high]) => (grey_high, high),
        };
        if narrow(from, to) || to <= LEAST {
            let doubted = confirms && self.contradictions < MOST_CONTRADICTIONS;
            return if doubted && self.ask(high) {
                None
            } else {
                Some(self.range(high))
            };
        }
        self.rate = f64::midpoint(from, to);
        None
    }

    /// Asks a bound once more; false when both hold.
    fn ask(&mut self, high: f64) -> bool {
        let bounds = [(Bound::Low, self.low), (Bound::High, high)];
        let open = bounds.into_iter().zip(self.held);
        let mut open = open.filter(|((_, rate), held)| *rate > LEAST && !held);
        let Some(((bound, rate), _)) = open.next() else {
            return false;
        };
        self.asking = Some(bound);
        self.rate = rate;
        true
    }

    /// What has not been excluded so far.
    pub(super) fn known(&self) -> Range {
        self.range(self.high.unwrap_or(self.most))
    }

    /// The same, with no bound above where none was found.
    pub(super) fn known_so_far(&self) -> Range {
        self.range(self.high.unwrap_or(f64::INFINITY))
    }

    const fn range(&self, high: f64) -> Range {
        Range {
            low: self.low,
            high,
            grey: self.grey,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(first: f64, most: f64, verdict: impl Fn(f64) -> Verdict) -> (Range, usize) {
        let mut search = Search::new(first, most);
        for fleets in 1..200 {
            search.enter(verdict(search.rate()));
            if let Some(range) = search.advance(0.05, true) {
                return (range, fleets);
            }
        }
        panic!("it does not end");
    }

    #[test]
    fn a_path_that_has_nothing_to_give_is_told() {
        let (range, _) = found(1e6, 100e6, |_| Verdict::Above);
        assert!(range.low < 1.0 && range.high <= LEAST);
    }

    #[test]
    fn what_is_above_all_that_can_be_sent_is_told() {
        let (range, fleets) = found(1e6, 100e6, |_| Verdict::Below);
        assert_eq!((range.low, range.high), (100e6, 100e6));
        assert_eq!(fleets, 8, "1, 2, 4, 8, 16, 32, 64, 100 Mbit/s");
    }

    proptest! {
        /// Holds manager/pathload-search.
        #[test]
        fn the_edge_lies_between_the_bounds(available in 0.2e6_f64..400e6) {
            let (range, fleets) = found(1e6, 500e6, |rate| {
                if rate > available { Verdict::Above } else { Verdict::Below }
            });
            prop_assert!(range.low <= available && available <= range.high);
            prop_assert!(range.high - range.low <= 0.05 * range.high);
            prop_assert!(fleets < 30);
        }

        /// Holds manager/pathload-search.
        #[test]
        fn a_grey_region_is_bounded_on_both_sides(middle in 5e6_f64..200e6, half in 0.0_f64..0.3) {
            let [from, to] = [middle * (1.0 - half), middle * (1.0 + half)];
            let (range, _) = found(1e6, 500e6, |rate| match rate {
                rate if rate < from => Verdict::Below,
                rate if rate > to => Verdict::Above,
                _ => Verdict::Grey,
            });
            prop_assert!(range.low <= from && range.high >= to);
            if let Some([low, high]) = range.grey {
                prop_assert!(low >= from && high <= to && low <= high);
                prop_assert!(low - range.low <= 0.05 * low && range.high - high <= 0.05 * range.high);
            }
        }

        #[test]
        fn it_ends_whatever_is_said(seed in prop::collection::vec(0_u8..3, 200)) {
            let said = std::cell::Cell::new(0);
            let verdict = |_| {
                let at = said.get();
                said.set(at + 1);
                [Verdict::Above, Verdict::Below, Verdict::Grey][usize::from(seed[at])]
            };
            let (range, _) = found(1e6, 500e6, verdict);
            prop_assert!(range.low.is_finite() && range.high.is_finite());
        }
    }
}
