//! How far the ends are apart: the seven models of round-trip time (D, section 3.4).
//!
//! | model | a path is shared by | round-trip time |
//! |---|---|---|
//! | *nodelay* | all connections | none is added |
//! | *mean*, *median* | all connections | that of the set's minimum round-trip times |
//! | *10path* | a tenth of them | one of ten that D took from a test suite, the same for every set |
//! | *DA(n)* | one of n of them | the mean of one of n equal parts of the set's distribution |
//! | *uniform* | nobody | drawn from the middle four fifths of the set, in whole ms |
//! | *usernet* | nobody | the connection's own |
//!
//! What most of them need of the whole set is little, so a set is walked twice: once to sum it up ([`Summary`]), once to
//! assign. Which path a connection gets is chance, without regard to what the connection is. D assigns by pair of
//! machines, which comes to the same; it breaks the tie between a connection's size and its distance, and only *usernet*
//! keeps that (D, section 6.2.2). Here chance depends on the seed and on the vector's place in the set and on nothing else.
//!
//! ```
//! use isobath_vectors::model::rtt::{Model, Summary, UNC_2008};
//! use core::time::Duration;
//!
//! let model: Model = "da:30".parse()?;
//! let published = model.published(&UNC_2008).unwrap();
//! let of_a_set = model.resolve(&Summary::default());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod name;
mod published;
mod summary;

pub use name::UnknownModel;
pub use published::{IBM_2006, Published, TEN_PATHS_MS, UNC_2008};
pub use summary::Summary;

use crate::Vector;
use crate::chance::{self, Purpose};
use core::num::NonZeroU16;
use core::time::Duration;
use serde::{Deserialize, Serialize};

/// Which round-trip time a connection gets. As text: `nodelay`, `mean`, `median`, `10path`, `da` (30 paths), `da:150`,
/// `uniform`, `usernet`; and D's own names `meanRTT`, `medianRTT`, `10pathRTT`, `30path`, `uniformRTT`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum Model {
    /// None but the network's own.
    NoDelay,
    /// The mean for all.
    Mean,
    /// The median for all.
    Median,
    /// One of [`TEN_PATHS_MS`].
    TenPaths,
    /// Discrete approximation by so many paths.
    Da(NonZeroU16),
    /// Uniform between the quantiles 0.1 and 0.9.
    Uniform,
    /// Each its own.
    #[default]
    Usernet,
}

/// A model with what it needs of a set: enough to tell the round-trip time of any connection.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Rtts {
    /// The same for all.
    One(Duration),
    /// One of these, all equally likely.
    Paths(Vec<Duration>),
    /// Whole milliseconds from the first to the second, all equally likely.
    Uniform(u32, u32),
    /// The connection's own, and this where it is unknown. D does not say what it does with such connections; here they
    /// get the median of the set.
    Own(Duration),
}

impl Model {
    /// D's number of paths, one for each of its pairs of machines.
    pub const DA: Self = Self::Da(NonZeroU16::new(30).unwrap());

    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::NoDelay,
        Self::Mean,
        Self::Median,
        Self::TenPaths,
        Self::DA,
        Self::Uniform,
        Self::Usernet,
    ];

    /// With what a set says. Of a set in which no round-trip time is known, all are zero but those of *10path*.
    pub fn resolve(self, set: &Summary) -> Rtts {
        match self {
            Self::NoDelay => Rtts::One(Duration::ZERO),
            Self::Mean => Rtts::One(set.mean()),
            Self::Median => Rtts::One(set.median()),
            Self::TenPaths => Rtts::paths_ms(&TEN_PATHS_MS),
            Self::Da(paths) => Rtts::Paths(set.discrete_approximation(paths)),
            Self::Uniform => {
                let (low, high) = set.middle_ms();
                Rtts::Uniform(low, high)
            }
            Self::Usernet => Rtts::Own(set.median()),
        }
    }

    /// With the figures that D printed, to repeat its experiments as they were. `None` for another number of paths than it
    /// had.
    pub fn published(self, set: &Published) -> Option<Rtts> {
        let ms = |ms| Duration::from_millis(u64::from(ms));
        Some(match self {
            Self::NoDelay => Rtts::One(Duration::ZERO),
            Self::Mean => Rtts::One(ms(set.mean_ms)),
            Self::Median => Rtts::One(ms(set.median_ms)),
            Self::TenPaths => Rtts::paths_ms(&TEN_PATHS_MS),
            Self::DA => Rtts::paths_ms(&set.da_ms),
            Self::Da(_) => return None,
            Self::Uniform => Rtts::Uniform(set.uniform_ms.0, set.uniform_ms.1),
            Self::Usernet => Rtts::Own(ms(set.median_ms)),
        })
    }
}

impl Rtts {
    fn paths_ms(paths: &[u32]) -> Self {
        let ms = paths.iter().map(|&ms| Duration::from_millis(u64::from(ms)));
        Self::Paths(ms.collect())
    }

    /// The round-trip time of the vector at place `index` of its set.
    pub fn of(&self, vector: &Vector, index: u64, seed: u64) -> Duration {
        let mut random = chance::of(Purpose::Path, seed, index);
        match self {
            Self::One(rtt) => *rtt,
            Self::Paths(paths) => {
                let path = random.below(paths.len());
                paths.get(path).copied().unwrap_or_default()
            }
            Self::Uniform(low, high) => {
                let values = high.saturating_sub(*low) as usize + 1;
                let above = u64::try_from(random.below(values)).unwrap_or(u64::MAX);
                Duration::from_millis(u64::from(*low) + above)
            }
            Self::Own(unknown) => vector.min_rtt.unwrap_or(*unknown),
        }
    }

    /// Rewrites the vector at place `index` of its set.
    pub fn apply(&self, vector: &mut Vector, index: u64, seed: u64) {
        vector.min_rtt = Some(self.of(vector, index, seed));
    }
}

#[cfg(test)]
mod tests;
