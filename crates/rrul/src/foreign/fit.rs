//! A plan as far as somebody else's server and its host can have a part in it.

use crate::plan::{Direction, EcnField, Families, Load, Plan, Probe, ProbeKind};
use crate::stream::{connect, echo};
use far_ends::address::Protocol;
use far_ends::iperf3::MOST_STREAMS;
use far_ends::ndt7;
use record::Warning;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;
use sys::udp::UdpSocket;
use units::{Bytes, Dscp, Span};

/// Whether this program may send echo requests to `to`.
pub fn can_echo(to: SocketAddr) -> bool {
    UdpSocket::echo(to).is_ok()
}

/// What a server takes of a plan's load.
struct Takes {
    /// The server, for people.
    server: &'static str,
    /// One test of it.
    test: &'static str,
    /// Streams each way; none: as many as the plan has, up to iperf3's most.
    streams: Option<u16>,
    /// How long at most.
    longest: Duration,
    /// Whether it can be told the class of what it sends.
    says_class: bool,
}

impl Takes {
    const fn of(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Ndt7 => Self {
                server: "an ndt7 server",
                test: "a test of ndt7",
                streams: Some(1),
                longest: ndt7::LASTS,
                says_class: false,
            },
            _ => Self {
                server: "an iperf3 server",
                test: "a test of iperf3",
                streams: None,
                longest: Duration::MAX,
                says_class: true,
            },
        }
    }
}

/// Makes `plan` fit a server of `protocol`: round trips by ICMP echo, or by attempts to connect where this program may send none (`echoes`
/// false). Says what was left out.
///
/// # Errors
/// In one line, when the load cannot be had from such a server.
pub fn fit(plan: &mut Plan, protocol: Protocol, echoes: bool) -> Result<Vec<Warning>, String> {
    let takes = Takes::of(protocol);
    if plan.servers > 1 {
        return Err(format!(
            "plan {} needs {} servers, and {} is one - take another plan",
            plan.name, plan.servers, takes.server
        ));
    }
    let mut left_out = Vec::new();
    merge(plan, &takes, &mut left_out)?;
    probes(plan, echoes, &mut left_out);
    if !std::mem::take(&mut plan.call).is_empty() {
        left_out.push("calls");
    }
    if plan.web.take().is_some() {
        left_out.push("pages");
    }
    if plan.trace.take().is_some() {
        left_out.push("the path trace");
    }
    if std::mem::take(&mut plan.families) == Families::Both {
        left_out.push("the other version of IP");
    }
    plan.check()?;
    let by = if echoes {
        "round trips are by ICMP echo, which the host's kernel answers"
    } else {
        "round trips are by attempts to connect to a closed port, since ICMP may not be sent from here"
    };
    let left_out = match left_out.as_slice() {
        [] => String::new(),
        some => format!("left out of the plan: {}; ", some.join(", ")),
    };
    Ok(vec![Warning {
        code: "foreign_far_end".to_owned(),
        message: format!("{} tells less: {left_out}{by}", takes.server),
        advice:
            "figures that are null were not measured; 'isobath serve' at the far end tells them"
                .to_owned(),
    }])
}

/// One group of load: a test has so many streams each way, all alike, and all at once.
fn merge(plan: &mut Plan, takes: &Takes, left_out: &mut Vec<&'static str>) -> Result<(), String> {
    let load = std::mem::take(&mut plan.load);
    let Some(first) = load.first().cloned() else {
        return Ok(());
    };
    let (name, test) = (&plan.name, takes.test);
    if let Some(other) = load.iter().find(|group| !group.transport.is_tcp()) {
        let transport = other.transport.name();
        return Err(format!(
            "plan {name} has load over {transport}, and {test} loads by TCP - take another plan"
        ));
    }
    if load.iter().any(|group| group.length.is_some()) {
        return Err(format!(
            "plan {name} has load that comes and goes, and {} has all its streams at once - take another plan",
            takes.server
        ));
    }
    if load.iter().any(|group| group.cc != first.cc) {
        return Err(format!(
            "plan {name} has several congestion controls, and {test} has one - take another plan"
        ));
    }
    if load.iter().any(|group| group.rate != first.rate) {
        return Err(format!(
            "plan {name} has load of several rates, and {test} has one - take another plan"
        ));
    }
    let streams = |unwanted: Direction| {
        let groups = load.iter().filter(|group| group.direction != unwanted);
        groups.fold(0_u16, |sum, group| sum.saturating_add(group.streams))
    };
    let (down, up) = (streams(Direction::Up), streams(Direction::Down));
    let direction = match (down, up) {
        (0, _) => Direction::Up,
        (_, 0) => Direction::Down,
        (down, up) if down == up || takes.streams.is_some() => Direction::Both,
        _ => {
            return Err(format!(
                "plan {name} has {down} streams down and {up} up, and {test} as many each way - take another plan"
            ));
        }
    };
    let streams = takes.streams.unwrap_or_else(|| down.max(up));
    if down.max(up) > streams {
        left_out.push("all but one stream each way");
    }
    if streams > MOST_STREAMS {
        return Err(format!(
            "{test} has at most {MOST_STREAMS} streams each way"
        ));
    }
    if first.rate.is_some() && down > 0 && takes.streams.is_some() {
        return Err(format!(
            "plan {name} limits the rate of its load, and {} sends as much as the path takes - take another plan",
            takes.server
        ));
    }
    let is_one_class = load.iter().all(|group| group.class == first.class);
    if !is_one_class {
        left_out.push("classes of load");
    }
    if load.iter().any(|group| group.start != first.start) {
        left_out.push("starts one after the other");
    }
    if plan.duration.0 > takes.longest {
        plan.duration = Span(takes.longest);
        left_out.push("load after ten seconds");
    }
    let group = Load {
        direction,
        class: if is_one_class { first.class } else { Dscp::CS0 },
        streams,
        start: Span::default(),
        ..first
    };
    plan.load = if takes.says_class || group.class == Dscp::CS0 || direction == Direction::Up {
        vec![group]
    } else {
        left_out.push("the class of the download");
        without_class(&group)
    };
    Ok(())
}

/// The same load, whose download has no class.
fn without_class(group: &Load) -> Vec<Load> {
    let part = |direction, class| Load {
        direction,
        class,
        ..group.clone()
    };
    let mut parts = vec![part(Direction::Down, Dscp::CS0)];
    parts.extend((group.direction == Direction::Both).then(|| part(Direction::Up, group.class)));
    parts
}

/// Round trips of each class that the plan has any of, by what the host answers.
fn probes(plan: &mut Plan, echoes: bool, left_out: &mut Vec<&'static str>) {
    let all = std::mem::take(&mut plan.probe);
    let (kind, gap) = if echoes {
        (ProbeKind::IcmpRr, echo::LEAST_GAP)
    } else {
        (ProbeKind::TcpConnect, connect::LEAST_GAP)
    };
    let mut classes = BTreeSet::new();
    for probe in &all {
        match probe.kind {
            ProbeKind::Dns => left_out.push("look-ups of names"),
            ProbeKind::Https => left_out.push("requests on new HTTPS connections"),
            _ if probe.ecn != EcnField::None => left_out.push("what becomes of the ECN field"),
            _ => drop(classes.insert(probe.class)),
        }
    }
    left_out.dedup();
    plan.probe = classes
        .into_iter()
        .map(|class| Probe {
            kind,
            class,
            ecn: EcnField::None,
            streams: 1,
            size: Bytes::new(64),
            gap: Span(gap),
            server: 0,
        })
        .collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(name: &str, echoes: bool) -> Result<(Plan, String), String> {
        let mut plan = crate::catalogue::find(name).unwrap();
        let warnings = fit(&mut plan, Protocol::Iperf3, echoes)?;
        Ok((plan, warnings[0].message.clone()))
    }

    #[test]
    fn rrul_keeps_its_streams_and_the_classes_of_its_round_trips() {
        let (plan, says) = fitted("rrul", true).unwrap();
        let [load] = &plan.load[..] else {
            panic!("{:?}", plan.load);
        };
        assert_eq!((load.streams, load.class), (8, Dscp::CS0));
        assert_eq!(load.direction, Direction::Both);
        let classes: Vec<_> = plan.probe.iter().map(|probe| probe.class).collect();
        assert_eq!(classes.len(), 3, "{classes:?}");
        assert!(plan.probe.iter().all(|p| p.kind == ProbeKind::IcmpRr));
        for word in ["calls", "pages", "classes of load", "ICMP"] {
            assert!(says.contains(word), "{says}");
        }
        let (plan, says) = fitted("tcp_4up", false).unwrap();
        assert_eq!(plan.load[0].direction, Direction::Up);
        assert_eq!(plan.probe[0].kind, ProbeKind::TcpConnect);
        assert!(says.contains("closed port"), "{says}");
    }

    #[test]
    fn ndt7_has_one_stream_each_way_for_ten_seconds() {
        let mut plan = crate::catalogue::find("rrul").unwrap();
        let warnings = fit(&mut plan, Protocol::Ndt7, true).unwrap();
        assert_eq!((plan.load.len(), plan.load[0].streams), (1, 1));
        assert_eq!(plan.load[0].direction, Direction::Both);
        assert_eq!(plan.duration.0, Duration::from_secs(10));
        for word in ["ndt7", "one stream each way", "ten seconds"] {
            assert!(warnings[0].message.contains(word), "{warnings:?}");
        }
        let mut plan = crate::catalogue::find("rrul_50_up").unwrap();
        assert!(fit(&mut plan, Protocol::Ndt7, true).is_ok());
    }

    #[test]
    fn what_a_test_of_iperf3_cannot_be_is_refused() {
        for (name, word) in [
            ("rrul_50_up", "as many each way"),
            ("tcp_4up_squarewave", "comes and goes"),
            ("cubic_reno", "congestion controls"),
            ("rtt_fair", "servers"),
        ] {
            let refused = fitted(name, true).unwrap_err();
            assert!(refused.contains(word), "{name}: {refused}");
        }
    }
}
