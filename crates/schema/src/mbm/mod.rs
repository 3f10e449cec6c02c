//! Model based metrics: records of `isobath mbm`.

pub mod plan;
mod summary;
pub mod tables;

pub use plan::Plan;
pub use summary::{Summary, TcpFigures, TestSummary};
