//! The plan's groups and probes as single streams, numbered and named.

use super::messages::{Role, StreamSetup};
use super::plan::{Direction, Plan, ProbeKind};
use std::time::Duration;
use units::{Dscp, Span};

/// What a stream does, seen from the client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// TCP load from the server.
    Down,
    /// Request and reply over TCP.
    TcpRr,
    /// Request and reply in datagrams.
    UdpRr,
    /// TCP load to the server.
    Up,
}

/// One stream of a run.
#[derive(Clone, Debug)]
pub(crate) struct StreamPlan {
    /// Its number in all tables.
    pub(crate) id: u16,
    /// For people.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) class: Dscp,
    /// IP version: 4 or 6.
    pub(crate) family: u8,
    /// Congestion control of the sender.
    congestion: Option<String>,
    /// When it starts and stops, after the run's start.
    pub(crate) start: Duration,
    pub(crate) stop: Duration,
    /// Octets of a message, for probes.
    pub(crate) size: usize,
    /// The least time between two messages.
    pub(crate) gap: Duration,
}

impl StreamPlan {
    /// The streams of `plan`, load first; `family` is the IP version, `cc` the congestion control of groups that
    /// name none.
    pub(crate) fn all(plan: &Plan, family: u8, cc: Option<&str>) -> Vec<Self> {
        let mut streams: Vec<Self> = plan
            .load
            .iter()
            .flat_map(|load| {
                let kinds: &[Kind] = match load.direction {
                    Direction::Both => &[Kind::Down, Kind::Up],
                    Direction::Down => &[Kind::Down],
                    Direction::Up => &[Kind::Up],
                };
                let each = kinds
                    .iter()
                    .flat_map(|kind| vec![*kind; load.streams.into()]);
                each.map(|kind| Self {
                    id: 0,
                    name: String::new(),
                    kind,
                    class: load.class,
                    family,
                    congestion: load.cc.clone().or_else(|| cc.map(str::to_owned)),
                    start: plan.idle_before.0 + load.start.0,
                    stop: plan.idle_before.0 + plan.duration.0,
                    size: 0,
                    gap: Duration::ZERO,
                })
            })
            .collect();
        streams.extend(plan.probe.iter().map(|probe| Self {
            id: 0,
            name: String::new(),
            kind: match probe.kind {
                ProbeKind::TcpRr => Kind::TcpRr,
                ProbeKind::UdpRr => Kind::UdpRr,
            },
            class: probe.class,
            family,
            congestion: cc.map(str::to_owned),
            start: Duration::ZERO,
            stop: plan.total(),
            // Checked with the plan: at most 1,400 octets.
            size: usize::try_from(probe.size.get()).unwrap_or_default(),
            gap: probe.gap.0,
        }));
        for index in 0..streams.len() {
            let alike = |other: &Self| {
                (other.kind, other.class) == (streams[index].kind, streams[index].class)
            };
            let number = streams[..index].iter().filter(|other| alike(other)).count() + 1;
            let stream = &mut streams[index];
            // A plan has fewer streams than a session allows.
            stream.id = u16::try_from(index).unwrap_or(u16::MAX);
            stream.name = format!("{} {} #{number}", stream.kind.words(), stream.class);
        }
        streams
    }

    /// What the far end is told; `None` for a stream that needs no connection.
    pub(crate) fn far_setup(&self) -> Option<StreamSetup> {
        let role = match self.kind {
            Kind::Down => Role::Source,
            Kind::TcpRr => Role::Echo {
                size: u16::try_from(self.size).unwrap_or(u16::MAX),
            },
            Kind::UdpRr => return None,
            Kind::Up => Role::Sink,
        };
        Some(StreamSetup {
            id: self.id,
            role,
            class: self.class,
            cc: self.congestion.clone().filter(|_| role == Role::Source),
            stop: Span(self.stop),
        })
    }

    /// The congestion control to set at the near end: the sender's.
    pub(crate) fn cc(&self) -> Option<&str> {
        self.congestion.as_deref().filter(|_| self.kind == Kind::Up)
    }
}

impl Kind {
    const fn words(self) -> &'static str {
        match self {
            Self::Down => "TCP down",
            Self::TcpRr => "TCP_RR",
            Self::UdpRr => "UDP_RR",
            Self::Up => "TCP up",
        }
    }

    /// As the table `streams` says it.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Down | Self::Up => "tcp_load",
            Self::TcpRr => "tcp_rr",
            Self::UdpRr => "udp_rr",
        }
    }

    /// Where its data goes, as the tables say it.
    pub(crate) const fn direction(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::TcpRr | Self::UdpRr => "both",
            Self::Up => "up",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rrul_has_eight_load_streams_and_six_probes_with_names_of_their_own() {
        let streams = StreamPlan::all(&Plan::find("rrul").unwrap(), 4, Some("reno"));
        let names: Vec<_> = streams.iter().map(|stream| stream.name.as_str()).collect();
        assert_eq!(names.len(), 14);
        assert_eq!(names[..2], ["TCP down CS1 #1", "TCP up CS1 #1"]);
        assert_eq!(names[8], "UDP_RR EF #1");
        let unique: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!(unique.len(), names.len());
        assert!(streams.iter().zip(0..).all(|(stream, id)| stream.id == id));
    }

    #[test]
    fn each_sender_and_only_the_sender_gets_the_congestion_control() {
        let streams = StreamPlan::all(&Plan::find("tcp_bidirectional").unwrap(), 4, Some("reno"));
        let near: Vec<_> = streams.iter().map(StreamPlan::cc).collect();
        assert_eq!(near, [None, Some("reno"), None]);
        let far: Vec<_> = streams.iter().map(StreamPlan::far_setup).collect();
        assert_eq!(far[0].as_ref().unwrap().cc.as_deref(), Some("reno"));
        assert_eq!(far[1].as_ref().unwrap().cc, None);
        assert!(far[2].is_none());
    }
}
