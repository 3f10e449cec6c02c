//! A set of numbers kept as ranges: what has arrived beyond a gap, at either end.

use std::collections::VecDeque;

/// Ranges `[first, end)` in rising order that neither overlap nor touch. It can hold no more of them than every other
/// number of a window.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(VecDeque<(u64, u64)>);

impl Ranges {
    /// None.
    pub(crate) const fn new() -> Self {
        Self(VecDeque::new())
    }

    /// Adds `[first, end)` and tells of every part that was not there before, in rising order.
    pub(crate) fn insert(&mut self, first: u64, end: u64, mut fresh: impl FnMut(u64, u64)) {
        if first >= end {
            return;
        }
        let from = self.0.partition_point(|range| range.1 < first);
        let (mut whole, mut at, mut to) = ((first, end), first, from);
        while let Some(&(low, high)) = self.0.get(to).filter(|range| range.0 <= end) {
            if at < low {
                fresh(at, low);
            }
            at = at.max(high);
            whole = (whole.0.min(low), whole.1.max(high));
            to += 1;
        }
        if at < end {
            fresh(at, end);
        }
        self.replace(from, to, whole);
    }

    /// Puts `whole` where the ranges `from..to` are.
    fn replace(&mut self, from: usize, to: usize, whole: (u64, u64)) {
        if from == to {
            self.0.insert(from, whole);
            return;
        }
        if let Some(slot) = self.0.get_mut(from) {
            *slot = whole;
        }
        if from + 1 < to {
            self.0.drain(from + 1..to);
        }
    }

    /// Forgets all numbers before `edge`.
    pub(crate) fn forget_before(&mut self, edge: u64) {
        while let Some(front) = self.0.front_mut().filter(|front| front.0 < edge) {
            if front.1 > edge {
                front.0 = edge;
                return;
            }
            self.0.pop_front();
        }
    }

    /// The range that `number` is in.
    pub(crate) fn around(&self, number: u64) -> Option<(u64, u64)> {
        let at = self.0.partition_point(|range| range.1 <= number);
        self.0.get(at).copied().filter(|range| range.0 <= number)
    }

    /// The number after the highest one, if there is any.
    pub(crate) fn end(&self) -> Option<u64> {
        self.0.back().map(|range| range.1)
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// How many ranges there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ranges_hold_what_a_set_holds_and_tell_of_each_number_once(
            steps in prop::collection::vec((0_u64..60, 0_u64..12, prop::bool::weighted(0.2)), 1..60)
        ) {
            let (mut ranges, mut model) = (Ranges::default(), BTreeSet::new());
            for (first, len, forget) in steps {
                if forget {
                    ranges.forget_before(first);
                    model = model.split_off(&first);
                    continue;
                }
                let mut told = Vec::new();
                ranges.insert(first, first + len, |low, high| told.extend(low..high));
                let fresh: Vec<u64> = (first..first + len).filter(|n| model.insert(*n)).collect();
                prop_assert_eq!(told, fresh);
                let flat: Vec<u64> = ranges.0.iter().flat_map(|range| range.0..range.1).collect();
                prop_assert_eq!(&flat, &model.iter().copied().collect::<Vec<_>>());
                let gaps = ranges.0.iter().zip(ranges.0.iter().skip(1));
                prop_assert!(gaps.clone().all(|(low, high)| low.1 < high.0));
                prop_assert!((0..80).all(|n| ranges.around(n).is_some() == model.contains(&n)));
            }
        }
    }
}
