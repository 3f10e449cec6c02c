//! Who is to act next: the deadlines of a fixed number of parties.
//!
//! A world has as many parties as it has links and nodes, each with at most one deadline, so nothing is ever inserted or
//! removed: deadlines only change. A *tournament* holds them: a binary tree whose leaves are the parties and in which every
//! inner node names the earlier of its two children's winners. A change replays the matches from its leaf upwards and
//! stops at the first one that another party goes on winning.

use units::Instant;

/// Deadlines, earliest first; among equal ones the party with the lowest number is first.
#[derive(Debug)]
pub(crate) struct Calendar {
    /// Entry 1 is the whole tree's winner, entry `i` the earlier of entries `2i` and `2i + 1`; the second half are the
    /// parties themselves.
    tree: Vec<Entry>,
}

/// A party and its deadline; [`Instant::FAR_FUTURE`] is none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Entry {
    at: Instant,
    party: u32,
}

impl Calendar {
    /// A calendar for parties number 0 to `parties - 1`, none with a deadline.
    pub(crate) fn new(parties: u32) -> Self {
        let leaves = parties.max(2).next_power_of_two();
        let idle = |party| Entry {
            at: Instant::FAR_FUTURE,
            party,
        };
        let tree = (0..leaves).map(|_| 0).chain(0..leaves).map(idle);
        let mut calendar = Self {
            tree: tree.collect(),
        };
        for place in (1..leaves as usize).rev() {
            calendar.tree[place] = calendar.winner(place);
        }
        calendar
    }

    /// Sets the deadline of `party`.
    #[inline]
    pub(crate) fn set(&mut self, party: u32, at: Option<Instant>) {
        let at = at.unwrap_or(Instant::FAR_FUTURE);
        let mut place = self.tree.len() / 2 + party as usize;
        if self.tree[place].at == at {
            return;
        }
        self.tree[place].at = at;
        while place > 1 {
            place /= 2;
            let winner = self.winner(place);
            if self.tree[place] == winner {
                // Nothing changes above.
                return;
            }
            self.tree[place] = winner;
        }
    }

    /// Sets the deadline of `party`, unless that only puts off the one it has.
    #[inline]
    pub(crate) fn advance(&mut self, party: u32, at: Option<Instant>) {
        let has = self.tree[self.tree.len() / 2 + party as usize].at;
        if at.is_none_or(|at| at < has) {
            self.set(party, at);
        }
    }

    /// The earliest deadline and whose it is.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Instant, u32)> {
        let Entry { at, party } = self.tree[1];
        (at < Instant::FAR_FUTURE).then_some((at, party))
    }

    /// The earlier of two children; the parties on the left have the lower numbers.
    #[inline]
    fn winner(&self, place: usize) -> Entry {
        let (left, right) = (self.tree[2 * place], self.tree[2 * place + 1]);
        if right.at < left.at { right } else { left }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_deadlines_go_by_number() {
        let mut calendar = Calendar::new(5);
        assert_eq!(calendar.first(), None);
        for party in [4, 1, 3] {
            calendar.set(party, Some(Instant::from_millis(7)));
        }
        assert_eq!(calendar.first(), Some((Instant::from_millis(7), 1)));
        calendar.set(1, None);
        assert_eq!(calendar.first(), Some((Instant::from_millis(7), 3)));
        calendar.set(4, Some(Instant::from_millis(6)));
        assert_eq!(calendar.first(), Some((Instant::from_millis(6), 4)));
    }

    proptest! {
        #[test]
        fn the_first_is_the_least_of_all(
            parties in 1_u32..40,
            changes in proptest::collection::vec((0_u32..40, proptest::option::of(0_u64..50)), 0..200),
        ) {
            let mut calendar = Calendar::new(parties);
            let mut plain = vec![None; parties as usize];
            for (party, at) in changes {
                let party = party % parties;
                let at = at.map(Instant::from_nanos);
                calendar.set(party, at);
                plain[party as usize] = at;
                let least = (0_u32..).zip(&plain).filter_map(|(n, at)| Some((((*at)?), n))).min();
                prop_assert_eq!(calendar.first(), least);
            }
        }
    }
}
