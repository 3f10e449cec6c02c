//! Sweeps: one measurement in virtual time over all combinations of its options, thousands of runs in one process.
//!
//! A run is a **cell**: a number, from which everything about it follows. So runs can be made in any order, by any number of threads or
//! machines, and what comes of each is the same. Results are written down as they come, one line a run ([`journal`]); whatever
//! stops a sweep, it goes on with the runs that have no line. At the end all lines become one table ([`dataset`]), in the order of
//! the numbers.

pub(crate) mod cells;
pub(crate) mod dataset;
pub(crate) mod file;
pub(crate) mod folder;
pub(crate) mod groups;
pub(crate) mod journal;
pub(crate) mod runner;
pub(crate) mod state;
