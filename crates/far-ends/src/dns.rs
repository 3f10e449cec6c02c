//! A query of the Domain Name System (RFC 1035) for the root's name servers, which every resolver knows without asking anybody: how
//! long the answer takes is the round trip, and little else.

use crate::{Exchange, Reply, Terms, expand, field};
use std::time::Duration;

/// The UDP port of resolvers.
pub const PORT: u16 = 53;
/// Their TCP port for DNS over TLS (RFC 7858 section 3.1).
pub const TLS_PORT: u16 = 853;
/// Their TCP port for DNS over HTTPS, and the usual path of requests (RFC 8484 section 4).
pub const HTTPS_PORT: u16 = 443;
/// See [`HTTPS_PORT`].
pub const HTTPS_PATH: &str = "/dns-query";
/// Requests leave no faster than this: it is somebody's resolver.
pub const INTERVAL: Duration = Duration::from_millis(100);

/// Behind the identifier: recursion is desired, one question.
const HEAD: [u8; 10] = [1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
/// The root, its name servers (type NS), class IN.
const QUESTION: [u8; 5] = [0, 0, 2, 0, 1];

/// Who asks.
#[derive(Debug)]
pub struct Client {
    secret: u16,
}

impl Client {
    /// An exchange on `terms`; a query's length is what it is.
    pub const fn new(terms: Terms) -> Self {
        Self {
            secret: (terms.secret & 0xffff) as u16,
        }
    }
}

impl Exchange for Client {
    fn request(&mut self, number: u32, _: u64, out: &mut Vec<u8>) {
        out.clear();
        let id = (number & 0xffff) as u16 ^ self.secret;
        out.extend(id.to_be_bytes());
        out.extend(HEAD);
        out.extend(QUESTION);
    }

    fn handle(&mut self, datagram: &[u8], latest: u32) -> Option<Reply> {
        let id = u16::from_be_bytes(field(datagram, 0)?);
        // A response, to this question; whatever it says, it has come back.
        let is_response = datagram.get(2)? & 0x80 != 0;
        let is_ours = datagram.get(12..17) == Some(&QUESTION);
        let number = expand(id ^ self.secret, latest)?;
        (is_response && is_ours).then_some(Reply {
            number,
            ..Reply::default()
        })
    }
}
