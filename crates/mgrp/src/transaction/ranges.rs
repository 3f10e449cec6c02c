//! Trains that applications' packets make.
//!
//! A list of probes is sent whether or not there are packets to ride on it, and one that is long and slow meets few. A tool that can do with
//! less than an exact list says between what bounds a train may be (T section 8.3), and the packets decide:
//!
//! | T calls it | count | size | spacing |
//! |---|---|---|---|
//! | *opportunistic* | 0 to any | any | up to S: packets leave when they would have, and consecutive ones no further apart than S are a train |
//! | *elastic* | 0 to any | fixed | fixed: what waits is cut into probes of one size with one gap; or up to S |
//! | *semi-elastic* | a to b | fixed | fixed: never fewer than a, and up to b while there is something to carry |
//!
//! One rule covers all: **beyond the least count a probe leaves only with something in it**, and when there is nothing the train is over. So
//! it is when a packet has waited so long that it leaves by itself, for then the train is slower than what it is made of, and has company.
//! So with a least count of 0 there is no probe that is padding alone, and with any size no padding at all: such a probe is the packet's
//! own datagram, whose header has a time stamp and a number already.
//!
//! Its probes have no octets of the tool, for where size is any there may be no room for them; they are known by the numbers of their packets.

use super::{MOST_PROBES, MOST_TIME, Refusal, Transaction};
use crate::buffer::LEAST;
use crate::packet::FRAGMENT_HEADER;
use std::time::Duration;

/// How far apart probes leave.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Spacing {
    /// By this much, counted from the first probe.
    Fixed(Duration),
    /// As packets would have left by themselves; after a pause longer than this the train is over.
    UpTo(Duration),
}

impl Spacing {
    /// The gap, or the longest one.
    pub const fn gap(self) -> Duration {
        match self {
            Self::Fixed(gap) | Self::UpTo(gap) => gap,
        }
    }
}

/// A train between bounds (T section 8.3): in place of a list of probes, how many there may be, how long, and how far apart.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Ranges {
    /// Which of the receiver's tools it is for.
    pub channel: u8,
    /// Probes that leave whatever there is to carry, and the most.
    pub count: [u32; 2],
    /// Octets of each probe's packet, IP header included; none for as many as what it carries takes.
    pub octets: Option<u16>,
    /// From probe to probe.
    pub spacing: Spacing,
    /// How long the first probe waits for something to carry, when none must leave.
    pub patience: Duration,
}

impl Ranges {
    /// Octets of the probes that leave whatever there is to carry.
    pub fn least_octets(&self) -> u64 {
        u64::from(self.count[0]) * u64::from(self.octets.unwrap_or(0))
    }

    /// Whether it can be sent where headers take `overhead` octets and no packet may have more than `most`.
    ///
    /// # Errors
    /// The first [`Refusal`] that applies.
    pub fn check(&self, overhead: usize, most: u16) -> Result<(), Refusal> {
        let [fewest, longest] = self.count;
        if longest == 0 || fewest > longest || longest as usize > MOST_PROBES {
            return Err(Refusal::Count(longest));
        }
        let least_octets = overhead + FRAGMENT_HEADER + LEAST;
        if self
            .octets
            .is_some_and(|octets| usize::from(octets) < least_octets)
        {
            return Err(Refusal::Length(0));
        }
        if self.octets.is_some_and(|octets| octets > most) {
            return Err(Refusal::Long(0, most));
        }
        let is_fixed = matches!(self.spacing, Spacing::Fixed(_));
        if fewest > 0 && !(is_fixed && self.octets.is_some()) || is_fixed && self.octets.is_none() {
            return Err(Refusal::Ranges);
        }
        if self.spacing.gap() > MOST_TIME {
            return Err(Refusal::Gap(0));
        }
        let planned = if is_fixed { longest - 1 } else { 0 };
        if self.spacing.gap().saturating_mul(planned) > MOST_TIME || self.patience > MOST_TIME {
            return Err(Refusal::Duration);
        }
        Ok(())
    }
}

/// What a tool asks for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Request {
    /// These probes.
    Listed(Transaction),
    /// As many of such probes as there are packets for.
    Ranges(Ranges),
}

impl Request {
    /// Whether it can be sent; see [`Transaction::check`].
    ///
    /// # Errors
    /// The first [`Refusal`] that applies.
    pub fn check(&self, overhead: usize, most: u16) -> Result<(), Refusal> {
        match self {
            Self::Listed(transaction) => transaction.check(overhead, most),
            Self::Ranges(ranges) => ranges.check(overhead, most),
        }
    }

    /// Octets that are sure to be sent, which a budget is charged with in advance.
    pub fn octets(&self) -> u64 {
        match self {
            Self::Listed(transaction) => transaction.octets(),
            Self::Ranges(ranges) => ranges.least_octets(),
        }
    }
}

impl From<Transaction> for Request {
    fn from(transaction: Transaction) -> Self {
        Self::Listed(transaction)
    }
}

impl From<Ranges> for Request {
    fn from(ranges: Ranges) -> Self {
        Self::Ranges(ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: Spacing = Spacing::Fixed(Duration::from_micros(200));
    /// T section 8.3: 40 to 100 probes of 300 octets, 200 us apart.
    const SEMI: Ranges = Ranges {
        channel: 0,
        count: [40, 100],
        octets: Some(300),
        spacing: GAP,
        patience: Duration::ZERO,
    };

    /// Holds manager/opportunistic, manager/elastic, manager/semi-elastic.
    #[test]
    fn the_three_of_the_thesis_are_taken_and_what_makes_no_train_is_not() {
        let up_to = Spacing::UpTo(Duration::from_micros(200));
        let any = Ranges {
            count: [0, 10_000],
            ..SEMI
        };
        let opportunistic = Ranges {
            octets: None,
            spacing: up_to,
            ..any
        };
        let shaped = Ranges {
            spacing: up_to,
            ..any
        };
        for taken in [SEMI, any, shaped, opportunistic] {
            assert_eq!(taken.check(60, 1_500), Ok(()), "{taken:?}");
        }
        let long = Spacing::Fixed(MOST_TIME);
        let cases = [
            (
                Ranges {
                    count: [0, 0],
                    ..any
                },
                Refusal::Count(0),
            ),
            (
                Ranges {
                    count: [3, 2],
                    ..SEMI
                },
                Refusal::Count(2),
            ),
            (
                Ranges {
                    count: [0, 10_001],
                    ..any
                },
                Refusal::Count(10_001),
            ),
            (
                Ranges {
                    octets: Some(83),
                    ..any
                },
                Refusal::Length(0),
            ),
            (
                Ranges {
                    octets: Some(1_501),
                    ..any
                },
                Refusal::Long(0, 1_500),
            ),
            (
                Ranges {
                    spacing: up_to,
                    ..SEMI
                },
                Refusal::Ranges,
            ),
            (
                Ranges {
                    octets: None,
                    ..any
                },
                Refusal::Ranges,
            ),
            (
                Ranges {
                    spacing: long,
                    ..SEMI
                },
                Refusal::Duration,
            ),
            (
                Ranges {
                    patience: MOST_TIME * 2,
                    ..any
                },
                Refusal::Duration,
            ),
            (
                Ranges {
                    spacing: Spacing::UpTo(MOST_TIME * 2),
                    ..any
                },
                Refusal::Gap(0),
            ),
        ];
        for (asked, refusal) in cases {
            assert_eq!(asked.check(60, 1_500), Err(refusal), "{asked:?}");
        }
    }
}
