//! What a tool asks for, and what it is told: probe transactions.
//!
//! A tool does not send its probes one by one; it hands over all of a train at once, each probe with its own octets, its
//! length and its gap (T section 3.1.1). So the sender knows what comes, keeps the gaps better than a tool could, and may fill whatever is padding.
//! A transaction is *atomic*: it is refused before its first probe or sent as a whole, and no probe of another comes between.
//!
//! What is asked for is bounded, because a train holds up every other: [`MOST_PROBES`], [`MOST_TIME`], and a probe must have room for
//! the headers and be no longer than the path's packets.
//!
//! What a tool does not need to have exactly it can give in [`Ranges`], which applications' packets fill.

mod arrival;
mod outcome;
mod ranges;

pub use arrival::Arrival;
pub use outcome::{Gap, Offered, Outcome, Riders, Sent};
pub use ranges::{Ranges, Request, Spacing};

use crate::packet::MOST_UNIT;
use std::time::Duration;
use thiserror::Error;

/// The most probes of a transaction.
pub const MOST_PROBES: usize = 10_000;
/// The longest time from the first probe of a transaction to its last, and so the longest gap.
pub const MOST_TIME: Duration = Duration::from_secs(10);

/// A probe to be sent.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Probe {
    /// The tool's own octets, which the receiver gets.
    pub header: Vec<u8>,
    /// Octets of the whole packet, IP header included.
    pub octets: u16,
    /// Time since the probe before it left; of no meaning for the first.
    pub gap: Duration,
    /// Whether it may carry an application's packet instead of padding.
    pub may_carry: bool,
}

/// Probes that are sent together.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Transaction {
    /// Which of the receiver's tools they are for.
    pub channel: u8,
    /// In the order in which they leave.
    pub probes: Vec<Probe>,
}

impl Transaction {
    /// From the first probe to the last, as planned.
    pub fn duration(&self) -> Duration {
        let gaps = self.probes.iter().skip(1).map(|probe| probe.gap);
        gaps.fold(Duration::ZERO, Duration::saturating_add)
    }

    /// Octets of all probes.
    pub fn octets(&self) -> u64 {
        let octets = self.probes.iter().map(|probe| u64::from(probe.octets));
        octets.sum()
    }

    /// Whether it can be sent where headers take `overhead` octets and no packet may have more than `most`.
    ///
    /// # Errors
    /// The first [`Refusal`] that applies.
    pub fn check(&self, overhead: usize, most: u16) -> Result<(), Refusal> {
        let count = u32::try_from(self.probes.len()).unwrap_or(u32::MAX);
        if self.probes.is_empty() || self.probes.len() > MOST_PROBES {
            return Err(Refusal::Count(count));
        }
        for (place, probe) in (0..).zip(&self.probes) {
            probe.check(place, overhead, most)?;
        }
        if self.duration() > MOST_TIME {
            return Err(Refusal::Duration);
        }
        Ok(())
    }
}

impl Probe {
    fn check(&self, place: u32, overhead: usize, most: u16) -> Result<(), Refusal> {
        let least = overhead.saturating_add(self.header.len());
        if self.header.len() > MOST_UNIT || usize::from(self.octets) < least {
            return Err(Refusal::Length(place));
        }
        if self.octets > most {
            return Err(Refusal::Long(place, most));
        }
        if self.gap > MOST_TIME {
            return Err(Refusal::Gap(place));
        }
        Ok(())
    }
}

/// Why a transaction is not sent.
#[derive(Clone, Copy, Debug, Eq, Error, Hash, PartialEq)]
pub enum Refusal {
    /// No probes, or so many.
    #[error("{0} probes: a transaction has from 1 to {MOST_PROBES}")]
    Count(u32),
    /// It would last too long.
    #[error("a transaction may last 10 s")]
    Duration,
    /// The gap before this probe.
    #[error("the gap before probe {0} is longer than 10 s")]
    Gap(u32),
    /// The length of this probe.
    #[error("the length of probe {0} does not hold its headers")]
    Length(u32),
    /// This probe is longer than so many octets, the most that the path takes.
    #[error("probe {0} is longer than {1} octets, the most that the path takes")]
    Long(u32, u16),
    /// This many are waiting already.
    #[error("{0} transactions are waiting already")]
    Queue(u32),
    /// The path's budget, in octets a second.
    #[error("the path's budget of {0} octets a second is spent")]
    Budget(u64),
    /// Ranges that make no train: what must leave needs a size and a gap, and what has a gap a size.
    #[error(
        "a train with a least count or a fixed gap needs a fixed size, and one with a least count a fixed gap"
    )]
    Ranges,
    /// There is no such peer, or it is gone.
    #[error("no such peer")]
    Peer,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(octets: u16, header: usize, gap: Duration) -> Probe {
        Probe {
            header: vec![1; header],
            octets,
            gap,
            may_carry: true,
        }
    }

    fn check(probes: Vec<Probe>) -> Result<(), Refusal> {
        let transaction = Transaction { channel: 0, probes };
        transaction.check(60, 1_500)
    }

    /// Holds manager/probe-group.
    #[test]
    fn what_fits_is_taken_and_what_does_not_is_told() {
        let ms = Duration::from_millis(1);
        assert_eq!(check(vec![probe(1_500, 100, ms); MOST_PROBES]), Ok(()));
        let many = check(vec![probe(100, 4, ms); MOST_PROBES + 1]);
        assert_eq!(many, Err(Refusal::Count(10_001)));
        assert_eq!(check(Vec::new()), Err(Refusal::Count(0)));
        assert_eq!(check(vec![probe(80, 20, ms)]), Ok(()));
        assert_eq!(check(vec![probe(79, 20, ms)]), Err(Refusal::Length(0)));
        let long = vec![probe(1_500, 0, ms), probe(1_501, 0, ms)];
        assert_eq!(check(long), Err(Refusal::Long(1, 1_500)));
        let late = MOST_TIME + Duration::from_nanos(1);
        assert_eq!(check(vec![probe(80, 0, late)]), Err(Refusal::Gap(0)));
        let slow = vec![probe(80, 0, MOST_TIME); 3];
        assert_eq!(check(slow), Err(Refusal::Duration));
        assert_eq!(check(vec![probe(80, 0, MOST_TIME); 2]), Ok(()));
    }
}
