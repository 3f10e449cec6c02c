//! Responsiveness under working conditions: records of `isobath rpm`.

pub mod plan;
mod summary;
pub mod tables;

pub use plan::Plan;
pub use summary::{Foreign, Summary, Way};
