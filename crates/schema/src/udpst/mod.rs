//! IP-layer capacity by UDP: records of `isobath udpst`.

pub mod plan;
mod summary;
pub mod tables;

pub use plan::Plan;
pub use summary::{Summary, Way};
