//! Which load is tried next: doubled while it is held, halved until one is, and then between the two.
//!
//! Other programs may take a moment's processor time, and a load that the machine holds breaks. So a load counts as too much
//! when it broke twice.

/// Loads closer than this are not told apart.
const CLOSE: f64 = 1.25;

/// A search for the largest load that is held.
#[derive(Clone, Debug)]
pub struct Search {
    first: f64,
    most: f64,
    /// Trials that may still be made.
    left: u32,
    /// The largest that was held.
    held: Option<f64>,
    /// The smallest that broke.
    broke: Option<f64>,
    /// One that broke once.
    doubtful: Option<f64>,
}

impl Search {
    /// A search that begins with the load `first`, goes to `most` at most, and makes up to so many `trials`.
    pub fn new(first: f64, most: f64, trials: u32) -> Self {
        Self {
            first: first.min(most),
            most,
            left: trials,
            held: None,
            broke: None,
            doubtful: None,
        }
    }

    /// The load to try now; `None` when enough is known, or enough has been tried.
    pub fn next(&self) -> Option<f64> {
        if self.left == 0 {
            return None;
        }
        match (self.doubtful, self.held, self.broke) {
            (Some(doubtful), _, _) => Some(doubtful),
            (None, None, None) => Some(self.first),
            (None, Some(held), None) => (held < self.most).then(|| (held * 2.0).min(self.most)),
            (None, None, Some(broke)) => Some(broke / 2.0),
            (None, Some(held), Some(broke)) => {
                (broke > held * CLOSE).then(|| (held * broke).sqrt())
            }
        }
    }

    /// What came of trying `load`.
    pub fn enter(&mut self, load: f64, is_held: bool) {
        self.left = self.left.saturating_sub(1);
        if is_held {
            self.doubtful = None;
            self.held = Some(self.held.map_or(load, |held| held.max(load)));
        } else if self.doubtful.take().is_some() {
            self.broke = Some(self.broke.map_or(load, |broke| broke.min(load)));
        } else {
            self.doubtful = Some(load);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The loads that are tried on a machine that holds up to `limit`.
    fn tried(mut search: Search, limit: f64) -> Vec<f64> {
        let mut loads = Vec::new();
        while let Some(load) = search.next() {
            loads.push(load);
            search.enter(load, load <= limit);
        }
        loads
    }

    #[test]
    fn it_doubles_then_goes_between_and_tries_what_broke_again() {
        let loads = tried(Search::new(100.0, 10_000.0, 20), 500.0);
        let rounded: Vec<f64> = loads.iter().map(|load| load.round()).collect();
        assert_eq!(
            rounded,
            [100.0, 200.0, 400.0, 800.0, 800.0, 566.0, 566.0, 476.0]
        );
    }

    #[test]
    fn it_halves_until_something_is_held() {
        let loads = tried(Search::new(800.0, 10_000.0, 20), 110.0);
        assert_eq!(loads[..6], [800.0, 800.0, 400.0, 400.0, 200.0, 200.0]);
        assert!(loads.contains(&100.0));
    }

    #[test]
    fn it_goes_no_further_than_it_may() {
        assert_eq!(
            tried(Search::new(100.0, 300.0, 20), 1e9),
            [100.0, 200.0, 300.0]
        );
        assert_eq!(tried(Search::new(500.0, 300.0, 20), 1e9), [300.0]);
    }

    #[test]
    fn one_mishap_is_forgiven() {
        let mut search = Search::new(100.0, 1_000.0, 20);
        search.enter(100.0, false);
        assert_eq!(search.next(), Some(100.0));
        search.enter(100.0, true);
        assert_eq!(search.next(), Some(200.0));
    }

    proptest! {
        #[test]
        fn with_trials_enough_it_comes_close(limit in 60.0..90_000.0_f64) {
            let loads = tried(Search::new(1_000.0, 1e6, 100), limit);
            let held = loads.iter().copied().filter(|load| *load <= limit).fold(0.0, f64::max);
            prop_assert!(held * CLOSE >= limit, "{held} of {limit}");
            prop_assert!(loads.len() < 30);
        }

        #[test]
        fn it_makes_no_more_trials_than_it_may(limit in 0.0..1e6_f64, trials in 0_u32..20) {
            prop_assert!(tried(Search::new(1_000.0, 1e5, trials), limit).len() <= trials as usize);
        }
    }
}
