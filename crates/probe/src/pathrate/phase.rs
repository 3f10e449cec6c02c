//! Which train comes next.

use super::Options;
use super::dispersion::Dispersion;
use crate::train::Train;
use std::time::Duration;

/// As many trains of one length that lose packets end the search for the longest.
const MOST_LOSSY: u32 = 3;
/// As many pairs in a row that do end it all.
const MOST_PAIRS_LOSSY: u32 = 20;
/// The longest train of the preliminary phase.
const PRELIMINARY: u32 = 10;
/// A search for the longest train ends with one that tells less than this in bit/s for each of its packets: it takes a second to
/// arrive.
const SLOW: f64 = 12_000.0;

/// What trains are for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Phase {
    /// How long may they be?
    Length,
    /// Is the path lightly loaded?
    Preliminary,
    /// What are the modes?
    Pairs,
    /// What is the asymptotic dispersion rate?
    Long,
}

impl Phase {
    /// Whether its trains have one packet more at their head, which does not count.
    pub(super) const fn is_led(self) -> bool {
        matches!(self, Self::Length | Self::Preliminary)
    }
}

/// More trains lost packets than may.
pub(super) struct TooLossy;

/// Where an estimate is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    phase: Phase,
    /// Packets of the train at hand, in the phases that try several.
    length: u32,
    /// Packets of the longest.
    longest: u32,
    /// Trains of this phase, or of this length of it, that arrived.
    arrived: u32,
    /// Trains that did not, in a row and in all.
    lossy: u32,
    all_lossy: u32,
}

impl Progress {
    pub(super) const fn new() -> Self {
        Self {
            phase: Phase::Length,
            length: 2,
            longest: 2,
            arrived: 0,
            lossy: 0,
            all_lossy: 0,
        }
    }

    pub(super) const fn phase(&self) -> Phase {
        self.phase
    }

    /// Packets of the longest train that may be sent.
    pub(super) const fn longest(&self) -> u32 {
        self.longest
    }

    /// Back to back, without the leader.
    pub(super) fn train(&self, options: &Options) -> Train {
        let [_, most] = options.octets;
        let (length, octets) = match self.phase {
            Phase::Length | Phase::Preliminary => (self.length, most),
            Phase::Pairs => (2, self.size(options)),
            Phase::Long => (self.longest, most),
        };
        Train::periodic(length as usize, octets, Duration::ZERO)
    }

    /// Octets of the packets of the pair at hand.
    fn size(&self, options: &Options) -> u32 {
        let [least, most] = options.octets;
        let steps = options.sizes.max(2) - 1;
        let turn = self.arrived % (steps + 1);
        let more = u64::from(most.saturating_sub(least)) * u64::from(turn) / u64::from(steps);
        least
            .saturating_add(u32::try_from(more).unwrap_or(0))
            .min(most.max(least))
    }

    /// Takes what a train told; whether its phase is over.
    pub(super) fn enter(&mut self, told: Dispersion, options: &Options) -> Result<bool, TooLossy> {
        if told == Dispersion::Lossy {
            return self.lose(options);
        }
        self.arrived = self.arrived.saturating_add(1);
        self.lossy = 0;
        let over = match self.phase {
            Phase::Length => self.lengthen(told, options),
            Phase::Preliminary => self.repeat(options),
            Phase::Pairs => self.arrived >= options.pairs,
            Phase::Long => self.arrived >= options.trains,
        };
        if over {
            self.advance();
        }
        Ok(over)
    }

    /// A train lost packets: it is sent again, but not forever.
    fn lose(&mut self, options: &Options) -> Result<bool, TooLossy> {
        self.lossy = self.lossy.saturating_add(1);
        self.all_lossy = self.all_lossy.saturating_add(1);
        let most = options.pairs.saturating_add(options.trains) / 2;
        if self.all_lossy > most || (self.length == 2 && self.lossy > MOST_PAIRS_LOSSY) {
            return Err(TooLossy);
        }
        if self.lossy < MOST_LOSSY {
            return Ok(false);
        }
        match self.phase {
            Phase::Length if self.length > 2 => {
                self.advance();
                return Ok(true);
            }
            Phase::Long => {
                self.longest = (self.longest / 4 * 3).max(2);
                self.lossy = 0;
            }
            _ => {}
        }
        Ok(false)
    }

    /// The next length: by one up to 6, by two up to 12, then by four (the tool). Whether there is none.
    fn lengthen(&mut self, told: Dispersion, options: &Options) -> bool {
        self.longest = self.length;
        self.length += match self.length {
            0..6 => 1,
            6..12 => 2,
            _ => 4,
        };
        let slow = matches!(told, Dispersion::Path(rate) if rate < SLOW * f64::from(self.longest));
        slow || self.length > options.longest.min(10_000)
    }

    /// The same length again, or a longer one. Whether there is none.
    fn repeat(&mut self, options: &Options) -> bool {
        if self.arrived >= options.preliminary {
            self.arrived = 0;
            self.length += 1;
        }
        self.length > self.longest.min(PRELIMINARY)
    }

    /// On to the next phase.
    const fn advance(&mut self) {
        self.phase = match self.phase {
            Phase::Length => Phase::Preliminary,
            Phase::Preliminary => Phase::Pairs,
            Phase::Pairs | Phase::Long => Phase::Long,
        };
        self.length = 2;
        self.arrived = 0;
        self.lossy = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds manager/pathrate.
    #[test]
    fn lengths_grow_until_three_trains_of_one_lose_packets() {
        let options = Options::default();
        let mut progress = Progress::new();
        let mut lengths = Vec::new();
        while progress.phase() == Phase::Length {
            let length = progress.train(&options).probes.len();
            lengths.push(length);
            let told = if length > 20 {
                Dispersion::Lossy
            } else {
                Dispersion::Path(1e8)
            };
            assert!(progress.enter(told, &options).is_ok());
        }
        assert_eq!(lengths, [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 24, 24]);
        assert_eq!(progress.longest(), 20);
    }

    /// Holds manager/pathrate.
    #[test]
    fn there_are_as_many_trains_as_asked_for_of_all_sizes() {
        let options = Options::default();
        let mut progress = Progress::new();
        let mut counts = [0; 4];
        let mut sizes = std::collections::BTreeSet::new();
        for _ in 0..5_000 {
            counts[progress.phase() as usize] += 1;
            if progress.phase() == Phase::Pairs {
                sizes.insert(progress.train(&options).probes[0].octets);
            }
            let over = progress
                .enter(Dispersion::Path(1e8), &options)
                .unwrap_or(true);
            if over && counts[3] > 0 {
                break;
            }
        }
        // 2 to 6, 8 to 12, 16 to 48; seven of each length from 2 to 10.
        assert_eq!(counts, [5 + 3 + 9, 63, 1_000, 500]);
        assert_eq!(
            (sizes.len(), sizes.first(), sizes.last()),
            (40, Some(&600), Some(&1_500))
        );
    }
}
