//! HTTPS in virtual time: connections that carry the right number of octets, and what those octets say beside them.
//!
//! [`sim::tcp`] carries octets without content. So whoever sends a [`Message`] also puts it into the connection's [`Lines`], which
//! both ends share, with its length; the other end takes it out when that many octets have come in order. Lengths are those of
//! [`web::octets`].
//!
//! ```text
//! client [`Client`]                              server [`Server`]
//!   Hello              ->
//!                      <-   Flight               one round trip after the handshake of TCP
//!   Finished, Requests ->
//!                      <-   Settings, Head, Pieces; with HTTP/2 of all answers in turn
//! ```
//!
//! No time is spent on anything but the way and the delay that the page's model gives an object.

mod client;
mod probes;
mod server;

pub(super) use client::{Client, News};
pub(super) use probes::Probes;
pub(super) use server::Server;

use sim::tcp::{Key, Stack};
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;
use units::{FlowId, HttpVersion};

/// Octets that may wait unsent at an end before its writer waits: TLS's own buffer.
const UNSENT: u64 = 64 << 10;

/// What one end says to the other.
#[derive(Clone, Copy, Debug)]
enum Message {
    Hello(HttpVersion),
    Flight,
    Finished,
    /// Words of HTTP that nobody waits for.
    Words,
    Settings,
    Request(Request),
    /// The head of the answer with an object.
    Head(u16),
    /// Part of the object's body.
    Piece(Piece),
}

/// A request for an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) object: u16,
    /// Octets of the answer's body.
    pub(super) size: u64,
    /// What the server takes to answer.
    pub(super) delay: Duration,
}

/// Octets of a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) object: u16,
    pub(super) octets: u64,
    pub(super) is_last: bool,
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug)]
enum Way {
    Up,
    Down,
}

/// Messages on their way one way, and the octets of each that have not come.
type Line = VecDeque<(u64, Message)>;

/// What all connections of a run have on their way, by the flow of the client's packets.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines(Rc<RefCell<HashMap<FlowId, [Line; 2]>>>);

impl Lines {
    fn open(&self, flow: FlowId) {
        self.0.borrow_mut().insert(flow, Default::default());
    }

    fn close(&self, flow: FlowId) {
        self.0.borrow_mut().remove(&flow);
    }

    /// `message` leaves in so many octets.
    fn say(&self, flow: FlowId, way: Way, octets: u64, message: Message) {
        if let Some(lines) = self.0.borrow_mut().get_mut(&flow) {
            lines[way as usize].push_back((octets, message));
        }
    }

    /// `octets` more have come: the messages that are whole by them.
    fn hear(&self, flow: FlowId, way: Way, mut octets: u64) -> Vec<Message> {
        let mut whole = Vec::new();
        let mut all = self.0.borrow_mut();
        let Some(line) = all.get_mut(&flow).map(|lines| &mut lines[way as usize]) else {
            return whole;
        };
        while let Some((left, message)) = line.front_mut() {
            if *left > octets {
                *left -= octets;
                break;
            }
            octets -= *left;
            whole.push(*message);
            line.pop_front();
        }
        whole
    }
}

/// What an end has said and TCP has had no room for.
#[derive(Clone, Copy, Debug, Default)]
struct Backlog(u64);

impl Backlog {
    fn write(&mut self, stack: &mut Stack, key: Key) {
        if self.0 > 0 {
            self.0 -= stack.write(key, self.0);
        }
    }
}
