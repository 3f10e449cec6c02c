//! The client's ends of the HTTPS connections of a stream.

use super::super::{Wire, as_tcp, as_wire, flow};
use super::{Backlog, Lines, Message, Piece, Request, UNSENT, Way};
use sim::tcp::{Incoming, Key, Settings, Stack, Terms};
use sim::{NodeId, Parcel};
use std::collections::{BTreeMap, VecDeque};
use transport::{CongestionControl, Options};
use units::{Dscp, FlowId, HttpVersion, Instant};
use web::{Phase, octets};

/// What has happened to the connection with this number.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum News {
    /// It is ready for requests, after these times for TCP and TLS.
    Ready(u32, [Phase; 2]),
    /// It could not be made, or was broken.
    Lost(u32),
    /// The head of the answer with the object came.
    Head(u16),
    /// Part of the answer's body came.
    Piece(Piece),
}

/// See the module.
#[derive(Debug)]
pub(in super::super) struct Client {
    /// Of the stream.
    id: u16,
    class: Dscp,
    ends: [NodeId; 2],
    seed: u64,
    lines: Lines,
    stack: Stack,
    opened: u32,
    connections: BTreeMap<u32, Connection>,
    by_key: BTreeMap<Key, u32>,
    news: VecDeque<News>,
}

#[derive(Debug)]
struct Connection {
    key: Key,
    flow: FlowId,
    protocol: HttpVersion,
    /// Of the host's name.
    hello: u64,
    state: State,
    /// Text of requests that leave together.
    asking: u64,
    has_asked: bool,
    backlog: Backlog,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Connecting { begun: Instant },
    Handshaking { connect: Phase },
    Ready,
}

/// The options of all connections, by `cc`.
pub(super) fn settings(cc: CongestionControl) -> Settings {
    Settings {
        unsent: UNSENT,
        ..Settings::new(Options {
            congestion_control: cc,
            ..Options::default()
        })
    }
}

impl Client {
    /// For the connections of stream `id` at the first of `ends`.
    pub(in super::super) fn new(
        (id, class): (u16, Dscp),
        ends: [NodeId; 2],
        cc: CongestionControl,
        seed: u64,
        lines: Lines,
    ) -> Self {
        Self {
            id,
            class,
            ends,
            seed,
            lines,
            stack: Stack::new(ends[0], settings(cc)),
            opened: 0,
            connections: BTreeMap::new(),
            by_key: BTreeMap::new(),
            news: VecDeque::new(),
        }
    }

    /// Opens a connection to `host`; returns its number.
    pub(in super::super) fn open(
        &mut self,
        host: &str,
        protocol: HttpVersion,
        now: Instant,
    ) -> u32 {
        self.opened += 1;
        let number = self.opened;
        let flow = flow(self.id, number);
        let terms = Terms {
            seed: self.seed.wrapping_add(u64::from(number)),
            window: None,
            peer_window: None,
        };
        self.lines.open(flow);
        let key = self.stack.open(self.ends[1], flow, terms, now);
        self.by_key.insert(key, number);
        let connection = Connection {
            key,
            flow,
            protocol,
            hello: octets::hello(host, protocol),
            state: State::Connecting { begun: now },
            asking: 0,
            has_asked: false,
            backlog: Backlog::default(),
        };
        self.connections.insert(number, connection);
        number
    }

    /// Asks for `path` of `authority` over the connection; [`Client::flush`] sends what was asked for.
    pub(in super::super) fn ask(
        &mut self,
        number: u32,
        request: Request,
        authority: &str,
        path: &str,
    ) {
        if let Some(connection) = self.connections.get_mut(&number) {
            let is_first = !std::mem::replace(&mut connection.has_asked, true);
            let text = octets::request(connection.protocol, is_first, authority, path);
            connection.asking += text;

            let message = Message::Request(request);
            self.lines.say(connection.flow, Way::Up, text, message);
        } else {
            self.news.push_back(News::Lost(number));
        }
    }

    /// Sends what was asked for, with one record for what goes over the same connection.
    pub(in super::super) fn flush(&mut self) {
        for connection in self.connections.values_mut() {
            let text = std::mem::take(&mut connection.asking);
            if text > 0 {
                let more = octets::record(text) - text;
                let words = Message::Words;
                self.lines.say(connection.flow, Way::Up, more, words);
                connection.backlog.0 += text + more;
                connection.backlog.write(&mut self.stack, connection.key);
            }
        }
    }

    /// What has happened since the last call.
    pub(in super::super) fn poll_news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    /// Is done with the connection: it is closed, or broken if something is still on its way.
    pub(in super::super) fn close(&mut self, number: u32, is_broken: bool) {
        if let Some(connection) = self.connections.remove(&number) {
            self.by_key.remove(&connection.key);
            let state = self.stack.get(connection.key);
            if is_broken || state.is_none_or(|state| !state.is_established()) {
                self.stack.abort(connection.key);
            } else {
                self.stack.close(connection.key);
                self.stack.release(connection.key);
            }
            self.lines.close(connection.flow);
        }
    }

    /// Is done with all of them.
    pub(in super::super) fn close_all(&mut self, is_broken: bool) {
        let numbers: Vec<_> = self.connections.keys().copied().collect();
        for number in numbers {
            self.close(number, is_broken);
        }
    }

    /// A packet of one of the connections arrived.
    pub(in super::super) fn handle_packet(&mut self, parcel: Parcel<Wire>, now: Instant) {
        if let Some(parcel) = as_tcp(parcel)
            && let Incoming::Changed(key) = self.stack.handle_packet(&parcel, now)
        {
            self.look(key, now);
        }
    }

    /// The instant of [`Client::next_timeout`] has come.
    pub(in super::super) fn handle_timeout(&mut self, now: Instant) {
        let mut changed = Vec::new();
        if self.stack.next_timeout().is_some_and(|at| at <= now) {
            self.stack.handle_timeout(now, &mut changed);
        }
        for key in changed {
            self.look(key, now);
        }
    }

    /// When to call [`Client::handle_timeout`].
    pub(in super::super) fn next_timeout(&self) -> Option<Instant> {
        self.stack.next_timeout()
    }

    /// The next packet to send.
    pub(in super::super) fn poll_transmit(&mut self, now: Instant) -> Option<Parcel<Wire>> {
        loop {
            if let Some(parcel) = self.stack.poll_transmit(now) {
                return Some(as_wire(parcel, self.class, now));
            }
            let key = self.stack.poll_drained()?;
            let connection = self.by_key.get(&key);
            let connection = connection.and_then(|number| self.connections.get_mut(number));
            if let Some(connection) = connection {
                connection.backlog.write(&mut self.stack, key);
            }
        }
    }

    /// Something has happened to the connection `key`.
    fn look(&mut self, key: Key, now: Instant) {
        let heard = self.stack.take_heard(key);
        let Some((number, connection)) = self
            .by_key
            .get(&key)
            .and_then(|number| Some((*number, self.connections.get_mut(number)?)))
        else {
            return;
        };
        let Some(state) = self.stack.get(key) else {
            return;
        };
        if state.is_refused() || state.is_broken() || state.has_peer_closed() {
            self.news.push_back(News::Lost(number));
            return;
        }
        if let State::Connecting { begun } = connection.state
            && state.is_established()
        {
            let connect = Phase {
                begin: begun,
                end: now,
            };
            connection.state = State::Handshaking { connect };
            let (octets, hello) = (connection.hello, Message::Hello(connection.protocol));
            connection.say(&self.lines, octets, hello);
        }
        for message in self.lines.hear(connection.flow, Way::Down, heard) {
            match message {
                Message::Flight => {
                    let octets = octets::FINISHED + octets::preface(connection.protocol);
                    connection.say(&self.lines, octets, Message::Finished);
                    if let State::Handshaking { connect } = connection.state {
                        let (begin, end) = (connect.end, now);
                        let phases = [connect, Phase { begin, end }];
                        self.news.push_back(News::Ready(number, phases));
                    }
                    connection.state = State::Ready;
                }
                Message::Settings => {
                    let octets = octets::settings_ack(connection.protocol);
                    connection.say(&self.lines, octets, Message::Words);
                }
                Message::Head(object) => self.news.push_back(News::Head(object)),
                Message::Piece(piece) => self.news.push_back(News::Piece(piece)),
                Message::Hello(_) | Message::Finished | Message::Words | Message::Request(_) => {}
            }
        }
        connection.backlog.write(&mut self.stack, key);
    }
}

impl Connection {
    fn say(&mut self, lines: &Lines, octets: u64, message: Message) {
        if octets > 0 {
            lines.say(self.flow, Way::Up, octets, message);
            self.backlog.0 += octets;
        }
    }
}
