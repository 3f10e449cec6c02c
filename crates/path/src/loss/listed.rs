//! Loss of packets that are named beforehand.

use super::LossProcess;
use std::sync::Arc;

/// Loses the packets with given numbers, counted from 1 as they come: the same in every run, so that what follows a certain
/// loss can be looked at.
#[derive(Clone, Debug)]
pub struct Listed {
    /// In rising order.
    numbers: Arc<[u64]>,
    /// So many of them have come.
    met: usize,
    /// Packets that have come.
    count: u64,
}

impl Listed {
    /// Loss of the packets with these `numbers`, in any order.
    pub fn new(numbers: &[u64]) -> Self {
        let mut numbers = numbers.to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        Self {
            numbers: numbers.into(),
            met: 0,
            count: 0,
        }
    }
}

impl LossProcess for Listed {
    fn loses(&mut self) -> bool {
        self.count += 1;
        let is_next = self.numbers.get(self.met) == Some(&self.count);
        self.met += usize::from(is_next);
        is_next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_is_lost_and_nothing_else() {
        let mut process = Listed::new(&[7, 1, 4, 4]);
        let lost: Vec<u64> = (1..20).filter(|_| process.loses()).collect();
        assert_eq!(lost, [1, 4, 7]);
    }
}
