//! Which cells: not all of a product of four lists, which would take days, but a choice that says as much.
//!
//! Most effects come from one parameter or from two together, so it is enough that **every pair of values** of two
//! parameters occurs in some cell (a covering array of strength 2: D. M. Cohen et al., "The AETG system: an approach to
//! testing based on combinatorial design", IEEE Transactions on Software Engineering 23(7), 1997). It is built greedily:
//! always the cell that covers most pairs not yet covered. To these come all cells of a second, smaller product: what
//! users often have. The two are mixed, so that the first cells of the list are a fair choice as well.

use crate::experiment::place::{Cell, check_shares};
use serde::{Deserialize, Serialize};
use stats::random::SplitMix64;
use std::collections::BTreeSet;
use units::{Rate, Span};

/// Values for the four parameters.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Values {
    /// Rates.
    rates: Vec<Rate>,
    /// Round trips.
    rtts: Vec<Span>,
    /// Shares of packets lost at random.
    losses: Vec<f64>,
    /// Queues, as multiples of rate x round trip.
    queues: Vec<f64>,
}

/// The indices of a cell's values.
type Place = [usize; 4];
/// Two parameters and the indices of their values.
type Pair = (usize, usize, usize, usize);

impl Values {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.places().is_empty() {
            return Err("one of rates, rtts, losses, queues is empty".to_owned());
        }
        check_shares("losses", &self.losses)?;
        if self
            .queues
            .iter()
            .any(|queue| !(*queue > 0.0 && queue.is_finite()))
        {
            return Err("queues are multiples of rate x round trip above 0".to_owned());
        }
        Ok(())
    }

    fn cell(&self, [rate, rtt, loss, queue]: Place) -> Cell {
        Cell {
            rate: self.rates[rate],
            rtt: self.rtts[rtt],
            loss: self.losses[loss],
            queue: self.queues[queue],
        }
    }

    /// The product.
    fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for rate in 0..self.rates.len() {
            for rtt in 0..self.rtts.len() {
                for loss in 0..self.losses.len() {
                    places.extend((0..self.queues.len()).map(|queue| [rate, rtt, loss, queue]));
                }
            }
        }
        places
    }

    /// Every cell of the product that has room for a window.
    pub(super) fn cells(&self) -> Vec<Cell> {
        let cells = self.places().into_iter().map(|place| self.cell(place));
        cells.filter(Cell::is_possible).collect()
    }

    /// Cells in which every pair of values occurs that occurs in any possible cell.
    fn covering(&self) -> Vec<Cell> {
        let possible = |place: &Place| self.cell(*place).is_possible();
        let mut places: Vec<Place> = self.places().into_iter().filter(possible).collect();
        // Of equally good cells the first is taken; in the product's order they would be alike.
        SplitMix64::new(1).shuffle(&mut places);
        let mut open: BTreeSet<Pair> = places.iter().flat_map(|place| pairs(*place)).collect();
        let mut chosen = Vec::new();
        let gain = |place: &Place, open: &BTreeSet<Pair>| {
            pairs(*place).filter(|pair| open.contains(pair)).count()
        };
        while !open.is_empty() {
            let best = places.iter().rev().max_by_key(|place| gain(place, &open));
            let Some(&best) = best else { break };
            for pair in pairs(best) {
                open.remove(&pair);
            }
            chosen.push(self.cell(best));
        }
        chosen
    }

    /// How many cells of the product have no room for a window.
    pub(super) fn impossible(&self) -> usize {
        self.places().len() - self.cells().len()
    }
}

fn pairs(place: Place) -> impl Iterator<Item = Pair> {
    let sides = (0..place.len()).flat_map(|one| (one + 1..4).map(move |other| (one, other)));
    sides.map(move |(one, other)| (one, place[one], other, place[other]))
}

/// The cells: a covering choice of `range` mixed with all of `often`, each once.
pub(super) fn cells(range: &Values, often: &Values) -> Vec<Cell> {
    let often = often.cells();
    let mut range = range.covering();
    range.retain(|cell| !often.contains(cell));
    let total = often.len() + range.len();
    let (mut often, mut range) = (shuffled(often), range.into_iter());
    let share = often.len() as f64 / total.max(1) as f64;
    let mut mixed = Vec::with_capacity(total);
    let mut taken = 0.0;
    while mixed.len() < total {
        let is_due = taken < share * (mixed.len() + 1) as f64 - 0.5;
        let next = if is_due { often.next() } else { range.next() };
        taken += f64::from(u8::from(is_due));
        match next.or_else(|| range.next()).or_else(|| often.next()) {
            Some(cell) => mixed.push(cell),
            None => break,
        }
    }
    mixed
}

/// The same in no order.
pub(super) fn shuffled(mut cells: Vec<Cell>) -> std::vec::IntoIter<Cell> {
    SplitMix64::new(2).shuffle(&mut cells);
    cells.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Values {
        toml::from_str(text).unwrap()
    }

    fn is_same(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    fn range() -> Values {
        values(
            "rates = ['1Mbit', '10Mbit', '100Mbit']\nrtts = ['5ms', '50ms', '200ms']\nlosses = [0.0, 0.01]\nqueues = [0.25, 1, 4]",
        )
    }

    #[test]
    fn every_pair_of_values_that_is_possible_occurs() {
        let range = range();
        let chosen = range.covering();
        let all = range.cells();
        assert!(
            chosen.len() < all.len() / 2,
            "{} of {}",
            chosen.len(),
            all.len()
        );
        for cell in &all {
            let has = |same: fn(&Cell, &Cell) -> bool| chosen.iter().any(|one| same(one, cell));
            assert!(has(|a, b| a.rate == b.rate && a.rtt == b.rtt));
            assert!(has(|a, b| a.rate == b.rate && is_same(a.loss, b.loss)));
            assert!(has(|a, b| a.rate == b.rate && is_same(a.queue, b.queue)));
            assert!(has(|a, b| a.rtt == b.rtt && is_same(a.loss, b.loss)));
            assert!(has(|a, b| a.rtt == b.rtt && is_same(a.queue, b.queue)));
            assert!(has(
                |a, b| is_same(a.loss, b.loss) && is_same(a.queue, b.queue)
            ));
        }
        assert!(chosen.iter().all(Cell::is_possible));
    }

    #[test]
    fn the_mixture_has_every_cell_once_and_some_of_both_at_its_start() {
        let often =
            values("rates = ['20Mbit']\nrtts = ['20ms', '50ms']\nlosses = [0.0]\nqueues = [1, 2]");
        let mixed = cells(&range(), &often);
        for (index, cell) in mixed.iter().enumerate() {
            assert!(!mixed[..index].contains(cell), "{cell} twice");
        }
        let is_often = |cell: &&Cell| often.cells().contains(cell);
        assert_eq!(mixed.iter().filter(is_often).count(), 4);
        let early = mixed[..mixed.len() / 2].iter().filter(is_often).count();
        assert!((1..=3).contains(&early), "{early}");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let mut wrong = range();
        wrong.losses = vec![2.0];
        assert!(wrong.check().unwrap_err().contains("losses = 2"));
        wrong.losses.clear();
        assert!(wrong.check().unwrap_err().contains("empty"));
    }
}
