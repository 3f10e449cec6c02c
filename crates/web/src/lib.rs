//! Web pages that are served, loaded and timed.
#![forbid(unsafe_code)]

pub mod browser;
mod content;
pub mod dns;
mod loader;
mod model;
pub mod names;
mod reason;
pub mod result;
mod server;
mod tls;

pub use loader::{Target, load, probe};
pub use model::{Flaw, ModelError, Object, PageModel};
pub use result::{Kind, ObjectLoad, PageLoad, Probe, Protocol, UnknownProtocol};
pub use server::{Published, Site, SiteError};
pub use tls::fingerprint;
