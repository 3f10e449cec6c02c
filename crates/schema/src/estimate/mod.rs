//! Properties of a path: records of `isobath estimate`.

pub mod plan;
mod summary;
pub mod tables;

pub use plan::Plan;
pub use summary::{Finding, Summary};
