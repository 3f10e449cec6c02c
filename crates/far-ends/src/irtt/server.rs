//! A server for IRTT's clients.
//!
//! It answers like theirs, with less to give away: a reply is no longer than its request (an opening's is longer by the token's 8
//! octets, as the protocol wants it), and replies leave as best effort. With a key, only what is signed by it gets a reply, which is signed, too; without
//! one, what is signed gets none.

use super::params::Params;
use super::{
    AT_MIDPOINT, AT_RECEIVE, AT_SEND, CLOSE, COUNT, HEAD, HMAC, Key, MAGIC, MONOTONIC, NUMBER,
    OPEN, REPLY, TOKEN, VERSION, WALL, WINDOW, verified,
};
use crate::{Moment, Request, Responder, field};
use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;

/// The longest that a connection may ask for, in nanoseconds: an hour.
const LONGEST_NS: i64 = 3_600_000_000_000;
/// The longest packet that may be asked for, octets.
const LONGEST: i64 = 1_472;
/// A connection lives so much longer than it has asked for, in nanoseconds.
const GRACE_NS: u64 = 5_000_000_000;

/// A server of up to so many connections at once.
#[derive(Debug)]
pub struct Server {
    connections: BTreeMap<u64, Connection>,
    /// Tokens, the one that was given first in front.
    order: VecDeque<u64>,
    most: usize,
    secret: u64,
    given: u64,
    key: Option<Key>,
}

#[derive(Debug)]
struct Connection {
    peer: SocketAddr,
    params: Params,
    /// By the clock that is never set; later requests get no reply.
    ends_ns: u64,
    count: u32,
    /// Number of the request that came last, and which of the 64 up to it have come.
    latest: Option<(u32, u64)>,
}

impl Server {
    /// One that has `most` connections, and forgets the eldest for a new one. `secret` makes its tokens; `key` is shared with its clients.
    pub const fn new(most: usize, secret: u64, key: Option<Key>) -> Self {
        Self {
            connections: BTreeMap::new(),
            order: VecDeque::new(),
            most,
            secret,
            given: 0,
            key,
        }
    }

    /// Answers a request without a tag.
    fn answer(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> bool {
        let Some([magic @ .., flags]) = field::<4>(request.octets, 0) else {
            return false;
        };
        if magic != MAGIC || flags & (REPLY | HMAC) != 0 {
            return false;
        }
        if flags & OPEN != 0 {
            return self.open(request, flags, out);
        }
        let Some(token) = field(request.octets, TOKEN).map(u64::from_le_bytes) else {
            return false;
        };
        if flags & CLOSE != 0 {
            self.close(token, request.peer);
            return false;
        }
        self.echo(request, token, out)
    }

    fn open(&mut self, request: &Request<'_>, flags: u8, out: &mut Vec<u8>) -> bool {
        let Some(asked) = Params::parse(&request.octets[TOKEN..]) else {
            return false;
        };
        let granted = grant(asked);
        let mut params = Vec::new();
        granted.emit(&mut params);
        // Whoever leaves parameters out gets no longer answer than he asked for.
        if params.len() > request.octets.len() - TOKEN {
            return false;
        }
        out.extend(MAGIC);
        if asked.version != VERSION || flags & CLOSE != 0 {
            // It is not for long: whoever only asks is told the parameters.
            out.push(OPEN | REPLY | CLOSE);
            out.extend(0_u64.to_le_bytes());
        } else {
            out.push(OPEN | REPLY);
            out.extend(self.admit(request, granted).to_le_bytes());
        }
        out.extend(params);
        true
    }

    /// A new connection's token.
    fn admit(&mut self, request: &Request<'_>, params: Params) -> u64 {
        if self.order.len() >= self.most.max(1) {
            let eldest = self.order.pop_front();
            eldest.and_then(|eldest| self.connections.remove(&eldest));
        }
        self.given = self.given.wrapping_add(1);
        let token = token(self.secret, self.given);
        let duration = u64::try_from(params.duration_ns).unwrap_or(0);
        let connection = Connection {
            peer: request.peer,
            params,
            ends_ns: request
                .received
                .mono_ns
                .saturating_add(duration)
                .saturating_add(GRACE_NS),
            count: 0,
            latest: None,
        };
        self.connections.insert(token, connection);
        self.order.push_back(token);
        token
    }

    fn echo(&mut self, request: &Request<'_>, token: u64, out: &mut Vec<u8>) -> bool {
        let octets = request.octets;
        let connection = self.connections.get_mut(&token);
        let Some(connection) = connection.filter(|connection| connection.peer == request.peer)
        else {
            return false;
        };
        let number = field(octets, NUMBER).map(u32::from_le_bytes);
        let (Some(number), fields) = (number, connection.params.fields()) else {
            return false;
        };
        if octets.len() < fields.length || request.received.mono_ns > connection.ends_ns {
            return false;
        }
        connection.note(number);
        out.extend(&octets[..HEAD]);
        out[3] = REPLY;
        connection.emit(request, out);
        out.extend(&octets[fields.length..]);
        true
    }

    fn close(&mut self, token: u64, peer: SocketAddr) {
        if self
            .connections
            .get(&token)
            .is_some_and(|connection| connection.peer == peer)
        {
            self.connections.remove(&token);
            self.order.retain(|other| *other != token);
        }
    }
}

impl Responder for Server {
    fn respond(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> bool {
        out.clear();
        let key = self.key.clone();
        let Some(octets) = verified(request.octets, key.as_ref()) else {
            return false;
        };
        let octets = &*octets;
        let is_answered = self.answer(&Request { octets, ..*request }, out);
        if let Some(key) = key.filter(|_| is_answered) {
            key.sign(out);
        }
        is_answered
    }
}

impl Connection {
    /// Request `number` has come.
    fn note(&mut self, number: u32) {
        self.count = self.count.saturating_add(1);
        let shifted = |window: u64, by: u32| window.checked_shl(by).unwrap_or(0);
        self.latest = Some(match self.latest {
            None => (number, 1),
            Some((latest, window)) if number >= latest => {
                (number, shifted(window, number - latest) | 1)
            }
            Some((latest, window)) => (latest, window | shifted(1, latest - number)),
        });
    }

    /// Count, window and time stamps, as far as they were asked for.
    fn emit(&self, request: &Request<'_>, out: &mut Vec<u8>) {
        let params = &self.params;
        if params.received_stats & COUNT != 0 {
            out.extend(self.count.to_le_bytes());
        }
        if params.received_stats & WINDOW != 0 {
            let window = self.latest.map_or(0, |(_, window)| window);
            out.extend(window.to_le_bytes());
        }
        let mut stamp = |moment: Moment| {
            if params.clock & WALL != 0 {
                out.extend(moment.wall_ns.to_le_bytes());
            }
            if params.clock & MONOTONIC != 0 {
                out.extend(moment.mono_ns.to_le_bytes());
            }
        };
        if params.stamp_at & AT_MIDPOINT != 0 {
            return stamp(request.received.midpoint(request.replied));
        }
        if params.stamp_at & AT_RECEIVE != 0 {
            stamp(request.received);
        }
        if params.stamp_at & AT_SEND != 0 {
            stamp(request.replied);
        }
    }
}

impl Moment {
    const fn midpoint(self, other: Self) -> Self {
        Self {
            wall_ns: u64::midpoint(self.wall_ns, other.wall_ns),
            mono_ns: u64::midpoint(self.mono_ns, other.mono_ns),
        }
    }
}

/// What a client gets of what it asks for.
fn grant(asked: Params) -> Params {
    Params {
        version: VERSION,
        duration_ns: asked.duration_ns.clamp(1, LONGEST_NS),
        interval_ns: asked.interval_ns.max(1),
        length: asked.length.clamp(0, LONGEST),
        received_stats: asked.received_stats & (COUNT | WINDOW),
        stamp_at: match asked.stamp_at {
            AT_MIDPOINT => AT_MIDPOINT,
            other => other & (AT_SEND | AT_RECEIVE),
        },
        clock: asked.clock & (WALL | MONOTONIC),
        dscp: 0,
    }
}

/// A connection's token, which who has no secret cannot tell from others; never 0, which is none.
fn token(secret: u64, number: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    (secret, number).hash(&mut hasher);
    hasher.finish().max(1)
}
