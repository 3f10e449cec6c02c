//! The UDP Speed Test Protocol (RFC 9946): how large is the IP-layer capacity of a path?
//!
//! A sender loads the path with datagrams; the receiver tells it every 50 ms what arrived and how much later than the least. By
//! that the server, whichever end it is, searches for the rate at which delay or loss begins, and stays there. The **maximum IP-layer
//! capacity** (RFC 9097) is the largest rate of IP packets that arrived in one sub-interval, of a second each.
//!
//! ```text
//! client                                    server
//!   Setup Request       -> control port
//!                       <- Setup Response    (a port for this test; a Null Request from there)
//!   Activation Request  -> test port
//!                       <- Activation Response
//!   Load PDUs           -> or <-             by the rate that the server has found
//!   Status Feedback     <- or ->             of each trial
//!                       <- stop, confirmed by the client
//! ```
//!
//! | part | what it is |
//! |---|---|
//! | [`Client`], [`Server`] | how a test begins, and on which terms |
//! | [`Sender`], [`Receiver`] | the load, and what arrived of it |
//! | [`Search`] | which row of the table is sent next, by types B and C |
//! | [`SendingRate`] | a row of the table: two transmitters |
//! | [`auth`] | who may have a test |
//!
//! Setup, null and activation are signed (mode 1). Whoever has no key is not served: a load of gigabits is not for strangers, who could
//! have it sent to others. As a client this also speaks the unofficial mode 0 of a server that wants no key. Not here: several
//! connections of one test, mode 2 (signed feedback), a fixed rate, and version 11 of the protocol.

pub mod auth;
mod client;
mod control;
mod load;
mod rates;
mod receiver;
mod search;
mod sender;
mod server;
mod status;
#[cfg(test)]
mod tests;
mod wire;

pub use client::{Answer, Client, SharedKey, refusal};
pub use control::{Activation, Algorithm, JUMBO, TRADITIONAL_MTU, Terms};
pub use load::{LOAD_LEN, Load};
pub use rates::{Burst, LONGEST_PAYLOAD, SendingRate};
pub use receiver::{Arrived, Feedback, Receiver, Variation};
pub use search::{Search, Trial};
pub use sender::Sender;
pub use server::{Admitted, Server, Taken};
pub use status::{Errors, Status, SubInterval};
pub use wire::Direction;

/// The UDP port on which servers listen.
pub const PORT: u16 = 24_601;
