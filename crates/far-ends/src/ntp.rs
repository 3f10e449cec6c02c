//! The Network Time Protocol in client mode (RFC 5905): every server of time tells when a request came and when its reply left.
//!
//! A client fills in one field, the time at which it sends, and the server repeats it, whatever it is. So it need not be a time: here it
//! is a number that nobody can guess (RFC 9109 for ports, and for this field the practice of all clients of today), which also
//! tells whose reply it is.
//!
//! Servers for everybody want few requests, and answer more of them with a *kiss of death* or not at all: at least a second lies
//! between two ([`INTERVAL`]).

use crate::time::from_ntp;
use crate::{Exchange, Reply, Stamps, Terms, field};
use std::time::Duration;

/// The UDP port of NTP servers.
pub const PORT: u16 = 123;
/// Octets of a packet without extensions.
pub const LEN: usize = 48;
/// Requests leave no faster than this.
pub const INTERVAL: Duration = Duration::from_secs(1);

/// No leap second is known, version 4, client.
const REQUEST: u8 = 4 << 3 | 3;
/// Mode: server.
const SERVER: u8 = 4;

/// A client.
#[derive(Debug)]
pub struct Client {
    secret: u64,
}

impl Client {
    /// An exchange on `terms`; a packet's length is what it is.
    pub const fn new(terms: Terms) -> Self {
        Self {
            secret: terms.secret,
        }
    }
}

impl Exchange for Client {
    fn request(&mut self, number: u32, _: u64, out: &mut Vec<u8>) {
        out.clear();
        out.push(REQUEST);
        out.resize(LEN - 8, 0);
        out.extend((self.secret ^ u64::from(number)).to_be_bytes());
    }

    fn handle(&mut self, datagram: &[u8], latest: u32) -> Option<Reply> {
        let time = |at| Some(u64::from_be_bytes(field(datagram, at)?));
        let number = u32::try_from(time(24)? ^ self.secret).ok()?;
        let is_reply = datagram.first()? & 7 == SERVER && datagram.len() >= LEN;
        // Stratum 0 is no time but a kiss: a code instead of the server's name (RFC 5905 section 7.4).
        let is_kiss = datagram[1] == 0;
        (is_reply && !is_kiss && number <= latest).then_some(Reply {
            number,
            stamps: Some(Stamps {
                received_ns: from_ntp(time(32)?),
                replied_ns: from_ntp(time(40)?),
            }),
            ..Reply::default()
        })
    }
}
