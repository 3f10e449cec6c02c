//! Values by numbers that begin at zero and leave few out, as those of segments and packets.

use std::collections::BTreeMap;

/// A number that is so many beyond all before makes room for those between: no teller's number costs more memory than that.
const AHEAD: usize = 64;

/// What was never there has the default value.
#[derive(Debug, Default)]
pub(crate) struct ByNumber<T> {
    dense: Vec<T>,
    /// Of numbers too far beyond those.
    beyond: BTreeMap<usize, T>,
}

impl<T: Clone + Copy + Default> ByNumber<T> {
    /// The value of `number`, to be changed.
    pub(crate) fn at(&mut self, number: u64) -> &mut T {
        let index = place(number);
        if (self.dense.len()..self.dense.len() + AHEAD).contains(&index) {
            self.grow(index + 1);
        }
        match self.dense.get_mut(index) {
            Some(value) => value,
            None => self.beyond.entry(index).or_default(),
        }
    }

    pub(crate) fn get(&self, number: u64) -> T {
        let index = place(number);
        let value = self.dense.get(index).or_else(|| self.beyond.get(&index));
        value.copied().unwrap_or_default()
    }

    fn grow(&mut self, length: usize) {
        self.dense.resize(length, T::default());
        while let Some(first) = self
            .beyond
            .first_entry()
            .filter(|entry| *entry.key() < length)
        {
            let (index, value) = first.remove_entry();
            self.dense[index] = value;
        }
    }
}

/// Nothing has the last place of all.
fn place(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_any_order_have_values_of_their_own() {
        let mut all = ByNumber::<u32>::default();
        let ahead = AHEAD as u64;
        // Those that were too far ahead at first are reached later.
        let numbers = [
            5,
            0,
            u64::MAX,
            2 * ahead,
            ahead,
            6,
            ahead + 1,
            2 * ahead - 1,
        ];
        for (value, number) in (1..).zip(numbers) {
            *all.at(number) += value;
        }
        let values = numbers.map(|number| all.get(number));
        assert_eq!(values, [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(
            [1, ahead - 1, 2 * ahead + 1].map(|number| all.get(number)),
            [0; 3]
        );
        assert_eq!((all.dense.len() as u64, all.beyond.len()), (2 * ahead, 2));
    }
}
