//! Measurements in virtual time: the same machines, plan, tables, summary and scorecard as those of the real ones, in a world
//! of values ([`sim`]).
//!
//! A row of links ([`path`]) is what `btc`'s transfers ([`mod@transfers`]) cross, and what other measurements are handed: what a run
//! finds is a function of the plan, the path and the seed, and the same three give the same tables to the last octet.

pub(crate) mod bounds;
pub(crate) mod path;
pub(crate) mod queues;
mod transfers;

pub(crate) use transfers::run;
