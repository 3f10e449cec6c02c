//! Web pages that are served, loaded and timed.
#![forbid(unsafe_code)]

mod content;
mod model;
pub mod names;
pub mod result;

pub use model::{Flaw, ModelError, Object, PageModel};
pub use result::{Kind, ObjectLoad, PageLoad, Probe, Protocol, UnknownProtocol};
