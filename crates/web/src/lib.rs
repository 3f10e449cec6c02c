//! Web pages that are served, loaded and timed.
#![forbid(unsafe_code)]

pub mod result;

pub use result::{Kind, ObjectLoad, PageLoad, Probe, Protocol, UnknownProtocol};
