//! What a set of samples says, as pure functions over slices of `f64`.
//!
//! Quantiles are Hyndman and Fan's definition 7 (linear interpolation between order statistics), which is what
//! R and numpy print by default, so a figure can be checked with either.
#![forbid(unsafe_code)]

mod beta;
pub mod change_point;
mod distribution;
mod fairness;
mod fraction;
mod gamma;
mod histogram;
pub mod hurst;
pub mod interval;
pub mod ks;
pub mod proportion;
pub mod random;
pub mod series;
mod student;

pub use distribution::{Distribution, quantile};
pub use fairness::jain;
pub use histogram::{Histogram, SCALE};
