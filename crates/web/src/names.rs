//! The names of a page's hosts: `HOST.TOKEN.isobath.test`.
//!
//! `HOST` is a host of the page model and `TOKEN` the session's number in 16 hexadecimal digits, so
//! the far end knows from a look-up, from the name in a `ClientHello` (RFC 6066 section 3) and from
//! a `Host` header whose page is meant. `.test` is never delegated (RFC 6761 section 6.2): outside
//! a measurement nobody answers for these names.

use core::fmt;

/// The domain below which all pages live.
pub const DOMAIN: &str = "isobath.test";
/// No host of a page has a longer name; with it no name is too long for a query.
pub const MAX_HOST: usize = 32;

/// The full name of `host` for the session `token`.
pub fn host_name(host: &str, token: u64) -> String {
    HostName { host, token }.to_string()
}

/// A host's name in its parts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HostName<'a> {
    /// The host of the page model, as it was written.
    pub host: &'a str,
    /// The session.
    pub token: u64,
}

impl<'a> HostName<'a> {
    /// Takes `name` apart, with or without the root's dot; `None` when it is no name of ours.
    /// Letter case does not matter (RFC 4343).
    pub fn parse(name: &'a str) -> Option<Self> {
        let name = name.strip_suffix('.').unwrap_or(name);
        let (host, rest) = name.split_once('.')?;
        let (token, domain) = rest.split_once('.')?;
        let is_ours = is_host(&host.to_ascii_lowercase()) && domain.eq_ignore_ascii_case(DOMAIN);
        is_ours.then_some(())?;
        let token = parse_token(token)?;
        Some(Self { host, token })
    }
}

impl fmt::Display for HostName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:016x}.{DOMAIN}", self.host, self.token)
    }
}

/// Whether `text` may be a page's host: a short label of the DNS in lower case.
pub(crate) fn is_host(text: &str) -> bool {
    let fits = (1..=MAX_HOST).contains(&text.len());
    let inner = |octet: u8| matches!(octet, b'a'..=b'z' | b'0'..=b'9' | b'-');
    fits && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

/// Exactly 16 digits: `from_str_radix` alone would also take `+1`.
fn parse_token(text: &str) -> Option<u64> {
    let is_token = text.len() == 16 && text.bytes().all(|octet| octet.is_ascii_hexdigit());
    is_token.then(|| u64::from_str_radix(text, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_of_others_are_not_ours() {
        for name in [
            "",
            "isobath.test",
            "www.isobath.test",
            "www.0123456789abcde.isobath.test",
            "www.+123456789abcdef.isobath.test",
            "a.www.0123456789abcdef.isobath.test",
            ".0123456789abcdef.isobath.test",
            "www.0123456789abcdef.isobath.test.example",
            "www.0123456789abcdef.xisobath.test",
            "-.0123456789abcdef.isobath.test",
        ] {
            assert_eq!(HostName::parse(name), None, "{name}");
        }
    }

    proptest! {
        #[test]
        fn a_name_is_read_as_it_was_written(host in "[a-z0-9]{1,32}", token: u64) {
            let name = host_name(&host, token);
            let site = HostName { host: &host, token };
            prop_assert_eq!(HostName::parse(&name), Some(site));
            let rooted = format!("{name}.");
            prop_assert_eq!(HostName::parse(&rooted), Some(site));
            let upper = name.to_uppercase();
            prop_assert_eq!(HostName::parse(&upper).map(|site| site.token), Some(token));
        }

        #[test]
        fn no_text_panics(name in ".{0,80}") {
            let _ = HostName::parse(&name);
        }
    }
}
