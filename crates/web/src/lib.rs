//! Web pages that are served, loaded and timed.
//!
//! How long a page takes is what people notice of a path, and it is more than the path's rate: a page is dozens
//! of look-ups, connections and short transfers, each of which waits for others. This crate has both
//! ends of such a page. What it looks like says a [`PageModel`]; the far end makes it up ([`Site`])
//! and answers for its hosts' names ([`dns`]); the near end loads it as a browser does
//! ([`load`]), or has a real browser do so ([`browser`]). Both give the same figures ([`result`]).
//!
//! ```text
//!            PageModel (TOML, compiled in; travels as JSON)
//!            /                         \
//!   near end                            far end
//!   load(..)  -- HOST.TOKEN ----------> dns::answer     on the UDP port of isobath serve
//!   Browser   -- TLS, h2, http/1.1 ---> Site::take      on its TCP port, handed over unread
//!             -- QUIC, h3 ------------> Site::start     a socket of its own on the UDP port
//! ```
//!
//! Everything that decides is a state machine or a pure function: what has been found and may be
//! asked for (`loader/page.rs`, `loader/queue.rs`), what the octets are (`content`), what a datagram is
//! answered (`dns`).
#![forbid(unsafe_code)]

mod answer;
pub mod browser;
pub mod bulk;
mod content;
mod credentials;
pub mod dns;
pub mod guests;
mod http3;
mod loader;
mod model;
pub mod names;
pub mod ndt7;
pub mod octets;
mod quic;
mod reason;
pub mod resolver;
pub mod responsiveness;
pub mod result;
mod server;
mod tls;
mod trust;
pub mod websocket;
pub mod webtransport;

pub use credentials::{Acceptor, Credentials};
pub use loader::{
    DNS_PATIENCE, Loading, Outcome, Phase, Step, Target, host_of, load, probe, probe_host,
};
pub use model::{Flaw, ModelError, Object, PageModel};
pub use result::{Kind, ObjectLoad, PageLoad, Probe};
pub use server::{PROBE_ANSWER, PROBE_PATH, Published, Site, SiteError};
pub use tls::fingerprint;
pub use trust::Trust;
