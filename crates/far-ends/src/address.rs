//! How a far end is named, `stamp://HOST:PORT`, and what each kind tells.

use crate::nq::Origin;
use crate::{Exchange, Terms, dns, icmp, iperf3, irtt, ndt7, ntp, quic, stamp, twamp};
use std::time::Duration;

/// What a far end speaks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Protocol {
    /// Simple Two-way Active Measurement Protocol.
    Stamp,
    /// Two-Way Active Measurement Protocol.
    Twamp,
    /// Isochronous Round-Trip Tester.
    Irtt,
    /// Network Time Protocol.
    Ntp,
    /// Domain Name System.
    Dns,
    /// The same over TLS.
    Dot,
    /// The same over HTTPS.
    Doh,
    /// QUIC, which carries HTTP/3.
    H3,
    /// ICMP echo.
    Icmp,
    /// iperf3's TCP load.
    Iperf3,
    /// The Network Diagnostic Tool's load by WebSocket.
    Ndt7,
}

/// What replies tell beside the round trip.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a column of a table")]
pub struct Tells {
    /// The far end's time stamps: each way's delay and its variation.
    pub delays: bool,
    /// How many requests came: on which way a loss was.
    pub counts: bool,
    /// DSCP and ECN field of requests as they arrived.
    pub marks: bool,
    /// How much of a load arrived. Whoever does this answers no requests: round trips are somebody else's beside it.
    pub loads: bool,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Stamp,
        Self::Twamp,
        Self::Irtt,
        Self::Ntp,
        Self::Dns,
        Self::Dot,
        Self::Doh,
        Self::H3,
        Self::Icmp,
        Self::Iperf3,
        Self::Ndt7,
    ];

    /// What stands before `://`.
    pub const fn scheme(self) -> &'static str {
        match self {
            Self::Stamp => "stamp",
            Self::Twamp => "twamp",
            Self::Irtt => "irtt",
            Self::Ntp => "ntp",
            Self::Dns => "dns",
            Self::Dot => "dot",
            Self::Doh => "doh",
            Self::H3 => "h3",
            Self::Icmp => "icmp",
            Self::Iperf3 => "iperf3",
            Self::Ndt7 => "ndt7",
        }
    }

    /// What it is called, and by whom it is defined.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stamp => "STAMP (RFC 8762, RFC 8972)",
            Self::Twamp => "TWAMP (RFC 5357)",
            Self::Irtt => "IRTT (version 0.9)",
            Self::Ntp => "NTP (RFC 5905)",
            Self::Dns => "DNS (RFC 1035)",
            Self::Dot => "DNS over TLS (RFC 7858)",
            Self::Doh => "DNS over HTTPS (RFC 8484)",
            Self::H3 => "QUIC (RFC 8999, RFC 9000)",
            Self::Icmp => "ICMP echo (RFC 792, RFC 4443)",
            Self::Iperf3 => "iperf3 (3.7 and later)",
            Self::Ndt7 => "ndt7 (version 0.11)",
        }
    }

    /// Who answers it.
    pub const fn answered_by(self) -> &'static str {
        match self {
            Self::Stamp => "routers, '... serve --also stamp'",
            Self::Twamp => "routers, '... serve --also twamp'",
            Self::Irtt => "'irtt server', '... serve --also irtt'",
            Self::Ntp => "time servers",
            Self::Dns | Self::Dot | Self::Doh => "resolvers",
            Self::H3 => "web servers with HTTP/3",
            Self::Icmp => "nearly everybody",
            Self::Iperf3 => "'iperf3 -s', '... serve --also iperf3'",
            Self::Ndt7 => "'ndt-server', '... serve --also ndt7'",
        }
    }

    /// The usual port; none where there are no ports.
    pub const fn port(self) -> Option<u16> {
        match self {
            Self::Stamp => Some(stamp::PORT),
            Self::Twamp => Some(twamp::PORT),
            Self::Irtt => Some(irtt::PORT),
            Self::Ntp => Some(ntp::PORT),
            Self::Dns => Some(dns::PORT),
            Self::Dot => Some(dns::TLS_PORT),
            Self::Doh => Some(dns::HTTPS_PORT),
            Self::H3 => Some(quic::PORT),
            Self::Icmp => None,
            Self::Iperf3 => Some(iperf3::PORT),
            Self::Ndt7 => Some(ndt7::PORT),
        }
    }

    /// What replies tell, where the far end tells all that the protocol can.
    pub const fn tells(self) -> Tells {
        let (delays, counts, marks) = match self {
            Self::Stamp => (true, true, true),
            Self::Twamp | Self::Irtt => (true, true, false),
            Self::Ntp => (true, false, false),
            Self::Dns
            | Self::Dot
            | Self::Doh
            | Self::H3
            | Self::Icmp
            | Self::Iperf3
            | Self::Ndt7 => (false, false, false),
        };
        Tells {
            delays,
            counts,
            marks,
            loads: matches!(self, Self::Iperf3 | Self::Ndt7),
        }
    }

    /// Requests to somebody who has not agreed to them leave no faster than this.
    pub const fn least_interval(self) -> Duration {
        match self {
            Self::Stamp | Self::Twamp | Self::Irtt | Self::Iperf3 | Self::Ndt7 => Duration::ZERO,
            Self::Icmp => Duration::from_millis(20),
            Self::Dns | Self::Dot | Self::Doh => dns::INTERVAL,
            Self::H3 => quic::INTERVAL,
            Self::Ntp => ntp::INTERVAL,
        }
    }

    /// Whether requests go over a connection, which repeats what is lost.
    pub const fn is_reliable(self) -> bool {
        matches!(self, Self::Dot | Self::Doh)
    }

    /// The near end of it, by IPv6 where `is_v6`; none where it answers no requests.
    pub fn exchange(self, terms: Terms, is_v6: bool, keys: &Keys) -> Option<Box<dyn Exchange>> {
        Some(match self {
            Self::Stamp => Box::new(stamp::Sender::new(terms, keys.stamp.clone())),
            Self::Twamp => Box::new(twamp::sender(terms)),
            Self::Irtt => Box::new(irtt::Client::new(terms, keys.irtt.clone())),
            Self::Ntp => Box::new(ntp::Client::new(terms)),
            Self::Dns | Self::Dot | Self::Doh => Box::new(dns::Client::new(terms)),
            Self::H3 => Box::new(quic::Client::new(terms)),
            Self::Icmp => Box::new(icmp::Echo::new(terms, is_v6)),
            Self::Iperf3 | Self::Ndt7 => return None,
        })
    }
}

/// What is shared with far ends that want packets signed.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// With STAMP reflectors and senders.
    pub stamp: Option<stamp::Key>,
    /// With IRTT's servers and clients.
    pub irtt: Option<irtt::Key>,
}

/// A far end by name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FarEnd {
    /// What it speaks.
    pub protocol: Protocol,
    /// Host, with or without a port, as it was typed.
    pub host: String,
    /// Path and query of the requests, where they are HTTP's.
    pub path: String,
}

impl FarEnd {
    /// Reads `SCHEME://HOST[:PORT]`; none where `text` has no scheme.
    ///
    /// # Errors
    /// When the scheme is not known.
    pub fn parse(text: &str) -> Option<Result<Self, String>> {
        let (scheme, host) = text.split_once("://")?;
        let known = Protocol::ALL.into_iter();
        let Some(protocol) = known.clone().find(|protocol| protocol.scheme() == scheme) else {
            let all: Vec<_> = known.map(Protocol::scheme).collect();
            let advice = match scheme {
                "https" | "rpm" => "responsiveness is measured by 'isobath rpm https://HOST'",
                "udpst" => "capacity is measured by 'isobath udpst HOST'",
                _ => &format!("use one of {}", all.join(", ")),
            };
            return Some(Err(format!("unknown scheme '{scheme}://' - {advice}")));
        };
        let host = host.strip_suffix('/').unwrap_or(host);
        let (host, path) = match host.find('/') {
            Some(at) if protocol == Protocol::Doh => host.split_at(at),
            _ => (host, ""),
        };
        let path = if path.is_empty() {
            dns::HTTPS_PATH
        } else {
            path
        };
        Some(Ok(Self {
            protocol,
            host: host.to_owned(),
            path: path.to_owned(),
        }))
    }

    /// Whose it is, for those that have a certificate.
    ///
    /// # Errors
    /// When the host is none, or the path has what no path has.
    pub fn origin(&self) -> Result<Origin, String> {
        let url = format!("https://{}{}", self.host, self.path);
        Ok(Origin::of(&url)?.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_far_end_is_named_by_scheme_and_host() {
        let read = |text: &str| {
            let far = FarEnd::parse(text).unwrap()?;
            Ok((far.protocol, far.host))
        };
        let of = |protocol, host: &str| Ok::<_, String>((protocol, host.to_owned()));
        assert_eq!(FarEnd::parse("router.example:862"), None);
        assert_eq!(
            read("stamp://router.example"),
            of(Protocol::Stamp, "router.example")
        );
        assert_eq!(
            read("irtt://192.0.2.1:9/"),
            of(Protocol::Irtt, "192.0.2.1:9")
        );
        assert_eq!(
            read("ntp://[2001:db8::1]"),
            of(Protocol::Ntp, "[2001:db8::1]")
        );
        assert!(
            read("ping://h").unwrap_err().contains(
                "use one of stamp, twamp, irtt, ntp, dns, dot, doh, h3, icmp, iperf3, ndt7"
            )
        );
        for (text, verb) in [("rpm://h", "isobath rpm"), ("udpst://h", "isobath udpst")] {
            assert!(read(text).unwrap_err().contains(verb));
        }
        for (text, host, path) in [
            ("doh://dns.example", "dns.example", "/dns-query"),
            (
                "doh://[2001:db8::1]:8443/q?a=b",
                "[2001:db8::1]:8443",
                "/q?a=b",
            ),
        ] {
            let far = FarEnd::parse(text).unwrap().unwrap();
            assert_eq!((&*far.host, &*far.path), (host, path));
            assert_eq!(far.origin().unwrap().authority(), host);
        }
        let odd = FarEnd::parse("doh://dns.example/a b").unwrap().unwrap();
        assert!(odd.origin().is_err());
    }
}
