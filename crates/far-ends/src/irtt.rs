//! IRTT, the Isochronous Round-Trip Tester: numbered packets at a fixed interval, sent back with the server's time stamps and its count of
//! what came.
//!
//! A client asks for a connection with parameters ([`params`]); the server answers with a token and with the parameters that
//! it grants, which may be less. What is in a packet follows from these: the count and a window of the packets received, the
//! times at which a packet came and its reply left, by the wall clock and by one that is never set. Multi-octet fields are little-endian.
//!
//! With a [`Key`] that both ends share every packet is signed, and what is not gets no answer.
//!
//! Source: IRTT 0.9.1 (P. Heist), its documentation and its packets; protocol version 1.

mod key;
mod params;
mod server;
#[cfg(test)]
mod tests;

pub use key::Key;
pub use server::Server;

use self::key::TAG;
use self::params::Params;
use crate::{Exchange, Opening, Reply, Stamps, Terms, field};
use std::borrow::Cow;
use std::time::Duration;

/// The UDP port of servers.
pub const PORT: u16 = 2112;

const MAGIC: [u8; 3] = [0x14, 0xa7, 0x5b];
const OPEN: u8 = 1;
const REPLY: u8 = 2;
const CLOSE: u8 = 4;
const HMAC: u8 = 8;
/// The version of the protocol.
const VERSION: i64 = 1;
/// Received statistics: the count, and the window.
const COUNT: i64 = 1;
const WINDOW: i64 = 2;
/// Time stamps: when a reply leaves, when a request comes, half-way between, which is either.
const AT_SEND: i64 = 1;
const AT_RECEIVE: i64 = 2;
const AT_MIDPOINT: i64 = 4;
/// Clocks: the wall's, and the monotonic one.
const WALL: i64 = 1;
const MONOTONIC: i64 = 2;

/// Where the fields are that every packet of an open connection has.
const TOKEN: usize = 4;
const NUMBER: usize = 12;
const HEAD: usize = 16;
/// A server closes a connection that lasts longer than was said: this much longer is said.
const GRACE: Duration = Duration::from_secs(30);

/// The client of one connection.
#[derive(Debug)]
pub struct Client {
    asked: Params,
    granted: Params,
    token: u64,
    /// How long requests will come.
    duration_ns: i64,
    key: Option<Key>,
}

impl Client {
    /// A connection on `terms`, not yet open; its packets are signed where there is a key.
    pub fn new(terms: Terms, key: Option<Key>) -> Self {
        let nanos = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        let asked = Params {
            version: VERSION,
            duration_ns: nanos(terms.duration.saturating_add(GRACE)),
            interval_ns: nanos(terms.interval),
            length: i64::try_from(terms.payload).unwrap_or(i64::MAX),
            received_stats: COUNT,
            stamp_at: AT_SEND | AT_RECEIVE,
            clock: WALL,
            // The octet that the server puts into its packets' header.
            dscp: i64::from(terms.class.dscp.get()) << 2,
        };
        Self {
            asked,
            granted: asked,
            token: 0,
            duration_ns: nanos(terms.duration),
            key,
        }
    }

    fn signed(&self, mut packet: Vec<u8>) -> Vec<u8> {
        if let Some(key) = &self.key {
            key.sign(&mut packet);
        }
        packet
    }
}

/// A packet as it is without a tag; none where its tag is not that of `key`.
fn verified<'a>(packet: &'a [u8], key: Option<&Key>) -> Option<Cow<'a, [u8]>> {
    match key {
        Some(key) => Some(Cow::Owned(key.verified(packet)?)),
        None => Some(Cow::Borrowed(packet)),
    }
}

/// The flags of a packet of the protocol from a server.
fn flags(datagram: &[u8]) -> Option<u8> {
    let [magic @ .., flags] = field::<4>(datagram, 0)?;
    (magic == MAGIC && flags & REPLY != 0).then_some(flags)
}

impl Exchange for Client {
    fn opening(&self) -> Option<Vec<u8>> {
        let mut out = [MAGIC.as_slice(), &[OPEN]].concat();
        self.asked.emit(&mut out);
        Some(self.signed(out))
    }

    fn handle_opening(&mut self, datagram: &[u8]) -> Opening {
        let Some(datagram) = verified(datagram, self.key.as_ref()) else {
            return Opening::Pending;
        };
        let datagram = &*datagram;
        let Some(flags) = flags(datagram).filter(|flags| flags & OPEN != 0) else {
            return Opening::Pending;
        };
        if flags & HMAC != 0 {
            return Opening::Refused("it demands a key - give it by --irtt-key".to_owned());
        }
        let token = field(datagram, TOKEN).map(u64::from_le_bytes);
        let granted = Params::parse(datagram.get(NUMBER..).unwrap_or_default());
        let (Some(token), Some(granted)) = (token, granted) else {
            return Opening::Pending;
        };
        if flags & CLOSE != 0 || token == 0 {
            return Opening::Refused(format!(
                "it speaks version {} of the protocol",
                granted.version
            ));
        }
        if granted.interval_ns > self.asked.interval_ns {
            return Opening::Refused(format!(
                "its minimum send interval is {} ms",
                granted.interval_ns as f64 / 1e6
            ));
        }
        if granted.duration_ns < self.duration_ns {
            return Opening::Refused(format!(
                "its maximum test duration is {} s",
                granted.duration_ns as f64 / 1e9
            ));
        }
        self.token = token;
        self.granted = granted;
        Opening::Open
    }

    fn request(&mut self, number: u32, _: u64, out: &mut Vec<u8>) {
        out.clear();
        out.extend(MAGIC);
        out.push(0);
        out.extend(self.token.to_le_bytes());
        out.extend(number.to_le_bytes());
        let length = usize::try_from(self.granted.length).unwrap_or(0);
        // What was agreed on is the length with the tag.
        let tag = if self.key.is_some() { TAG } else { 0 };
        let length = length.saturating_sub(tag).max(self.granted.header());
        out.resize(length.min(usize::from(u16::MAX)), 0);
        if let Some(key) = &self.key {
            key.sign(out);
        }
    }

    fn handle(&mut self, datagram: &[u8], latest: u32) -> Option<Reply> {
        let datagram = &*verified(datagram, self.key.as_ref())?;
        let flags = flags(datagram)?;
        let token = u64::from_le_bytes(field(datagram, TOKEN)?);
        let number = u32::from_le_bytes(field(datagram, NUMBER)?);
        if flags & OPEN != 0 || token != self.token || token == 0 || number > latest {
            return None;
        }
        let fields = self.granted.fields();
        let count = |at| Some(u32::from_le_bytes(field(datagram, at)?));
        let time = |at| Some(u64::from_le_bytes(field(datagram, at)?));
        let stamps = fields.received.zip(fields.replied);
        let stamps = stamps.and_then(|(received, replied)| {
            Some(Stamps {
                received_ns: time(received)?,
                replied_ns: time(replied)?,
            })
        });
        Some(Reply {
            number,
            stamps,
            arrived: fields.count.and_then(count),
            class: None,
        })
    }

    fn closing(&self) -> Option<Vec<u8>> {
        let head = [MAGIC.as_slice(), &[CLOSE]].concat();
        Some(self.signed([head.as_slice(), &self.token.to_le_bytes()].concat()))
    }
}

/// Where the optional fields are.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Fields {
    count: Option<usize>,
    received: Option<usize>,
    replied: Option<usize>,
    /// Octets of all, the head included.
    length: usize,
}

impl Params {
    /// Where things are in packets of a connection on these parameters.
    const fn fields(&self) -> Fields {
        let mut fields = Fields {
            count: None,
            received: None,
            replied: None,
            length: HEAD,
        };
        if self.received_stats & COUNT != 0 {
            fields.count = Some(fields.length);
            fields.length += 4;
        }
        if self.received_stats & WINDOW != 0 {
            fields.length += 8;
        }
        // The wall's stamp before the monotonic one; without the wall's, that one.
        let stamp =
            8 * ((self.clock & WALL != 0) as usize + (self.clock & MONOTONIC != 0) as usize);
        if stamp == 0 {
            return fields;
        }
        if self.stamp_at & AT_MIDPOINT != 0 {
            fields.received = Some(fields.length);
            fields.replied = fields.received;
            fields.length += stamp;
            return fields;
        }
        if self.stamp_at & AT_RECEIVE != 0 {
            fields.received = Some(fields.length);
            fields.length += stamp;
        }
        if self.stamp_at & AT_SEND != 0 {
            fields.replied = Some(fields.length);
            fields.length += stamp;
        }
        fields
    }

    /// Octets of the shortest packet.
    const fn header(&self) -> usize {
        self.fields().length
    }
}
