//! Who may ask: what a request shows of whom it is from and whom it is for.

use hyper::Request;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HOST, HeaderValue};
use kit::host::is_own_name;

/// Whether the request is for this host, by the name that it gives.
pub(super) fn is_for_this_host(request: &Request<Incoming>) -> bool {
    let named = request.headers().get(HOST).map(HeaderValue::to_str);
    match named {
        // HTTP/1.0, which no browser speaks.
        None => true,
        Some(Ok(name)) => is_own_name(name),
        Some(Err(_)) => false,
    }
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
