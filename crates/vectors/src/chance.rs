//! Random numbers that belong to one vector of a set.

use stats::random::SplitMix64;

/// What the numbers are for. Two purposes under one seed must not share them: a thinned set would else have the vectors that
/// got the first paths.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Path = 1,
    Thin,
    Blocks,
    Synthesis,
    Starts,
    Ties,
    Earlier,
    Ages,
}

/// The row of random numbers for one purpose of the vector at `index` under `seed`. It does not depend on the other vectors, so a set may
/// be walked in any order and on any number of processors.
pub(crate) const fn of(purpose: Purpose, seed: u64, index: u64) -> SplitMix64 {
    let purpose = SplitMix64::new(purpose as u64).draw();
    let seed = SplitMix64::new(seed ^ purpose).draw();
    SplitMix64::new(seed ^ SplitMix64::new(index).draw())
}
