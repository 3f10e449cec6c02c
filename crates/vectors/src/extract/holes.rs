//! Octets that must have been sent and were not seen.

use super::distance;

/// Holes that are remembered of one direction; with more, the oldest is given up for good.
const MOST: usize = 32;

#[derive(Clone, Copy, Debug)]
struct Hole {
    start: u32,
    end: u32,
    since_ns: u64,
}

/// Holes of one direction. Most have none, so it is one word until there is one.
#[derive(Debug, Default)]
pub(super) struct Holes(Option<Box<List>>);

/// The oldest first.
#[derive(Debug, Default)]
struct List {
    open: Vec<Hole>,
    given_up: u64,
}

impl Holes {
    /// `start..end` was skipped.
    pub(super) fn add(&mut self, start: u32, end: u32, since_ns: u64) {
        let list = self.0.get_or_insert_default();
        if list.open.len() >= MOST {
            let hole = list.open.remove(0);
            list.given_up += size(&hole);
        }
        list.open.push(Hole {
            start,
            end,
            since_ns,
        });
    }

    /// Octets `start..end` have come. Says since when some of them were missing, if they were.
    #[inline]
    pub(super) fn fill(&mut self, start: u32, end: u32) -> Option<u64> {
        self.0.as_mut()?.fill(start, end)
    }

    /// Octets that were never seen.
    pub(super) fn unseen(&self) -> u64 {
        self.0.as_ref().map_or(0, |list| list.unseen())
    }
}

impl List {
    fn fill(&mut self, start: u32, end: u32) -> Option<u64> {
        let mut since = None;
        let mut at = 0;
        while let Some(&hole) = self.open.get(at) {
            let before = distance(hole.start, start);
            let behind = distance(end, hole.end);
            if distance(hole.start, end) <= 0 || distance(start, hole.end) <= 0 {
                at += 1;
                continue;
            }
            since.get_or_insert(hole.since_ns);
            // What is left of the hole in front of and behind the octets.
            self.open.remove(at);
            if behind > 0 {
                self.open.insert(at, Hole { start: end, ..hole });
            }
            if before > 0 {
                self.open.insert(at, Hole { end: start, ..hole });
            }
            at += usize::from(behind > 0) + usize::from(before > 0);
        }
        self.open.truncate(MOST);
        since
    }

    fn unseen(&self) -> u64 {
        self.given_up + self.open.iter().map(size).sum::<u64>()
    }
}

fn size(hole: &Hole) -> u64 {
    u64::from(hole.end.wrapping_sub(hole.start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_is_filled_from_any_side() {
        let mut holes = Holes::default();
        holes.add(100, 200, 7);
        assert_eq!(holes.fill(0, 100), None);
        assert_eq!(holes.fill(200, 300), None);
        assert_eq!(holes.fill(140, 160), Some(7));
        assert_eq!(holes.unseen(), 80);
        assert_eq!(holes.fill(140, 160), None);
        assert_eq!(holes.fill(90, 150), Some(7));
        assert_eq!(holes.fill(150, 250), Some(7));
        assert_eq!(holes.unseen(), 0);
    }

    #[test]
    fn one_segment_may_fill_several() {
        let mut holes = Holes::default();
        holes.add(u32::MAX - 9, 10, 1);
        holes.add(20, 30, 2);
        assert_eq!(holes.unseen(), 30);
        assert_eq!(holes.fill(u32::MAX - 9, 30), Some(1));
        assert_eq!(holes.unseen(), 0);
    }

    #[test]
    fn what_does_not_fit_is_given_up_but_counted() {
        let mut holes = Holes::default();
        for at in 0..40 {
            holes.add(at * 100, at * 100 + 10, u64::from(at));
        }
        assert_eq!(holes.unseen(), 400);
        assert_eq!(holes.fill(0, 10), None);
    }
}
