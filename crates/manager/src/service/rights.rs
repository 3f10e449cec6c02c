//! Who may ask: what a request shows of whom it is from and whom it is for.

use hyper::Request;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HOST, HeaderValue};
use std::net::IpAddr;

/// Whether the request is for this host. A web page of somebody else's can make a browser here ask under the page's own name, whose
/// address its owner changes to this host's (DNS rebinding); to an address, to `localhost` and to this host's own name it cannot.
pub(super) fn is_own_name(request: &Request<Incoming>) -> bool {
    let named = request.headers().get(HOST).map(HeaderValue::to_str);
    match named {
        // HTTP/1.0, which no browser speaks.
        None => true,
        Some(Ok(name)) => is_own(name, &sys::proc::hostname()),
        Some(Err(_)) => false,
    }
}

/// Whether `host` (with a port, perhaps) is an address, `localhost` or `own`.
fn is_own(host: &str, own: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|octet| octet.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = |name: &str| name.parse::<IpAddr>().is_ok();
    let inside = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    let is_address = inside.map_or_else(|| bare(name), bare);
    let is = |other: &str| !other.is_empty() && name.eq_ignore_ascii_case(other);
    is_address || is("localhost") || is(own)
}

/// Compares all octets, wherever the first difference is; only the length of the key shows.
pub(super) fn has_key(request: &Request<Incoming>, key: &str) -> bool {
    let given = request.headers().get(AUTHORIZATION);
    let given = given.and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    given.is_some_and(|given| is_same(given, key.as_bytes()))
}

fn is_same(given: &[u8], key: &[u8]) -> bool {
    let pairs = given.iter().zip(key);
    let difference = pairs.fold(0, |all, (a, b)| std::hint::black_box(all | (a ^ b)));
    given.len() == key.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_asked_for_by_this_hosts_name_or_address() {
        for host in [
            "127.0.0.1:9489",
            "127.0.0.1",
            "[::1]:9489",
            "[::1]",
            "localhost:9489",
            "LocalHost",
            "m3.example.org:9489",
        ] {
            assert!(is_own(host, "m3.example.org"), "{host}");
        }
        for host in [
            "",
            ":9489",
            "rebound.example.net:9489",
            "127.0.0.1.example.net",
            "localhost.example.net:9489",
            "127.0.0.1@example.net",
            "[example.net]:1",
        ] {
            assert!(!is_own(host, "m3.example.org"), "{host}");
        }
        assert!(!is_own("", ""));
    }

    #[test]
    fn a_key_is_the_same_or_not() {
        assert!(is_same(b"0123456789abcdef", b"0123456789abcdef"));
        for other in [
            &b""[..],
            b"0123456789abcdeF",
            b"0123456789abcde",
            b"0123456789abcdef0",
        ] {
            assert!(!is_same(other, b"0123456789abcdef"));
        }
    }
}
