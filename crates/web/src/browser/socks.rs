//! SOCKS version 5, as much as a browser uses of it: `CONNECT` to a host's name, without
//! authentication.
//!
//! RFC 1928. The client says which ways of authentication it knows (section 3), the proxy chooses;
//! the client says where to connect to (section 4), the proxy connects and answers (section 6), and
//! from then on octets are passed both ways. Parsing is without I/O: a parser looks at all octets that
//! have arrived and says what they are, that more are needed, or that they are no SOCKS.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The version, first octet of every message.
const VERSION: u8 = 5;
/// No authentication (section 3).
const NO_AUTHENTICATION: u8 = 0;
/// The longest message: a greeting with 255 methods; a request with a name of 255 octets has 262.
pub const MAX_MESSAGE: usize = 262;

/// The answer to a greeting: no authentication.
pub const WELCOME: [u8; 2] = [VERSION, NO_AUTHENTICATION];
/// The answer to a greeting that does not offer that.
pub const UNWELCOME: [u8; 2] = [VERSION, 0xff];

/// What a client asks for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Request {
    /// Host to connect to: a name, or an address in its usual form.
    pub host: String,
    /// Its port.
    pub port: u16,
}

/// Octets that have been understood, and how many of them there were.
pub type Parsed<T> = Option<(T, usize)>;

/// These octets are no SOCKS 5, or not what is supported of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Refused {
    /// Another protocol, or another version of this one.
    #[error("not SOCKS version 5")]
    Version,
    /// `BIND` or `UDP ASSOCIATE` (section 4).
    #[error("a command other than CONNECT")]
    Command,
    /// An address of unknown type, or a name that is none.
    #[error("no address or name of a host")]
    Address,
}

impl Refused {
    /// The code with which it is answered (section 6).
    pub const fn reply(self) -> Reply {
        match self {
            Self::Version => Reply::Failure,
            Self::Command => Reply::CommandNotSupported,
            Self::Address => Reply::AddressNotSupported,
        }
    }
}

/// What became of a request (section 6).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reply {
    /// Connected.
    Succeeded = 0,
    /// Not connected, for no reason of the path.
    Failure = 1,
    /// Not connected: the name is unknown, or nobody answered.
    HostUnreachable = 4,
    /// A command other than CONNECT.
    CommandNotSupported = 7,
    /// Neither an address nor a name.
    AddressNotSupported = 8,
}

impl Reply {
    /// As it is sent. The address from which the proxy connected is of no use to anybody: zeros.
    pub const fn octets(self) -> [u8; 10] {
        [VERSION, self as u8, 0, 1, 0, 0, 0, 0, 0, 0]
    }
}

/// Reads a greeting (section 3): whether it offers to do without authentication. `None` when it has
/// not all arrived.
///
/// # Errors
///
/// [`Refused::Version`].
pub fn greeting(octets: &[u8]) -> Result<Parsed<bool>, Refused> {
    check_version(octets)?;
    let methods = octets.get(1).copied().map(usize::from);
    let whole = methods.and_then(|count| octets.get(2..2 + count));
    Ok(whole.map(|methods| (methods.contains(&NO_AUTHENTICATION), 2 + methods.len())))
}

/// Reads a request (section 4). `None` when it has not all arrived.
///
/// # Errors
///
/// When it is no SOCKS 5, no CONNECT, or names no host.
pub fn request(octets: &[u8]) -> Result<Parsed<Request>, Refused> {
    check_version(octets)?;
    if octets.get(1).is_some_and(|command| *command != 1) {
        return Err(Refused::Command);
    }
    let Some(kind) = octets.get(3) else {
        return Ok(None);
    };
    let (start, length) = match (*kind, octets.get(4)) {
        (1, _) => (4, 4),
        (4, _) => (4, 16),
        (3, Some(0)) => return Err(Refused::Address),
        (3, Some(length)) => (5, usize::from(*length)),
        (3, None) => return Ok(None),
        _ => return Err(Refused::Address),
    };
    let end = start + length;
    let Some(&[high, low]) = octets.get(end..end + 2) else {
        return Ok(None);
    };
    let host = host(&octets[start..end], *kind == 3)?;
    let port = u16::from_be_bytes([high, low]);
    Ok(Some((Request { host, port }, end + 2)))
}

fn check_version(octets: &[u8]) -> Result<(), Refused> {
    match octets.first() {
        Some(&VERSION) | None => Ok(()),
        Some(_) => Err(Refused::Version),
    }
}

/// A name as in a URL: letters, digits, hyphens, dots and underscores (some hosts have them).
fn host(octets: &[u8], is_name: bool) -> Result<String, Refused> {
    if is_name {
        let is_allowed = |c: &u8| c.is_ascii_alphanumeric() || b"-._".contains(c);
        let name = octets
            .iter()
            .all(is_allowed)
            .then(|| octets.to_ascii_lowercase());
        return name
            .and_then(|name| String::from_utf8(name).ok())
            .ok_or(Refused::Address);
    }
    let v4 = <[u8; 4]>::try_from(octets).map(|v4| Ipv4Addr::from(v4).to_string());
    let v6 = <[u8; 16]>::try_from(octets).map(|v6| Ipv6Addr::from(v6).to_string());
    v4.or(v6).map_err(|_| Refused::Address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn named(name: &str, port: u16) -> Vec<u8> {
        let length = u8::try_from(name.len()).unwrap();
        let head = [5, 1, 0, 3, length];
        [&head, name.as_bytes(), &port.to_be_bytes()].concat()
    }

    #[test]
    fn a_browser_s_conversation_is_understood() {
        assert_eq!(greeting(&[5, 1, 0]), Ok(Some((true, 3))));
        let octets = named("www.Example.test", 443);
        let wanted = Request {
            host: "www.example.test".to_owned(),
            port: 443,
        };
        assert_eq!(request(&octets), Ok(Some((wanted, octets.len()))));
        assert_eq!(Reply::Succeeded.octets()[..4], [5, 0, 0, 1]);
    }

    #[test]
    fn addresses_are_understood_too() {
        let host = |octets: &[u8]| request(octets).map(|found| found.map(|(r, _)| r.host));
        let v4 = [5, 1, 0, 1, 192, 0, 2, 7, 0, 80];
        assert_eq!(host(&v4), Ok(Some("192.0.2.7".to_owned())));
        let mut v6 = vec![5, 1, 0, 4];
        v6.extend(Ipv6Addr::LOCALHOST.octets());
        v6.extend([0, 80]);
        assert_eq!(host(&v6), Ok(Some("::1".to_owned())));
    }

    #[test]
    fn what_is_not_supported_is_refused_with_its_own_code() {
        assert_eq!(greeting(&[4, 1, 0]), Err(Refused::Version));
        assert_eq!(greeting(b"GET / HTTP/1.1"), Err(Refused::Version));
        assert_eq!(greeting(&[5, 1, 2]), Ok(Some((false, 3))));
        assert_eq!(request(&[5, 2]), Err(Refused::Command));
        assert_eq!(request(&[5, 1, 0, 9, 0]), Err(Refused::Address));
        assert_eq!(request(&[5, 1, 0, 3, 0]), Err(Refused::Address));
        assert_eq!(request(&named("a b", 1)), Err(Refused::Address));
        assert_eq!(Refused::Command.reply() as u8, 7);
    }

    proptest! {
        #[test]
        fn octets_never_panic_and_nothing_is_read_that_is_not_there(octets in vec(any::<u8>(), 0..300)) {
            if let Ok(Some((_, length))) = greeting(&octets) {
                prop_assert!(length <= octets.len() && length <= MAX_MESSAGE);
            }
            if let Ok(Some((request, length))) = request(&octets) {
                prop_assert!(length <= octets.len() && length <= MAX_MESSAGE);
                prop_assert!(!request.host.is_empty());
            }
        }

        #[test]
        fn a_request_is_understood_once_it_is_whole_and_not_before(
            name in "[a-z0-9]([a-z0-9.-]{0,253}[a-z0-9])?",
            port: u16,
        ) {
            let octets = named(&name, port);
            for cut in 0..octets.len() {
                prop_assert_eq!(request(&octets[..cut]), Ok(None));
            }
            let length = octets.len();
            prop_assert_eq!(request(&octets), Ok(Some((Request { host: name, port }, length))));
        }
    }
}
