//! Who is to act next: the deadlines of a fixed number of parties.
//!
//! A world has as many parties as it has links and nodes, each with at most one deadline, which changes with nearly every packet. Whatever
//! is set enters a timing wheel ([`path::slots`]), or a heap when it is further ahead; what a party has no more when its time comes is left
//! out then. The deadlines of a few parties are simply looked through.

use path::RadixHeap;
use path::slots::{SLOTS, Slots, slot};
use std::cmp::Reverse;
use units::Instant;

/// So many parties are few.
const FEW: usize = 16;

/// Deadlines, earliest first; among equal ones the party with the lowest number is first.
#[derive(Debug)]
pub(crate) struct Calendar {
    /// By party; [`Instant::FAR_FUTURE`] is none.
    deadlines: Vec<Instant>,
    near: Slots<Due>,
    far: RadixHeap<Due>,
    /// The slot that is open: what is due in it or before lies in `due`.
    open: u64,
    /// The next one last.
    due: Vec<Due>,
}

/// What was set; by instant, then by party.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Due {
    at: Instant,
    party: u32,
}

impl Calendar {
    /// A calendar for parties number 0 to `parties - 1`, none with a deadline.
    pub(crate) fn new(parties: u32) -> Self {
        Self {
            deadlines: vec![Instant::FAR_FUTURE; parties as usize],
            near: Slots::default(),
            far: RadixHeap::default(),
            open: 0,
            due: Vec::new(),
        }
    }

    /// Sets the deadline of `party`.
    #[inline]
    pub(crate) fn set(&mut self, party: u32, at: Option<Instant>) {
        let at = at.unwrap_or(Instant::FAR_FUTURE);
        let deadline = &mut self.deadlines[party as usize];
        if *deadline == at {
            return;
        }
        *deadline = at;
        if at < Instant::FAR_FUTURE && self.deadlines.len() > FEW {
            self.enter(Due { at, party });
        }
    }

    /// Sets the deadline of `party`, unless that only puts off the one it has.
    #[inline]
    pub(crate) fn advance(&mut self, party: u32, at: Option<Instant>) {
        if at.is_none_or(|at| at < self.deadlines[party as usize]) {
            self.set(party, at);
        }
    }

    #[inline]
    fn enter(&mut self, due: Due) {
        let slot = slot(due.at);
        let ahead = slot.saturating_sub(self.open);
        if ahead == 0 {
            let before = self.due.partition_point(|other| *other > due);
            self.due.insert(before, due);
        } else if ahead < SLOTS {
            self.near.put(slot, due);
        } else {
            self.far.push(due.at, due);
        }
    }

    /// The earliest deadline and whose it is.
    #[inline]
    pub(crate) fn first(&mut self) -> Option<(Instant, u32)> {
        if self.deadlines.len() <= FEW {
            return self.first_of_few();
        }
        loop {
            while let Some(Due { at, party }) = self.due.last().copied() {
                if self.deadlines[party as usize] == at {
                    return Some((at, party));
                }
                self.due.pop();
            }
            self.turn()?;
        }
    }

    #[inline]
    fn first_of_few(&self) -> Option<(Instant, u32)> {
        let mut first = (Instant::FAR_FUTURE, 0);
        for (party, at) in (0..).zip(&self.deadlines) {
            if *at < first.0 {
                first = (*at, party);
            }
        }
        (first.0 < Instant::FAR_FUTURE).then_some(first)
    }

    /// Opens the next slot with something in it.
    fn turn(&mut self) -> Option<()> {
        let far = self.far.first().map_or(u64::MAX, slot);
        let next = self.near.next().min(far);
        if next == u64::MAX {
            return None;
        }
        self.open = next;
        if self.near.next() == self.open {
            self.near.take(&mut self.due);
        }
        while self.far.first().is_some_and(|at| slot(at) == self.open) {
            self.due.extend(self.far.pop());
        }
        if self.due.len() > 1 {
            self.due.sort_unstable_by_key(|due| Reverse(*due));
        }
        Some(())
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
            changes in proptest::collection::vec((0_u32..40, proptest::option::of((0_u64..50, 0_u32..30))), 0..200),
        ) {
            let mut calendar = Calendar::new(parties);
            let mut plain = vec![None; parties as usize];
            for (party, at) in changes {
                let party = party % parties;
                let at = at.map(|(at, scale)| Instant::from_nanos(at << scale));
                calendar.set(party, at);
                plain[party as usize] = at;
                let least = (0_u32..).zip(&plain).filter_map(|(n, at)| Some((((*at)?), n))).min();
                prop_assert_eq!(calendar.first(), least);
            }
        }
    }
}
