//! How long before a deadline the runner stops sleeping.
//!
//! A sleeping thread wakes some 10 to 50 us late, a spinning one is exact but burns a processor. A lab has a deadline for each packet on
//! each link, so what it spins adds up to more than what it does. Spinning for as long as the latest sleep might last makes few packets
//! exact that would have been 20 us late. So the margin follows what it meets: a sleep that ended after the deadline widens it, one
//! that ended before narrows it by a third of that, and it settles where one sleep in four ends late (a stochastic approximation as
//! Robbins and Monro describe it, 1951).

use std::time::Duration;

/// What a sleep that ended too late adds to the margin.
const WIDER: Duration = Duration::from_nanos(1_500);
/// What one that ended in time takes from it.
const NARROWER: Duration = Duration::from_nanos(500);
/// The widest: where sleeps end later than that, the machine is busy, and spinning would only make it busier.
const WIDEST: Duration = Duration::from_micros(50);

/// A margin that follows how late sleeps end.
#[derive(Debug)]
pub(crate) struct Margin(Duration);

impl Margin {
    /// One that has met nothing yet: the widest.
    pub(crate) const fn new() -> Self {
        Self(WIDEST)
    }

    /// The margin.
    pub(crate) const fn get(&self) -> Duration {
        self.0
    }

    /// Takes into account by how much a sleep ended too late.
    pub(crate) fn met(&mut self, late: Duration) {
        let next = if late > self.0 {
            self.0 + WIDER
        } else {
            self.0.saturating_sub(NARROWER)
        };
        self.0 = next.min(WIDEST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_settles_where_one_sleep_in_four_ends_late() {
        // Sleeps end 0 to 40 us late, all alike often; the multiplier walks through all 1,000 in a scattered order.
        let mut margin = Margin::new();
        let mut late = 0;
        for n in 0..100_000_u64 {
            let by = Duration::from_nanos(40 * (n * 387 % 1_000));
            late += u64::from(n >= 10_000 && by > margin.get());
            margin.met(by);
        }
        assert!((22_000..=23_000).contains(&late), "{late} of 90000");
        let settled = margin.get().as_nanos();
        assert!((28_000..=32_000).contains(&settled), "{settled} ns");
    }

    #[test]
    fn a_busy_machine_does_not_widen_it_for_ever() {
        let mut margin = Margin::new();
        for _ in 0..1_000 {
            margin.met(Duration::from_millis(5));
        }
        assert_eq!(margin.get(), WIDEST);
    }
}
