//! In which order the cells are run.
//!
//! The order belongs to the record of a batch, so it depends on its seed alone, on every machine and in every version
//! ([`SplitMix64`]).

use super::matrix::Cell;
use stats::random::SplitMix64;

/// The indices of `cells` in the order in which to run them: round by round, one repetition of each group in a round;
/// within a round shuffled by `seed`, or as they are without one.
pub(crate) fn order(cells: &[Cell], seed: Option<u64>) -> Vec<usize> {
    let mut chance = seed.map(SplitMix64::new);
    let last = cells.iter().map(|cell| cell.repetition).max().unwrap_or(0);
    let mut order = Vec::with_capacity(cells.len());
    for round in 1..=last {
        let of_round = |&index: &usize| cells[index].repetition == round;
        let mut round: Vec<_> = (0..cells.len()).filter(of_round).collect();
        if let Some(chance) = &mut chance {
            chance.shuffle(&mut round);
        }
        order.append(&mut round);
    }
    order
}

/// Whether `order` names each of `count` indices once.
pub(crate) fn is_permutation(order: &[usize], count: usize) -> bool {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::BatchFile;
    use crate::batch::matrix::expand;
    use std::collections::BTreeSet;

    fn cells(labs: usize, repetitions: usize) -> Vec<Cell> {
        let labs: Vec<_> = (0..labs).map(|lab| format!("'l{lab}'")).collect();
        let text = format!(
            "plans = ['p']\nlabs = [{}]\nrepetitions = {repetitions}",
            labs.join(",")
        );
        expand(&BatchFile::parse(&text, "my.toml").unwrap())
    }

    #[test]
    fn without_a_seed_rounds_follow_the_lists() {
        assert_eq!(order(&cells(3, 2), None), [0, 2, 4, 1, 3, 5]);
    }

    #[test]
    fn different_seeds_give_different_orders() {
        let cells = cells(8, 2);
        let orders: BTreeSet<_> = (0..50).map(|seed| order(&cells, Some(seed))).collect();
        assert!(orders.len() > 45, "{}", orders.len());
    }

    proptest::proptest! {
        #[test]
        fn the_order_is_a_permutation_determined_by_the_seed_that_keeps_rounds_together(
            labs in 1..12_usize, repetitions in 1..6_usize, seed: u64,
        ) {
            let cells = cells(labs, repetitions);
            let shuffled = order(&cells, Some(seed));
            proptest::prop_assert!(is_permutation(&shuffled, cells.len()));
            proptest::prop_assert_eq!(&shuffled, &order(&cells, Some(seed)));
            let rounds: Vec<_> = shuffled.iter().map(|&index| cells[index].repetition).collect();
            proptest::prop_assert!(rounds.is_sorted());
        }
    }
}
