//! What a record may hold: every table's columns, and the plan and the summary of every measurement, defined once.
//!
//! A measurement writes these types; scorecards, the report, comparisons, Flent's files, the published JSON schemas and the tests
//! read them. A name ends in its unit, and `None` is what was not measured. A field that is added later has a default, so that
//! older records can still be read.
//!
//! [`tables`] are those that several measurements share; each measurement has a module of its own for the rest. Nothing here
//! measures: a plan can check itself, and that is all.
#![forbid(unsafe_code)]

pub mod btc;
mod direction;
pub mod estimate;
mod lab;
pub mod mbm;
#[cfg(feature = "published")]
pub mod published;
pub mod replay;
pub mod rpm;
pub mod rrul;
pub mod tables;
pub mod udpst;
mod ways;

pub use direction::Direction;
pub use lab::{LabSummary, LinkTruth};
pub use ways::Ways;
