//! Traffic from traces: connection vectors out of captures, and their replay, on real sockets and in virtual time.
#![forbid(unsafe_code)]

pub mod replay;
pub mod simulated;
pub mod trace;
