//! Standard congestion control and loss recovery without a socket or a clock: the sender and the receiver of `btc`.
//!
//! A transfer has two machines. The [`Sender`] decides which [`Segment`] leaves when; the [`Receiver`] decides which
//! [`Ack`] goes back when. Both speak in segments, not octets: a segment has a number ([`Seq`]) that stays the same when it
//! is sent again, and every *copy* that leaves has a [`PacketId`] of its own that no other copy ever has. So a
//! retransmission is told from its original (no ambiguity as in RFC 6298 section 3), and an acknowledgement proves that it
//! was caused by a packet that really arrived: identifiers cannot be guessed.
//!
//! The same two machines run in virtual time (`sim`), over UDP (`isobath btc`), and, with the receiver at the sender's
//! side fed by the identifiers that come back, against hosts that do not cooperate (one-way emulation, as `TReno`).
//!
//! # Calling order
//!
//! Methods are of four kinds. `handle_*` tells what has happened: a segment or an acknowledgement arrived, a timeout
//! passed. Mutators are the application's ([`Sender::supply`], [`Receiver::hold`]). `poll_*` asks what the machine wants:
//! to be called until it says `None`, after every `handle_*` and every mutator. `next_timeout` says when to call
//! `handle_timeout`; ask after polling. Everything else only looks. `now` never goes back.
#![forbid(unsafe_code)]

mod controller;
mod copies;
mod ident;
mod options;
mod ranges;
mod rarely;
mod receiver;
mod rtt;
mod scoreboard;
mod segment;
mod sender;
mod seq;
pub mod wire;

pub use options::{
    CongestionControl, Cubic, DelayedAck, Growth, Options, Recovery, RenoEstimate, RtoFloor,
};
pub use receiver::{Receipts, Receiver};
pub use segment::{Ack, PacketId, SackBlocks, Segment, SegmentFlags};
pub use sender::{Cause, Event, Sender, Sent, Snapshot, Violation};
pub use seq::Seq;
