//! How many octets HTTPS takes on a connection: for loads in virtual time, where nothing is encrypted.
//!
//! Sizes of TLS's messages are those of this crate's own ends with a certificate of the far end's kind, counted on sockets
//! (`tests/octets.rs` holds them against real loads). Compressed headers (RFC 7541) are estimates: what a connection has not
//! said yet takes three quarters of its length, what it has takes an octet.

use crate::loader::AGENT;
use crate::tls::RECORD;
use units::HttpVersion;

/// What a record adds: its header, the type of its content, and the tag (RFC 8446 section 5.2).
const OVERHEAD: u64 = 5 + 1 + 16;
/// Text of a full record.
const FRAGMENT: u64 = RECORD as u64 - 5;
/// The header of a frame (RFC 9113 section 4.1).
const FRAME: u64 = 9;
/// Of a body at most so much is sent at once: a frame of HTTP/2, a write of HTTP/1.1.
pub const PIECE: u64 = 16 << 10;

/// The client's first message (`ClientHello`) to `host`.
pub const fn hello(host: &str, protocol: HttpVersion) -> u64 {
    226 + host.len() as u64 + protocol.name().len() as u64
}

/// The server's answer, from `ServerHello` to `Finished`.
pub const fn flight(protocol: HttpVersion) -> u64 {
    668 + protocol.name().len() as u64
}

/// The client's `Finished`.
pub const FINISHED: u64 = 80;

/// What the client says of HTTP before its first request: preface, settings and window (RFC 9113 section 3.4).
pub const fn preface(protocol: HttpVersion) -> u64 {
    match protocol {
        HttpVersion::H2 => record(24) + record(46),
        _ => 0,
    }
}

/// What the server says of HTTP before its first answer: settings, and that it has read those of the client.
pub const fn settings(protocol: HttpVersion) -> u64 {
    match protocol {
        HttpVersion::H2 => record(33) + record(22),
        _ => 0,
    }
}

/// That the client has read the server's settings.
pub const fn settings_ack(protocol: HttpVersion) -> u64 {
    match protocol {
        HttpVersion::H2 => record(FRAME),
        _ => 0,
    }
}

/// Text of a request for `path` of `authority`, the connection's first or a later one: what is asked at once is in one [`record`].
pub const fn request(protocol: HttpVersion, is_first: bool, authority: &str, path: &str) -> u64 {
    let (authority, path) = (authority.len() as u64, path.len() as u64);
    let agent = AGENT.len() as u64;
    match protocol {
        // Request line, field names and what else is constant: as `loader/exchange.rs` asks.
        HttpVersion::Http1 => 133 + authority + path + agent,
        _ if is_first => FRAME + 51 + (authority + path + agent) * 3 / 4,
        _ => FRAME + 12 + path * 3 / 4,
    }
}

/// Text of the head of an answer, the connection's first or a later one.
pub const fn head(protocol: HttpVersion, is_first: bool) -> u64 {
    match (protocol, is_first) {
        (HttpVersion::Http1, _) => 198,
        (_, true) => FRAME + 110,
        (_, false) => FRAME + 20,
    }
}

/// A piece of `octets` of a body, with what stands `before` it in its record.
pub const fn piece(protocol: HttpVersion, before: u64, octets: u64) -> u64 {
    let frame = match protocol {
        HttpVersion::Http1 => 0,
        _ => FRAME,
    };
    record(before + frame + octets)
}

/// So many octets of text in records.
pub const fn record(text: u64) -> u64 {
    text + text.div_ceil(FRAGMENT) * OVERHEAD
}
