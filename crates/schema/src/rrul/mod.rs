//! Realtime response under load: records of the RRUL family.

pub mod plan;
mod score;
mod summary;

pub use plan::Plan;
pub use score::{Penalty, Score};
pub use summary::*;
