//! A run in virtual time: the same machines, plan, tables, summary and scorecard as those of a real one, in a world of values
//! ([`sim`]).
//!
//! A row of links ([`kit::virtual_path`]) is what the transfers cross. What a run finds is a function of the plan, the path and the
//! seed: the same three give the same tables to the last octet.

mod bounds;
mod queues;
mod transfers;

pub use bounds::check;
pub use transfers::run;
