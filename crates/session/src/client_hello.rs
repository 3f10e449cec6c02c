//! What a TLS connection says it wants, read without taking an octet.
//!
//! Web pages and control connections come in on one port. A browser names the page's host in its
//! `ClientHello` (server name, RFC 6066 section 3) and the protocols of the web (ALPN, RFC 7301); a control client does
//! neither. So the first message tells them apart, and because it is only looked at, whoever gets the
//! connection can begin at the beginning.

use rustls::server::{Accepted, Acceptor};
use std::io;
use std::net::TcpStream;
use std::time::Duration;
use units::Instant;

/// Below this every name is of a page: `HOST.TOKEN.isobath.test`.
const DOMAIN: &str = ".isobath.test";
/// A record's header: type, version, length (RFC 8446 section 5.1).
const HEADER: usize = 5;
/// Longer than any client's: Chromium's takes 1.8 kB, and one record cannot take more.
const MAX_HELLO: usize = HEADER + (1 << 14);

/// Whom a TLS connection is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Wanted {
    /// The control connection; also whatever is not understood, which fails as one.
    Control,
    /// A page of this session, if there is one.
    Web(u64),
    /// A page of nobody.
    Nothing,
}

/// Looks at the `ClientHello` on `socket`, waiting for it until `by`. On the way out the socket has the
/// time-out of the last look.
pub(crate) fn peek(socket: &TcpStream, by: Instant) -> Wanted {
    let wanted = look(socket, by).ok().flatten();
    // One octet is what every reader expects to be woken for.
    let _ = sys::tcp::set_receive_threshold(socket, 1);
    wanted.unwrap_or(Wanted::Control)
}

/// `None` when it is not there in time, is too long, or is no `ClientHello`.
fn look(socket: &TcpStream, by: Instant) -> io::Result<Option<Wanted>> {
    let mut octets = vec![0; MAX_HELLO];
    let mut acceptor = Acceptor::default();
    let mut end = 0;
    while let Some(record) = next_record(socket, by, &mut octets, end)? {
        let mut rest = &octets[end..record];
        end = record;
        while !rest.is_empty() {
            acceptor.read_tls(&mut rest)?;
            match acceptor.accept() {
                Ok(Some(hello)) => return Ok(Some(judge(&hello))),
                Ok(None) => {}
                Err(_) => return Ok(None),
            }
        }
    }
    Ok(None)
}

/// Where the record ends that begins at `start`, when all of it is there.
fn next_record(
    socket: &TcpStream,
    by: Instant,
    octets: &mut [u8],
    start: usize,
) -> io::Result<Option<usize>> {
    let body = start + HEADER;
    if body > octets.len() || !is_there(socket, by, &mut octets[..body])? {
        return Ok(None);
    }
    let length = u16::from_be_bytes([octets[body - 2], octets[body - 1]]);
    let end = body + usize::from(length);
    let whole = end <= octets.len() && is_there(socket, by, &mut octets[..end])?;
    Ok(whole.then_some(end))
}

/// Waits until as many octets as `buffer` takes have come, and copies them.
fn is_there(socket: &TcpStream, by: Instant, buffer: &mut [u8]) -> io::Result<bool> {
    let left = by.since(sys::clock::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    socket.set_read_timeout(Some(left.max(Duration::from_micros(1))))?;
    // The kernel wakes nobody before that many have come (socket(7)), however slowly they do.
    let threshold = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
    sys::tcp::set_receive_threshold(socket, threshold).map_err(io::Error::other)?;
    Ok(socket.peek(buffer)? == buffer.len())
}

fn judge(accepted: &Accepted) -> Wanted {
    let hello = accepted.client_hello();
    let is_web = |name: &[u8]| name == b"h2" || name == b"http/1.1";
    let speaks_web = hello.alpn().is_some_and(|mut names| names.any(is_web));
    match hello.server_name() {
        Some(name) if speaks_web => by_name(name),
        _ => Wanted::Control,
    }
}

fn by_name(name: &str) -> Wanted {
    let name = name.to_ascii_lowercase();
    let Some(labels) = name.strip_suffix(DOMAIN) else {
        return Wanted::Control;
    };
    token(labels).map_or(Wanted::Nothing, Wanted::Web)
}

/// The session in `HOST.TOKEN`: exactly 16 digits, of which `from_str_radix` alone is no judge.
fn token(labels: &str) -> Option<u64> {
    let (_, token) = labels.rsplit_once('.')?;
    let is_token = token.len() == 16 && token.bytes().all(|octet| octet.is_ascii_hexdigit());
    is_token.then(|| u64::from_str_radix(token, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_whose_page_is_meant() {
        let table = [
            (
                "www.0123456789abcdef.isobath.test",
                Wanted::Web(0x0123_4567_89ab_cdef),
            ),
            ("a.b.00000000000000FF.Isobath.TEST", Wanted::Web(255)),
            ("www.+123456789abcdef.isobath.test", Wanted::Nothing),
            ("www.123.isobath.test", Wanted::Nothing),
            ("0123456789abcdef.isobath.test", Wanted::Nothing),
            ("isobath.test", Wanted::Control),
            ("www.0123456789abcdef.isobath.test.example", Wanted::Control),
        ];
        for (name, wanted) in table {
            assert_eq!(by_name(name), wanted, "{name}");
        }
    }
}
