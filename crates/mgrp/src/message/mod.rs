//! What tools and the manager say to each other over a Unix socket.
//!
//! A tool in any language can take part: a message is a length, a kind, and numbers in network byte order at fixed places.
//! `docs/mgrp.md` draws every one. A tool says
//! [`Begin`](Message::Begin), [`BeginRanges`](Message::BeginRanges), [`CallOff`](Message::CallOff) and [`Listen`](Message::Listen), the manager the others; which of
//! them may come when is the business of who reads them.
//!
//! Any octets are read or refused. What a sender of today leaves at zero must be zero, so that it can mean something later.

mod frames;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use frames::{Frame, Frames, MOST_MESSAGE};

use crate::transaction::{Arrival, Outcome, Ranges, Refusal, Sent, Transaction};
use core::net::IpAddr;
use thiserror::Error;

const BEGIN: u8 = 1;
const CALL_OFF: u8 = 2;
const LISTEN: u8 = 3;
const BEGIN_RANGES: u8 = 4;
const ACCEPTED: u8 = 16;
const REFUSED: u8 = 17;
const OUTCOME: u8 = 18;
const ARRIVAL: u8 = 19;
const SENT: u8 = 20;

/// Why octets are no message.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum MessageError {
    /// They end before the message does.
    #[error("message shorter than it says")]
    Short,
    /// They go on after it.
    #[error("message longer than it says")]
    Long,
    /// A kind, a code or a flag that nobody sends, or something where zero belongs.
    #[error("message with a value that nobody sends")]
    Value,
    /// It is announced, or was to be written, with this many octets.
    #[error("message of {0} octets, at most {MOST_MESSAGE} are taken")]
    Size(usize),
}

/// A message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Message {
    /// Send this, and tell me what came of it.
    Begin {
        /// The tool's own number for it, which all answers bear.
        id: u32,
        /// To which peer.
        to: IpAddr,
        /// What.
        transaction: Transaction,
    },
    /// Send a train between these bounds, and tell me what came of it.
    BeginRanges {
        /// The tool's own number for it, which all answers bear.
        id: u32,
        /// To which peer.
        to: IpAddr,
        /// What.
        ranges: Ranges,
    },
    /// Send no more of it.
    CallOff {
        /// The tool's number for it.
        id: u32,
    },
    /// Tell me of the probes that come on this channel.
    Listen {
        /// Which.
        channel: u8,
    },
    /// It will be sent.
    Accepted {
        /// The tool's number for it.
        id: u32,
    },
    /// It will not be sent.
    Refused {
        /// The tool's number for it.
        id: u32,
        /// Why.
        reason: Refusal,
    },
    /// It is over.
    Outcome {
        /// The tool's number for it.
        id: u32,
        /// What came of it.
        outcome: Outcome,
    },
    /// Which packets the probes of a train in ranges were: right before its outcome.
    Sent {
        /// The tool's number for it.
        id: u32,
        /// In the order in which they left.
        sent: Vec<Sent>,
    },
    /// A probe came.
    Arrival {
        /// From which peer.
        from: IpAddr,
        /// The probe.
        arrival: Arrival,
    },
}
