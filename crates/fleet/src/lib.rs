//! The fleet: agents at many places that measure each other, on NATS `JetStream`.
//!
//! What decides is pure, and takes the time as an argument:
//!
//! - [`mod@file`] - the fleet file: who measures whom, what, when;
//! - [`schedule`] - which runs begin when, the same on every host;
//! - [`lease`] - how hosts and links are taken for a run that loads, and given back;
//! - [`ledger`] - what has been begun, ended and handed over, so that nothing is lost or done twice;
//! - `estimates` - what is known of a path, for programs that ask;
//! - `links` - what path traces tell of the links that hosts share.
//!
//! What does I/O is thin: [`bus`] speaks with NATS, [`agent`] lives at a place, and a web page shows what is there.
#![forbid(unsafe_code)]

pub mod account;
pub mod agent;
pub mod archive;
pub mod bus;
mod chance;
mod estimates;
mod figures;
pub mod file;
mod http;
mod http_client;
pub mod identity;
pub mod lease;
pub mod ledger;
mod links;
pub mod messages;
mod moment;
mod name;
pub mod outcome;
pub mod revisions;
pub mod schedule;
pub mod stage;
pub mod verbs;
mod web;

pub use identity::{Identity, PublicKey, PublicKeyError};
pub use moment::{Day, Moment, MomentError};
pub use name::{Name, NameError, RunId, RunIdError};
