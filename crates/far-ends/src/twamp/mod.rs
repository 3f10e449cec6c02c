//! The Two-Way Active Measurement Protocol (RFC 5357): STAMP's elder, which agrees on each session first.
//!
//! A *Control-Client* connects to a *Server* by TCP, and asks for sessions of test packets by UDP (TWAMP-Control, RFC 5357 section 3, whose
//! messages are mostly those of RFC 4656 section 3). Then it is a *Session-Sender*, and the Server a *Session-Reflector* for whoever has agreed: test packets
//! are STAMP's without its TLVs, so [`stamp::Sender`] sends them ([`sender`]).
//!
//! Both ends are state machines over octets: a [`Client`], and for each connection a server's [`Conversation`]; what was agreed on is in
//! [`Agreed`], by which a [`Reflector`] knows its senders.
//!
//! Only the unauthenticated mode. A session's packets come from the address of its control connection: nobody can direct replies at
//! somebody else.

mod client;
mod reflector;
mod server;
#[cfg(test)]
mod tests;
mod wire;

pub use client::{Asked, Client};
pub use reflector::{Agreed, Reflector};
pub use server::{Conversation, Ended};

use crate::{Terms, stamp};

/// The TCP port of servers (RFC 5357 section 3.1), and the UDP port of reflectors (RFC 8545).
pub const PORT: u16 = 862;

/// What sends the packets of a session on `terms`.
pub const fn sender(terms: Terms) -> stamp::Sender {
    stamp::Sender::without_tlvs(terms)
}
