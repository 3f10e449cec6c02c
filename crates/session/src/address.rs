//! The host on the command line: a name or an address, with or without a port.

use crate::Error;
use std::net::{Ipv6Addr, SocketAddr, ToSocketAddrs};

/// The port of `isobath serve`, TCP and UDP.
pub const DEFAULT_PORT: u16 = 4890;

/// One of the two internet protocols, where only that one is wanted (`-4`, `-6`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Family {
    /// Internet protocol version 4.
    V4,
    /// Internet protocol version 6.
    V6,
}

impl Family {
    /// The family of `address`.
    pub const fn of(address: &SocketAddr) -> Self {
        match address {
            SocketAddr::V4(_) => Self::V4,
            SocketAddr::V6(_) => Self::V6,
        }
    }
}

/// All addresses, of `family` if one is asked for, of a host as it is typed on a command line: `host`, `host:port`, `[v6]:port`,
/// `[v6]` or a bare IPv6 address; without a port, `usual` is meant. Never none.
///
/// # Errors
/// When it is no host, or has no address.
pub fn resolve(host: &str, usual: u16, family: Option<Family>) -> Result<Vec<SocketAddr>, Error> {
    Target::parse(host, usual)?.resolve(family)
}

/// Which option takes the other version of IP, where the host that `addresses` were found for has one of it, too, as what is added to an
/// error: its program may listen only there. Else empty.
pub fn other_version(addresses: &[SocketAddr]) -> &'static str {
    let Some(is_v4) = addresses.first().map(SocketAddr::is_ipv4) else {
        return "";
    };
    let has_other = addresses.iter().any(|other| other.is_ipv4() != is_v4);
    match (has_other, is_v4) {
        (false, _) => "",
        (true, true) => " (it has an IPv6 address, too: try -6)",
        (true, false) => " (it has an IPv4 address, too: try -4)",
    }
}

/// `reason` with what [`other_version`] says, where the reason is that nobody was found; else none.
pub fn or_other(reason: &str, other: &str) -> Option<String> {
    let absences = [
        "cannot connect",
        "nobody answers",
        "not answer",
        "no ndt7 server",
        "no iperf3 server",
    ];
    let is_absence = absences.iter().any(|absence| reason.contains(absence));
    (is_absence && !other.is_empty()).then(|| format!("{reason}{other}"))
}

/// A host and a port, as typed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Target {
    host: String,
    port: u16,
}

impl Target {
    /// Reads `host`, `host:port`, `[v6]:port`, `[v6]` or a bare IPv6 address; without a port, `usual` is meant.
    pub(crate) fn parse(text: &str, usual: u16) -> Result<Self, Error> {
        Self::split(text.trim(), usual).ok_or_else(|| Error::Host {
            host: text.to_owned(),
        })
    }

    fn split(text: &str, usual: u16) -> Option<Self> {
        let (host, port) = if let Some(rest) = text.strip_prefix('[') {
            let (host, port) = rest.split_once(']')?;
            v6(host)?;
            (
                host,
                if port.is_empty() {
                    None
                } else {
                    Some(port.strip_prefix(':')?)
                },
            )
        } else if v6(text).is_some() {
            (text, None)
        } else {
            match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            }
        };
        let forbidden = |c: char| c.is_whitespace() || c.is_control() || "/@[]".contains(c);
        if host.is_empty() || host.contains(forbidden) {
            return None;
        }
        Some(Self {
            host: host.to_owned(),
            port: port.map_or(Some(usual), number)?,
        })
    }

    /// All addresses of the host, of `family` if one is asked for; never none.
    pub(crate) fn resolve(&self, family: Option<Family>) -> Result<Vec<SocketAddr>, Error> {
        let unresolved = |reason: String| Error::Resolve {
            host: self.host.clone(),
            reason,
        };
        let found = (self.host.as_str(), self.port)
            .to_socket_addrs()
            .map_err(|error| unresolved(error.to_string()))?;
        let wanted = |address: &SocketAddr| family.is_none_or(|only| only == Family::of(address));
        let addresses: Vec<SocketAddr> = found.filter(wanted).collect();
        if addresses.is_empty() {
            return Err(unresolved(match family {
                Some(Family::V4) => "it has no IPv4 address".to_owned(),
                Some(Family::V6) => "it has no IPv6 address".to_owned(),
                None => "it has no address".to_owned(),
            }));
        }
        Ok(addresses)
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// An IPv6 address, with or without a zone (`fe80::1%eth0`).
fn v6(text: &str) -> Option<Ipv6Addr> {
    let address = text.split_once('%').map_or(text, |(address, _)| address);
    address.parse().ok()
}

/// A port; `+80`, which `u16` would take, is none.
fn number(text: &str) -> Option<u16> {
    let port = text.parse().ok()?;
    (port != 0 && text.bytes().all(|c| c.is_ascii_digit())).then_some(port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_version_of_ip_is_named_where_there_is_one() {
        let [v4, v6] = ["192.0.2.1:9", "[2001:db8::1]:9"].map(|text| text.parse().unwrap());
        assert_eq!(other_version(&[]), "");
        assert_eq!(other_version(&[v4, v4]), "");
        assert!(other_version(&[v4, v6]).contains("try -6"));
        assert!(other_version(&[v6, v4]).contains("try -4"));
        let told = |reason| or_other(reason, " (elsewhere)");
        let with = Some("nobody answers (elsewhere)".to_owned());
        assert_eq!(told("nobody answers"), with);
        assert_eq!(told("404 Not Found"), None);
        assert_eq!(or_other("nobody answers", ""), None);
    }

    #[test]
    fn every_accepted_form_is_read_and_shown_with_its_port() {
        for (typed, shown) in [
            ("example.org", "example.org:4890"),
            ("example.org:80", "example.org:80"),
            ("192.0.2.1", "192.0.2.1:4890"),
            ("192.0.2.1:80", "192.0.2.1:80"),
            ("2001:db8::1", "[2001:db8::1]:4890"),
            ("[2001:db8::1]", "[2001:db8::1]:4890"),
            ("[2001:db8::1]:80", "[2001:db8::1]:80"),
            ("fe80::1%eth0", "[fe80::1%eth0]:4890"),
        ] {
            assert_eq!(
                Target::parse(typed, DEFAULT_PORT).unwrap().to_string(),
                shown
            );
        }
    }

    #[test]
    fn what_is_no_host_is_refused_with_the_accepted_forms() {
        for typed in [
            "",
            ":80",
            "host:",
            "host:0",
            "host:65536",
            "host:+80",
            "a:b:c",
            "[::1",
            "[::1]80",
            "[host]:80",
            "http://host",
            "user@host",
            "a b",
        ] {
            let message = Target::parse(typed, DEFAULT_PORT).unwrap_err().to_string();
            assert!(message.contains("[IPv6]:PORT"), "{typed}: {message}");
        }
    }

    #[test]
    fn a_literal_of_the_other_family_is_said_to_have_no_address() {
        let target = Target::parse("127.0.0.1", DEFAULT_PORT).unwrap();
        let message = target.resolve(Some(Family::V6)).unwrap_err().to_string();
        assert!(message.contains("no IPv6 address"), "{message}");
        assert_eq!(target.resolve(Some(Family::V4)).unwrap().len(), 1);
    }
}
