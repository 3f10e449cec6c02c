//! Traffic from traces: connection vectors out of captures, and their replay.
#![forbid(unsafe_code)]

pub mod replay;
pub mod trace;
