//! Bulk transfer capacity: records of `isobath btc` and of its simulation.

pub mod plan;
mod summary;
pub mod tables;

pub use plan::Plan;
pub use summary::{Pair, Side, Summary};
