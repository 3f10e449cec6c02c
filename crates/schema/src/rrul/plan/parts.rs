//! The parts of a plan: what each stream of a kind does.

use super::defaults;
use serde::{Deserialize, Serialize};
use units::{Bytes, Dscp, Ecn, HttpVersion, Rate, Span};

/// Octets of a G.711 voice packet beside its samples: the RTP header (RFC 3550 section 5.1).
const RTP: u64 = 12;
/// Octets of G.711 for a millisecond: 64 kbit/s (ITU-T G.711).
const G711_PER_MS: u64 = 8;

/// A group of load streams.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Where the data goes.
    pub direction: Direction,
    /// What carries it.
    #[serde(default, skip_serializing_if = "Transport::is_tcp")]
    pub transport: Transport,
    /// Its DSCP.
    #[serde(default)]
    pub class: Dscp,
    /// How many streams in each direction; with two IP versions they take turns.
    #[serde(default = "defaults::one")]
    pub streams: u16,
    /// When the group starts, after the load's start.
    #[serde(default)]
    pub start: Span,
    /// How long the group lasts; without one, to the load's end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<Span>,
    /// Congestion control of the sender of TCP; without one, `--cc`, or the sending host's default. That of QUIC is CUBIC, UDP has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cc: Option<String>,
    /// The most that each stream sends, payload; without one, as much as the path takes. What each stream of UDP sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Which of the plan's servers, from 0.
    #[serde(default)]
    pub server: u8,
}

/// What carries a load.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// The kernel's TCP.
    #[default]
    Tcp,
    /// QUIC version 1 (RFC 9000), each stream over a connection of its own.
    Quic,
    /// Datagrams at the group's rate, whatever arrives.
    Udp,
}

impl Transport {
    /// Whether it is the usual one.
    pub const fn is_tcp(&self) -> bool {
        matches!(self, Self::Tcp)
    }

    /// What people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Quic => "QUIC",
            Self::Udp => "UDP",
        }
    }
}

/// Streams of round trips, each with one in flight at a time, but for paced ones.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// By which protocol.
    pub kind: ProbeKind,
    /// Its DSCP.
    #[serde(default)]
    pub class: Dscp,
    /// The ECN field of its datagrams.
    #[serde(default)]
    pub ecn: EcnField,
    /// How many streams; with two IP versions they take turns.
    #[serde(default = "defaults::one")]
    pub streams: u16,
    /// Payload of request and reply.
    #[serde(default = "defaults::probe_size")]
    pub size: Bytes,
    /// The next request leaves when the reply has come, but not sooner than this after the last one: on a short path
    /// an unbounded exchange would load the hosts more than the network. Paced requests leave exactly so far apart.
    #[serde(default = "defaults::probe_gap")]
    pub gap: Span,
    /// Which of the plan's servers, from 0.
    #[serde(default)]
    pub server: u8,
}

/// A call: datagrams at even intervals, both ways.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// Its DSCP.
    #[serde(default)]
    pub class: Dscp,
    /// From one datagram to the next.
    #[serde(default = "defaults::call_every")]
    pub every: Span,
    /// Payload of a datagram; without one, that of G.711 over RTP for the interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Which way.
    #[serde(default)]
    pub direction: Direction,
}

impl Call {
    /// Payload of a datagram: as planned, or the samples of the interval behind an RTP header.
    pub fn payload(&self) -> u64 {
        let interval_ms = u64::try_from(self.every.0.as_millis()).unwrap_or(u64::MAX);
        let voice = interval_ms.saturating_mul(G711_PER_MS).saturating_add(RTP);
        self.size.map_or(voice, Bytes::get)
    }
}

/// Loads of a web page, one after the other, before the load and under it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Web {
    /// A page model's name or file.
    pub page: String,
    /// By which protocols; they take turns.
    #[serde(default = "defaults::h2")]
    pub protocols: Vec<HttpVersion>,
    /// How long pages are loaded before the load starts.
    #[serde(default = "defaults::web_before")]
    pub before: Span,
    /// From the end of one load to the start of the next.
    #[serde(default = "defaults::web_pause")]
    pub pause: Span,
}

impl Default for Web {
    /// The specification's page, a few times.
    fn default() -> Self {
        Self {
            page: "rrul2013".to_owned(),
            protocols: defaults::h2(),
            before: defaults::web_before(),
            pause: defaults::web_pause(),
        }
    }
}

/// A trace of the path, from both ends.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// How often each hop is asked.
    #[serde(default = "defaults::trace_every")]
    pub every: Span,
    /// The most hops.
    #[serde(default = "defaults::trace_hops")]
    pub hops: u8,
}

/// Where data goes.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// To the server and from it.
    #[default]
    Both,
    /// From the server.
    Down,
    /// To the server.
    Up,
}

/// The protocol of a probe.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeKind {
    /// Look-up of a name at the server.
    Dns,
    /// A small request on a new HTTPS connection.
    Https,
    /// Request and reply over one TCP connection.
    TcpRr,
    /// Request and reply in datagrams.
    UdpRr,
    /// Requests in datagrams at an even pace, whatever comes back: an open loop.
    UdpPaced,
    /// ICMP echo at an even pace: for far ends that answer nothing else.
    IcmpRr,
    /// Attempts to connect to a closed port, one after the other: for far ends that answer nothing else.
    TcpConnect,
    /// Request and reply over a WebSocket (RFC 6455), at an even pace: a browser's.
    WsRr,
    /// Request and reply in datagrams of a WebTransport session, at an even pace: a browser's.
    WtRr,
}

impl ProbeKind {
    /// Whether request and reply are single datagrams of ours, with marks of the plan's.
    pub const fn is_udp(self) -> bool {
        matches!(self, Self::UdpRr | Self::UdpPaced)
    }

    /// Whether only browsers have such probes.
    pub const fn is_of_browsers(self) -> bool {
        matches!(self, Self::WsRr | Self::WtRr)
    }

    /// Whether its round trips are the run's latency: only one kind of a plan's probes can be.
    pub const fn is_latency(self) -> bool {
        matches!(
            self,
            Self::UdpRr | Self::IcmpRr | Self::TcpConnect | Self::WsRr | Self::WtRr
        )
    }
}

/// What a probe's datagrams say of ECN (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EcnField {
    /// Not ECN-capable.
    #[default]
    None,
    /// ECN-capable, classic.
    Ect0,
    /// ECN-capable, L4S (RFC 9331).
    Ect1,
}

impl From<EcnField> for Ecn {
    fn from(field: EcnField) -> Self {
        match field {
            EcnField::None => Self::NotEct,
            EcnField::Ect0 => Self::Ect0,
            EcnField::Ect1 => Self::Ect1,
        }
    }
}

/// Which IP versions a plan uses.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Families {
    /// IPv4 and IPv6 at once; where one is missing, all streams go over the other.
    Both,
    /// The one by which the server was found.
    #[default]
    One,
}

/// What can be had or not.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// Not had.
    Off,
    /// Had.
    On,
}

impl Switch {
    /// Whether it is had.
    pub const fn is_on(self) -> bool {
        matches!(self, Self::On)
    }
}
