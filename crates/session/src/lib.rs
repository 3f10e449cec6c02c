//! Two hosts agree: who may measure what with whom, and how it is told afterwards.
//!
//! Isobath's far end is `isobath serve`. It prints one [`AccessKey`]; whoever has it may measure. The
//! conversation has four parts, all on one port number (4890), so that one firewall rule will do:
//!
//! 1. **Control**: one TLS 1.3 connection, JSON lines inside ([`Control`]). The client knows the
//!    server by the certificate fingerprint in the key; the server knows the client by a proof over
//!    the key's secret that is bound to this very connection, so neither can be relayed or replayed. Then `hello`, and `welcome` or a refusal
//!    that says why ([`Refusal`]).
//! 2. **Data streams**: TCP connections that begin with a 32-octet [`wire::Preamble`] and are handed
//!    to the session they name ([`Session::next_stream`]).
//! 3. **Datagrams**: UDP with the header of [`wire::Probe`]. The socket belongs to whoever measures;
//!    this crate gives the formats and the register of sessions to check them by ([`Sessions`]).
//! 4. **Web pages**: TLS connections that name a session's page in their first message are handed over
//!    unread ([`Service::web`]).
//!
//! Everything on the data plane carries a tag under a key of the session ([`DataKeys`]), and no reply
//! is longer than its request.
//!
//! # Threads
//!
//! The server is plain blocking sockets with deadlines: one thread per connection that is still being
//! looked at, at most [`Admission::pending`], and one per session, at most [`Admission::sessions`].
//! Both bounds are small and fixed, the threads sleep in the kernel, and each reads top to bottom.
//! Nothing that is measured runs on them.
#![forbid(unsafe_code)]

mod address;
mod admit;
mod base64;
mod client;
mod client_hello;
mod control;
mod deadline;
mod error;
mod gate;
mod hello;
mod identity;
mod key;
mod limits;
mod lines;
mod offset;
mod overlay;
mod random;
mod registry;
mod server;
mod tag;
#[cfg(test)]
mod tests;
mod tls;
mod window;
pub mod wire;

pub use address::{DEFAULT_PORT, Family, or_other, other_version, resolve};
pub use client::{Client, Dialer, OpenStream, connect};
pub use control::Control;
pub use error::Error;
pub use hello::{Code, Hello, PROTOCOL, Refusal, VERSION, Welcome};
pub use identity::{Identity, default_path, state_file};
pub use key::{AccessKey, Fingerprint, KeyError, Secret};
pub use limits::{Admission, Limits};
pub use lines::{Lines, MAX_LINE, TooLong};
pub use offset::ClockOffset;
pub use overlay::{OverlayKey, OverlayKeys, Tagger};
pub use registry::{Counters, DataStream, Session, Sessions, Slot};
pub use server::{Event, Server, ServerConfig, Service};
pub use tag::{DataKey, DataKeys, TAG_LEN, TagKey};
