//! Version negotiation of QUIC (RFC 9000 section 6): a server that is asked for a version that it does not have answers with those that it
//! has.
//!
//! It needs no connection and no key, and keeps nothing of who asked: so every server of HTTP/3 echoes datagrams, losses and all. What any
//! version of QUIC has in common (RFC 8999) is enough to read the answer: it repeats both connection IDs of the request, one of
//! which is the request's number here, and the other tells that it was ours.
//!
//! Requests are as long as the first packet of a connection, since servers answer no shorter ones: nobody gets more octets than
//! were spent. On a slow link that takes its time: 1,228 octets of IPv4 are 2 ms at 5 Mbit/s.

use crate::{Exchange, Reply, Terms, field};
use std::time::Duration;

/// The UDP port of HTTP/3 (RFC 9114 section 3.1.2).
pub const PORT: u16 = 443;
/// Octets of a request: the least that a server answers (RFC 9000 section 14.1).
pub const LEN: usize = 1_200;
/// Requests leave no faster than this: it is somebody's server.
pub const INTERVAL: Duration = Duration::from_millis(100);

/// Long header; the rest is up to the version.
const LONG: u8 = 0x80;
/// A version that nobody may ever have (RFC 9000 section 15).
const RESERVED: u32 = 0x1a2a_3a4a;
/// Octets of either connection ID: the least that a client may choose for the server's.
const ID: u8 = 8;
/// Where the first version of an answer is.
const VERSIONS: usize = 23;

/// Who asks.
#[derive(Debug)]
pub struct Client {
    secret: u64,
}

impl Client {
    /// An exchange on `terms`; a request's length is what it is.
    pub const fn new(terms: Terms) -> Self {
        Self {
            secret: terms.secret,
        }
    }

    /// What the connection ID of a request differs by from its number.
    const fn mask(&self) -> u64 {
        self.secret.rotate_left(32)
    }
}

impl Exchange for Client {
    fn request(&mut self, number: u32, _: u64, out: &mut Vec<u8>) {
        out.clear();
        // The bit that is always set in version 1 (RFC 9000 section 17.2): some that share a port with others go by it.
        out.push(LONG | 0x40);
        out.extend(RESERVED.to_be_bytes());
        out.push(ID);
        out.extend(self.secret.to_be_bytes());
        out.push(ID);
        out.extend((self.mask() ^ u64::from(number)).to_be_bytes());
        out.resize(LEN, 0);
    }

    fn handle(&mut self, datagram: &[u8], latest: u32) -> Option<Reply> {
        let id = |at: usize| {
            let is_long_enough = *datagram.get(at)? == ID;
            let octets = field(datagram, at + 1)?;
            is_long_enough.then_some(u64::from_be_bytes(octets))
        };
        let is_negotiation = datagram.first()? & LONG != 0 && field(datagram, 1)? == [0; 4];
        let number = u32::try_from(id(5)? ^ self.mask()).ok()?;
        let is_ours = id(14)? == self.secret && datagram.len() >= VERSIONS + 4;
        (is_negotiation && is_ours && number <= latest).then_some(Reply {
            number,
            ..Reply::default()
        })
    }
}
