//! The plan's groups, probes, calls and the rest as single streams, numbered and named.

use super::messages::{Role, StreamSetup};
use super::plan::{Call, Direction, Load, Plan, Probe, ProbeKind, Transport};
use crate::stream::udp_load::PAYLOAD;
use std::time::Duration;
use units::{Dscp, Ecn, Rate, Span, TrafficClass};

/// What a stream does, seen from the client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Round trips with a far end beside the run's servers.
    Beside,
    /// A call's datagrams from the server.
    CallDown,
    /// A call's datagrams to the server.
    CallUp,
    /// Look-ups of names.
    Dns,
    /// Load from the server.
    Down,
    /// Small requests on new connections.
    Https,
    /// Echo requests.
    IcmpRr,
    /// Attempts to connect to a closed port.
    TcpConnect,
    /// Request and reply over TCP.
    TcpRr,
    /// Probes of all hops, from both ends.
    Trace,
    /// Requests in datagrams at an even pace.
    UdpPaced,
    /// Request and reply in datagrams.
    UdpRr,
    /// Load to the server.
    Up,
    /// Loads of a web page.
    Web,
    /// Request and reply over a WebSocket.
    WsRr,
    /// Request and reply in datagrams of a WebTransport session.
    WtRr,
}

/// Octets of the payload of a request to a far end beside the servers, where its protocol can be padded.
const PAYLOAD_BESIDE: usize = 64;

/// One stream of a run.
#[derive(Clone, Debug)]
pub struct StreamPlan {
    /// Its number in all tables.
    pub id: u16,
    /// For people.
    pub name: String,
    /// What it does, seen from the client.
    pub kind: Kind,
    /// What carries a load.
    pub transport: Transport,
    /// DSCP of its packets.
    pub class: Dscp,
    /// The ECN field of its datagrams.
    pub ecn: Ecn,
    /// IP version: 4 or 6.
    pub family: u8,
    /// Which of the run's servers, or of the far ends beside them.
    pub server: u8,
    /// Congestion control of the sender.
    congestion: Option<String>,
    /// The most that the sender of a load sends, payload.
    pub rate: Option<Rate>,
    /// When it starts and stops, after the run's start.
    pub start: Duration,
    /// When it stops, after the run's start.
    pub stop: Duration,
    /// Octets of a message, for probes and calls.
    pub size: usize,
    /// The least time between two messages; the interval of a call or a trace.
    pub gap: Duration,
    /// The most hops of a trace.
    pub hops: u8,
}

/// What all streams of a run have in common.
pub struct Common<'a> {
    /// IP versions to use, the first for what uses only one.
    pub families: &'a [u8],
    /// Congestion control of groups that name none.
    pub cc: Option<&'a str>,
}

impl StreamPlan {
    /// The streams of `plan`, load first. Streams of one group take turns with the IP versions.
    pub fn all(plan: &Plan, common: &Common<'_>) -> Vec<Self> {
        let blank = Self::blank(plan, common);
        let mut streams: Vec<Self> = Vec::new();
        for load in &plan.load {
            streams.extend(blank.loads(load, plan, common));
        }
        for probe in &plan.probe {
            streams.extend(blank.probes(probe, common));
        }
        for call in &plan.call {
            streams.extend(blank.calls(call));
        }
        for (number, far_end) in (0..).zip(&plan.beside) {
            streams.push(Self {
                kind: Kind::Beside,
                name: far_end.clone(),
                server: number,
                size: PAYLOAD_BESIDE,
                ..blank.clone()
            });
        }
        streams.extend(plan.web.as_ref().map(|_| Self {
            kind: Kind::Web,
            start: plan.web_idle().0,
            stop: plan.load_end(),
            ..blank.clone()
        }));
        streams.extend(plan.trace.as_ref().map(|trace| Self {
            kind: Kind::Trace,
            gap: trace.every.0,
            hops: trace.hops,
            ..blank.clone()
        }));
        name(&mut streams, common.families.len() > 1, plan.servers > 1);
        streams
    }

    /// A stream of no kind yet that lasts the whole run.
    fn blank(plan: &Plan, common: &Common<'_>) -> Self {
        Self {
            id: 0,
            name: String::new(),
            kind: Kind::UdpRr,
            transport: Transport::Tcp,
            class: Dscp::CS0,
            ecn: Ecn::NotEct,
            family: common.families.first().copied().unwrap_or(4),
            server: 0,
            congestion: common.cc.map(str::to_owned),
            rate: None,
            start: Duration::ZERO,
            stop: plan.total(),
            size: 0,
            gap: Duration::ZERO,
            hops: 0,
        }
    }

    fn loads(&self, load: &Load, plan: &Plan, common: &Common<'_>) -> Vec<Self> {
        let start = plan.load_start() + load.start.0;
        let length = load.length.map(|length| start + length.0);
        let one = |kind, turn| Self {
            kind,
            transport: load.transport,
            class: load.class,
            family: turn_of(common.families, turn),
            server: load.server,
            congestion: load
                .cc
                .clone()
                .or_else(|| common.cc.map(str::to_owned))
                .filter(|_| load.transport.is_tcp()),
            rate: load.rate,
            size: if load.transport == Transport::Udp {
                PAYLOAD
            } else {
                0
            },
            start,
            stop: length.map_or_else(|| plan.load_end(), |end| end.min(plan.load_end())),
            ..self.clone()
        };
        let turns = 0..load.streams;
        let both = |turn| directions(load.direction, Kind::Down, Kind::Up).map(move |k| (k, turn));
        turns.flat_map(both).map(|(k, turn)| one(k, turn)).collect()
    }

    fn probes(&self, probe: &Probe, common: &Common<'_>) -> Vec<Self> {
        let one = |turn| Self {
            kind: match probe.kind {
                ProbeKind::Dns => Kind::Dns,
                ProbeKind::Https => Kind::Https,
                ProbeKind::IcmpRr => Kind::IcmpRr,
                ProbeKind::TcpConnect => Kind::TcpConnect,
                ProbeKind::TcpRr => Kind::TcpRr,
                ProbeKind::UdpPaced => Kind::UdpPaced,
                ProbeKind::UdpRr => Kind::UdpRr,
                ProbeKind::WsRr => Kind::WsRr,
                ProbeKind::WtRr => Kind::WtRr,
            },
            class: probe.class,
            ecn: probe.ecn.into(),
            family: turn_of(common.families, turn),
            server: probe.server,
            // Checked with the plan: at most 1,400 octets.
            size: usize::try_from(probe.size.get()).unwrap_or_default(),
            gap: probe.gap.0,
            ..self.clone()
        };
        (0..probe.streams).map(one).collect()
    }

    fn calls(&self, call: &Call) -> Vec<Self> {
        let one = |kind| Self {
            kind,
            class: call.class,
            size: usize::try_from(call.payload()).unwrap_or_default(),
            gap: call.every.0,
            ..self.clone()
        };
        directions(call.direction, Kind::CallDown, Kind::CallUp)
            .map(one)
            .collect()
    }

    /// What the far end is told; `None` for a stream that needs nothing there but what it gives to all.
    pub fn far_setup(&self) -> Option<StreamSetup> {
        let size = u16::try_from(self.size).unwrap_or(u16::MAX);
        let every = Span(self.gap);
        let role = match self.kind {
            Kind::CallDown => Role::Talk { size, every },
            Kind::CallUp => Role::Listen { every },
            Kind::Down => Role::Source,
            Kind::TcpRr => Role::Echo { size },
            Kind::Trace => Role::Trace {
                every,
                hops: self.hops,
            },
            Kind::Up => Role::Sink,
            Kind::Beside
            | Kind::Dns
            | Kind::Https
            | Kind::IcmpRr
            | Kind::TcpConnect
            | Kind::UdpPaced
            | Kind::UdpRr
            | Kind::Web
            | Kind::WsRr
            | Kind::WtRr => return None,
        };
        Some(StreamSetup {
            id: self.id,
            role,
            transport: self.transport,
            class: self.class,
            cc: self.congestion.clone().filter(|_| role == Role::Source),
            // What UDP is to receive is told, too: a server takes only so many datagrams.
            rate: self
                .rate
                .filter(|_| role == Role::Source || self.transport == Transport::Udp),
            start: Span(self.start),
            stop: Span(self.stop),
        })
    }

    /// The congestion control of its sender.
    pub fn congestion(&self) -> Option<&str> {
        self.congestion.as_deref()
    }

    /// The congestion control to set at the near end: the sender's.
    pub fn cc(&self) -> Option<&str> {
        self.congestion.as_deref().filter(|_| self.kind == Kind::Up)
    }

    /// What it is, as the table `streams` says it.
    pub fn label(&self) -> &'static str {
        match (self.kind, self.transport) {
            (Kind::Down | Kind::Up, Transport::Quic) => "quic_load",
            (Kind::Down | Kind::Up, Transport::Udp) => "udp_load",
            (kind, _) => kind.label(),
        }
    }

    /// What it does, in a word or two.
    const fn words(&self) -> &'static str {
        match (self.kind, self.transport) {
            (Kind::Down, Transport::Quic) => "QUIC down",
            (Kind::Up, Transport::Quic) => "QUIC up",
            (Kind::Down, Transport::Udp) => "UDP down",
            (Kind::Up, Transport::Udp) => "UDP up",
            (kind, _) => kind.words(),
        }
    }

    /// The marks of its packets as sent.
    pub const fn marks(&self) -> TrafficClass {
        TrafficClass {
            dscp: self.class,
            ecn: self.ecn,
        }
    }
}

/// The kinds for a direction, down before up.
fn directions(direction: Direction, down: Kind, up: Kind) -> impl Iterator<Item = Kind> {
    let [has_down, has_up] = match direction {
        Direction::Both => [true, true],
        Direction::Down => [true, false],
        Direction::Up => [false, true],
    };
    [(down, has_down), (up, has_up)]
        .into_iter()
        .filter_map(|(kind, is_wanted)| is_wanted.then_some(kind))
}

/// The IP version whose turn it is.
fn turn_of(families: &[u8], turn: u16) -> u8 {
    let at = usize::from(turn) % families.len().max(1);
    families.get(at).copied().unwrap_or(4)
}

/// Numbers and names the streams: `TCP down CS1 IPv6 #2`, without what all have in common.
fn name(streams: &mut [StreamPlan], tell_family: bool, tell_server: bool) {
    for index in 0..streams.len() {
        let key = |s: &StreamPlan| (s.words(), s.class, s.ecn, s.family, s.server);
        let alike = streams[..index]
            .iter()
            .filter(|s| key(s) == key(&streams[index]));
        let number = alike.count() + 1;
        let stream = &mut streams[index];
        // A plan has fewer streams than a session allows.
        stream.id = u16::try_from(index).unwrap_or(u16::MAX);
        if stream.kind == Kind::Beside {
            continue;
        }
        let ecn = match stream.ecn {
            Ecn::NotEct => String::new(),
            other => format!(" {}", ecn_name(other)),
        };
        let family = if tell_family {
            format!(" IPv{}", stream.family)
        } else {
            String::new()
        };
        let server = if tell_server {
            format!(" @{}", stream.server)
        } else {
            String::new()
        };
        stream.name = format!(
            "{} {}{ecn}{family}{server} #{number}",
            stream.words(),
            stream.class
        );
    }
}

/// The ECN field as RFC 3168 writes it.
pub const fn ecn_name(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "Not-ECT",
        Ecn::Ect0 => "ECT(0)",
        Ecn::Ect1 => "ECT(1)",
        Ecn::Ce => "CE",
    }
}

impl Kind {
    const fn words(self) -> &'static str {
        match self {
            Self::Beside => "beside",
            Self::CallDown => "VoIP down",
            Self::CallUp => "VoIP up",
            Self::Dns => "DNS",
            Self::Down => "TCP down",
            Self::Https => "HTTPS",
            Self::IcmpRr => "ICMP",
            Self::TcpConnect => "TCP SYN",
            Self::TcpRr => "TCP_RR",
            Self::Trace => "trace",
            Self::UdpPaced => "UDP paced",
            Self::UdpRr => "UDP_RR",
            Self::Up => "TCP up",
            Self::Web => "web",
            Self::WsRr => "WebSocket",
            Self::WtRr => "WebTransport",
        }
    }

    /// As the table `streams` says it, of what TCP carries.
    const fn label(self) -> &'static str {
        match self {
            Self::Beside => "beside",
            Self::CallDown | Self::CallUp => "voip",
            Self::Dns => "dns",
            Self::Down | Self::Up => "tcp_load",
            Self::Https => "https",
            Self::IcmpRr => "icmp_rr",
            Self::TcpConnect => "tcp_connect",
            Self::TcpRr => "tcp_rr",
            Self::Trace => "trace",
            Self::UdpPaced => "udp_paced",
            Self::UdpRr => "udp_rr",
            Self::Web => "web",
            Self::WsRr => "ws_rr",
            Self::WtRr => "wt_rr",
        }
    }

    /// Where its data goes, as the tables say it.
    pub const fn direction(self) -> &'static str {
        match self {
            Self::CallDown | Self::Down => "down",
            Self::CallUp | Self::Up => "up",
            Self::Beside
            | Self::Dns
            | Self::Https
            | Self::IcmpRr
            | Self::TcpConnect
            | Self::TcpRr
            | Self::Trace
            | Self::UdpPaced
            | Self::UdpRr
            | Self::Web
            | Self::WsRr
            | Self::WtRr => "both",
        }
    }

    /// Whether it is the round trips that a browser takes.
    pub const fn is_of_browsers(self) -> bool {
        matches!(self, Self::WsRr | Self::WtRr)
    }

    /// Whether it is one connection of ours.
    pub const fn is_tcp(self) -> bool {
        matches!(self, Self::Down | Self::TcpRr | Self::Up)
    }

    /// Whether its datagrams carry an ECN field of the plan's.
    pub const fn is_datagrams(self) -> bool {
        matches!(
            self,
            Self::CallDown | Self::CallUp | Self::UdpPaced | Self::UdpRr
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams(plan: &str, families: &[u8]) -> Vec<StreamPlan> {
        let common = Common {
            families,
            cc: Some("reno"),
        };
        StreamPlan::all(&crate::catalogue::find(plan).unwrap(), &common)
    }

    /// Holds rrul/load-streams, rrul/families.
    #[test]
    fn rrul_has_sixteen_load_streams_over_one_protocol_or_two() {
        for (families, over_v6) in [(&[4, 6][..], 8), (&[4], 0), (&[6], 16)] {
            let streams = streams("rrul", families);
            let load: Vec<_> = streams
                .iter()
                .filter(|stream| stream.label() == "tcp_load")
                .collect();
            assert_eq!(load.len(), 16);
            let v6 = load.iter().filter(|stream| stream.family == 6).count();
            assert_eq!(v6, over_v6, "of {families:?}");
        }
    }

    #[test]
    fn every_stream_has_a_name_of_its_own() {
        let streams = streams("rrul", &[4, 6]);
        let names: Vec<_> = streams.iter().map(|stream| stream.name.as_str()).collect();
        assert_eq!(
            names[..3],
            [
                "TCP down CS1 IPv4 #1",
                "TCP up CS1 IPv4 #1",
                "TCP down CS1 IPv6 #1"
            ]
        );
        let unique: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!(unique.len(), names.len());
        assert!(streams.iter().zip(0..).all(|(stream, id)| stream.id == id));
    }

    #[test]
    fn loads_over_quic_say_so_and_have_no_congestion_control_of_the_kernel() {
        let mut plan = crate::catalogue::find("tcp_bidirectional").unwrap();
        plan.load[0].transport = Transport::Quic;
        let common = Common {
            families: &[4],
            cc: Some("reno"),
        };
        let streams = StreamPlan::all(&plan, &common);
        let of = |stream: &StreamPlan| (stream.name.clone(), stream.label());
        assert_eq!(
            of(&streams[0]),
            ("QUIC down CS0 #1".to_owned(), "quic_load")
        );
        assert_eq!(of(&streams[1]), ("QUIC up CS0 #1".to_owned(), "quic_load"));
        assert!(streams[..2].iter().all(|stream| stream.cc().is_none()));
        let far = streams[0].far_setup().unwrap();
        assert_eq!((far.transport, far.cc), (Transport::Quic, None));
    }

    #[test]
    fn each_sender_and_only_the_sender_gets_the_congestion_control() {
        let streams = streams("tcp_bidirectional", &[4]);
        let near: Vec<_> = streams.iter().map(StreamPlan::cc).collect();
        assert_eq!(near[..2], [None, Some("reno")]);
        let far: Vec<_> = streams.iter().map(StreamPlan::far_setup).collect();
        assert_eq!(far[0].as_ref().unwrap().cc.as_deref(), Some("reno"));
        assert_eq!(far[1].as_ref().unwrap().cc, None);
        assert!(far[2].is_none());
    }
}
