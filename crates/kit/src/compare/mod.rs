//! Comparisons: what several runs of each of several kinds say together.
//!
//! Runs of one kind are a *group*: repetitions of a batch's cell, or runs that were told the same ([`groups`]). For each
//! figure of their summaries ([`figures`]) a group has the mean over its runs and an interval that covers the true mean
//! with 95 % confidence ([`interval`]); each group after the first has the difference to the first, with an interval
//! too ([`comparison`]). One run is one observation, however many samples it took: samples of one run depend on each other,
//! and what differs from run to run is what the interval is about.

pub mod comparison;
pub mod figures;
pub mod groups;
mod interval;
pub mod table;
#[cfg(test)]
mod tests;

pub use comparison::Comparison;
