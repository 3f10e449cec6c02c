//! The server's ends of the HTTPS connections of a stream.

use super::super::{Wire, as_tcp, as_wire};
use super::client::settings;
use super::{Backlog, Lines, Message, Piece, Request, Way};
use sim::tcp::{Incoming, Key, Stack, Terms};
use sim::{NodeId, Parcel};
use std::collections::{BTreeMap, VecDeque};
use transport::CongestionControl;
use units::{Dscp, FlowId, HttpVersion, Instant};
use web::octets::{self, PIECE};

/// See the module.
#[derive(Debug)]
pub(in super::super) struct Server {
    class: Dscp,
    seed: u64,
    lines: Lines,
    stack: Stack,
    connections: BTreeMap<Key, Connection>,
    /// Answers that are not ready yet, by the time at which they are and the order in which they were asked for.
    delayed: BTreeMap<(Instant, u64), (Key, Request)>,
    asked: u64,
}

#[derive(Debug)]
struct Connection {
    /// Of the client's packets.
    flow: FlowId,
    protocol: HttpVersion,
    backlog: Backlog,
    /// Answers that are under way, the one whose turn it is first.
    answers: VecDeque<Answer>,
    has_answered: bool,
}

#[derive(Debug)]
struct Answer {
    object: u16,
    left: u64,
    has_head: bool,
}

impl Server {
    /// At node `here`, for a stream of class `class`.
    pub(in super::super) fn new(
        here: NodeId,
        class: Dscp,
        cc: CongestionControl,
        seed: u64,
        lines: Lines,
    ) -> Self {
        Self {
            class,
            seed,
            lines,
            stack: Stack::new(here, settings(cc)),
            connections: BTreeMap::new(),
            delayed: BTreeMap::new(),
            asked: 0,
        }
    }

    /// A packet of one of the connections arrived.
    pub(in super::super) fn handle_packet(&mut self, parcel: Parcel<Wire>, now: Instant) {
        let Some(parcel) = as_tcp(parcel) else { return };
        match self.stack.handle_packet(&parcel, now) {
            Incoming::Asked { from, flow } => {
                let terms = Terms {
                    seed: self.seed.wrapping_add(flow.0),
                    window: None,
                    peer_window: None,
                };
                let key = self.stack.accept(from, flow, terms, now);
                let connection = Connection {
                    flow,
                    protocol: HttpVersion::H2,
                    backlog: Backlog::default(),
                    answers: VecDeque::new(),
                    has_answered: false,
                };
                self.connections.insert(key, connection);
            }
            Incoming::Changed(key) => self.look(key, now),
            Incoming::Nothing => {}
        }
    }

    /// The instant of [`Server::next_timeout`] has come.
    pub(in super::super) fn handle_timeout(&mut self, now: Instant) {
        let mut changed = Vec::new();
        if self.stack.next_timeout().is_some_and(|at| at <= now) {
            self.stack.handle_timeout(now, &mut changed);
        }
        for key in changed {
            self.look(key, now);
        }
        while let Some(first) = self.delayed.first_entry() {
            if first.key().0 > now {
                break;
            }
            let (key, request) = first.remove();
            self.answer(key, request);
        }
    }

    /// When to call [`Server::handle_timeout`].
    pub(in super::super) fn next_timeout(&self) -> Option<Instant> {
        let ready = self.delayed.keys().next().map(|(at, _)| *at);
        [self.stack.next_timeout(), ready]
            .into_iter()
            .flatten()
            .min()
    }

    /// The next packet to send.
    pub(in super::super) fn poll_transmit(&mut self, now: Instant) -> Option<Parcel<Wire>> {
        loop {
            if let Some(parcel) = self.stack.poll_transmit(now) {
                return Some(as_wire(parcel, self.class, now));
            }
            let key = self.stack.poll_drained()?;
            self.write(key);
        }
    }

    /// Something has happened to the connection `key`.
    fn look(&mut self, key: Key, now: Instant) {
        let heard = self.stack.take_heard(key);
        let Some(connection) = self.connections.get_mut(&key) else {
            return;
        };
        let is_over = self
            .stack
            .get(key)
            .is_none_or(|state| state.is_refused() || state.is_broken() || state.has_peer_closed());
        if is_over {
            self.connections.remove(&key);
            // Its key may be another's soon.
            self.delayed.retain(|_, (of, _)| *of != key);
            self.stack.close(key);
            self.stack.release(key);
            return;
        }
        for message in self.lines.hear(connection.flow, Way::Up, heard) {
            match message {
                Message::Hello(protocol) => {
                    connection.protocol = protocol;
                    connection.say(&self.lines, octets::flight(protocol), Message::Flight);
                }
                Message::Finished => {
                    let octets = octets::settings(connection.protocol);
                    connection.say(&self.lines, octets, Message::Settings);
                }
                Message::Request(request) => {
                    self.asked += 1;
                    let ready = (now + request.delay, self.asked);
                    self.delayed.insert(ready, (key, request));
                }
                Message::Flight
                | Message::Words
                | Message::Settings
                | Message::Head(_)
                | Message::Piece(_) => {}
            }
        }
        self.write(key);
        self.handle_timeout(now);
    }

    fn answer(&mut self, key: Key, request: Request) {
        if let Some(connection) = self.connections.get_mut(&key) {
            connection.answers.push_back(Answer {
                object: request.object,
                left: request.size,
                has_head: false,
            });
            self.write(key);
        }
    }

    /// Writes what there is room for.
    fn write(&mut self, key: Key) {
        let Some(connection) = self.connections.get_mut(&key) else {
            return;
        };
        loop {
            connection.backlog.write(&mut self.stack, key);
            if connection.backlog.0 > 0 || !connection.say_more(&self.lines) {
                return;
            }
        }
    }
}

impl Connection {
    fn say(&mut self, lines: &Lines, octets: u64, message: Message) {
        if octets > 0 {
            lines.say(self.flow, Way::Down, octets, message);
            self.backlog.0 += octets;
        }
    }

    /// Says the next piece of the answer whose turn it is; whether there was one.
    fn say_more(&mut self, lines: &Lines) -> bool {
        let Some(mut answer) = self.answers.pop_front() else {
            return false;
        };
        let before = if std::mem::replace(&mut answer.has_head, true) {
            0
        } else {
            let is_first = !std::mem::replace(&mut self.has_answered, true);
            octets::head(self.protocol, is_first)
        };
        let octets = answer.left.min(PIECE);
        answer.left -= octets;
        if before > 0 {
            self.say(lines, before, Message::Head(answer.object));
        }
        let piece = Piece {
            object: answer.object,
            octets,
            is_last: answer.left == 0,
        };
        let wire = octets::piece(self.protocol, before, octets) - before;
        self.say(lines, wire, Message::Piece(piece));
        if answer.left > 0 {
            match self.protocol {
                // One after the other.
                HttpVersion::Http1 => self.answers.push_front(answer),
                HttpVersion::H2 | HttpVersion::H3 => self.answers.push_back(answer),
            }
        }
        true
    }
}
