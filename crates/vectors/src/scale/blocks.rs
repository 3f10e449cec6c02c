//! Block resampling: a new trace of pieces of the old one, as many as a target load takes.
//!
//! Connections do not start independently of each other: a page opens six, a lecture ends. To draw them one by one would
//! lose that. So the old trace is cut into blocks of, say, 30 s, and the new one is laid out in slots of the same length;
//! into each slot go whole blocks, drawn with replacement, one over the other, each connection as far from the slot's
//! beginning as it was from its block's. What is still owed after the last whole block is made up by one more block
//! that is thinned to the share that it takes.
//!
//! ```text
//! owed += target x block                         for each slot
//! while owed > 0:
//!     draw a block
//!     if it carries no more than is owed:        all of it; owed -= its octets
//!     else:                                      each connection with probability owed / its octets;
//!                                                owed -= their octets; next slot
//! ```
//!
//! What a slot owes too much or too little, the next makes up. So at any time the new trace differs from its target by no
//! more than the octets of the old trace's heaviest block, in all.
//!
//! A connection may come several times, and then has the same ids each time.

use super::load::bytes_of;
use super::{Load, ScaleError};
use crate::Side;
use crate::chance::{self, Purpose};
use crate::model::Footprint;
use core::time::Duration;
use stats::random::SplitMix64;
use units::Rate;

/// The most connections of a new trace; they take 24 octets each while it is laid out.
pub(super) const MOST: u64 = 100_000_000;

/// What to make of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resampling {
    /// Length of a block; 30 s is longer than most pages and shorter than most changes of a link's load.
    pub block: Duration,
    /// Length of the new trace; rounded to whole blocks, at least one.
    pub span: Duration,
    /// Its offered load.
    pub target: Rate,
    /// Whose octets the target means; of both ends together, if none.
    pub of: Option<Side>,
    /// Of the draws.
    pub seed: u64,
}

/// A connection of the new trace.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Pick {
    /// Which connection of the old.
    pub index: usize,
    /// When it begins.
    pub start: Duration,
}

/// A new trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Its connections, in the order of their starts.
    pub picks: Vec<Pick>,
    /// The load that results.
    pub load: Load,
}

/// A block of the old trace: its connections, and what they carry in the direction of the target.
#[derive(Clone, Debug, Default)]
struct Block {
    indices: Vec<usize>,
    bytes: u64,
}

impl Resampling {
    /// Lays out a new trace of the connections of `set`, which start within `set_span`. What starts after its last whole
    /// block is never drawn.
    ///
    /// # Errors
    ///
    /// When no whole block fits into `set_span`, when nothing is carried in the direction of the target, or when the
    /// target takes too many connections.
    pub fn plan(&self, set: &[Footprint], set_span: Duration) -> Result<Plan, ScaleError> {
        let blocks = self.cut(set, set_span)?;
        let slots = (self.span.as_nanos() + self.block.as_nanos() / 2) / self.block.as_nanos();
        let slots = u64::try_from(slots.max(1)).map_err(|_| ScaleError::TooMuch)?;
        self.check_size(&blocks, slots)?;
        let mut layout = Layout {
            set,
            of: self.of,
            block: self.block,
            random: chance::of(Purpose::Blocks, self.seed, 0),
            owed: 0.0,
            picks: Vec::new(),
        };
        let due = self.due();
        let begin = |slot: u64| {
            let ns = self.block.as_nanos().saturating_mul(u128::from(slot));
            Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
        };
        for slot in 0..slots {
            layout.owed += due;
            layout.fill(&blocks, begin(slot));
        }
        Ok(layout.finish(begin(slots)))
    }

    /// The blocks that carry something.
    fn cut(&self, set: &[Footprint], set_span: Duration) -> Result<Vec<Block>, ScaleError> {
        let length = self.block.as_nanos();
        let whole = set_span.as_nanos().checked_div(length).unwrap_or_default();
        let whole = usize::try_from(whole).map_err(|_| ScaleError::Block)?;
        if whole == 0 {
            return Err(ScaleError::Block);
        }
        let mut blocks = std::collections::BTreeMap::<usize, Block>::new();
        for (index, footprint) in set.iter().enumerate() {
            let number = usize::try_from(footprint.start.as_nanos() / length);
            let Some(number) = number.ok().filter(|&number| number < whole) else {
                continue;
            };
            let block = blocks.entry(number).or_default();
            block.indices.push(index);
            let bytes = bytes_of(footprint.bytes, self.of);
            block.bytes = block.bytes.saturating_add(bytes);
        }
        blocks.retain(|_, block| block.bytes > 0);
        if blocks.is_empty() {
            return Err(ScaleError::Nothing);
        }
        Ok(blocks.into_values().collect())
    }

    fn due(&self) -> f64 {
        self.target.as_bps() as f64 / 8.0 * self.block.as_secs_f64()
    }

    /// The connections that all slots together will take, by the averages of the blocks.
    fn check_size(&self, blocks: &[Block], slots: u64) -> Result<(), ScaleError> {
        let bytes: f64 = blocks.iter().map(|block| block.bytes as f64).sum();
        let connections: f64 = blocks.iter().map(|block| block.indices.len() as f64).sum();
        let expected = self.due() * slots as f64 / bytes * connections + slots as f64;
        if expected > MOST as f64 {
            return Err(ScaleError::TooMuch);
        }
        Ok(())
    }
}

/// A new trace that is being laid out.
struct Layout<'a> {
    set: &'a [Footprint],
    of: Option<Side>,
    block: Duration,
    random: SplitMix64,
    /// Octets that the slots so far lack.
    owed: f64,
    picks: Vec<Pick>,
}

impl Layout<'_> {
    /// Fills the slot that begins then.
    fn fill(&mut self, blocks: &[Block], begin: Duration) {
        while self.owed > 0.0 {
            let block = &blocks[self.random.below(blocks.len())];
            let share = self.owed / block.bytes as f64;
            for &index in &block.indices {
                if share >= 1.0 || self.random.unit() < share {
                    self.place(index, begin);
                }
            }
            if share < 1.0 {
                return;
            }
        }
    }

    fn place(&mut self, index: usize, begin: Duration) {
        let footprint = self.set[index];
        let offset = footprint.start.as_nanos() % self.block.as_nanos();
        let offset = Duration::from_nanos(u64::try_from(offset).unwrap_or(u64::MAX));
        let start = begin.saturating_add(offset);
        self.picks.push(Pick { index, start });
        self.owed -= bytes_of(footprint.bytes, self.of) as f64;
    }

    fn finish(mut self, span: Duration) -> Plan {
        self.picks.sort_by_key(|pick| pick.start);
        let mut load = Load::over(span);
        for pick in &self.picks {
            load.add(&self.set[pick.index]);
        }
        Plan {
            picks: self.picks,
            load,
        }
    }
}

#[cfg(test)]
mod tests;
