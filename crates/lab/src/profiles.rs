//! The labs that come with the program, and how any lab is found by name.

use crate::{Error, Topology};
use path::{Spec, StageSpec, Trace};
use units::Rate;

macro_rules! labs {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../labs/", $name, ".toml")))),*]
    };
}

/// Name and text of each built-in lab, in the order that a reader should meet them.
const LABS: &[(&str, &str)] = labs![
    "lan",
    "fiber",
    "gigabit",
    "cable",
    "cable-hops",
    "dsl",
    "dsl-fq_codel",
    "dsl-ecn",
    "dsl-remark",
    "dsl-boost",
    "shaped",
    "dsl-long",
    "dsl-v4",
    "dsl-v6-blackhole",
    "dsl-icmp",
    "lte",
    "satellite",
    "lossy",
    "weak-client",
    "rtt-fair",
    "vantage-point",
    "manager-dumbbell",
    "fleet",
    "step",
    "dumbbell",
    "wire",
];

/// Packet-delivery traces in mahimahi's format.
const TRACES: &[(&str, &str)] = &[
    (
        "lte-down",
        include_str!("../../../labs/traces/lte-down.trace"),
    ),
    ("lte-up", include_str!("../../../labs/traces/lte-up.trace")),
];

/// Recorded packets, for links that others use too.
const RECORDINGS: &[(&str, &str)] = &[(
    "web-page",
    include_str!("../../../labs/traces/web-page.packets"),
)];

/// Names of the built-in labs.
pub fn names() -> impl Iterator<Item = &'static str> {
    LABS.iter().map(|(name, _)| *name)
}

/// The TOML text of the built-in lab `name`, or of the file at that path.
///
/// # Errors
///
/// [`Error::Unknown`] with the names there are; [`Error::Read`] for a file that cannot be read.
pub fn text(name: &str) -> Result<String, Error> {
    if let Some((_, text)) = LABS.iter().find(|(known, _)| *known == name) {
        return Ok((*text).to_owned());
    }
    let is_path = name.contains('/') || name.to_ascii_lowercase().ends_with(".toml");
    if !is_path {
        let known = names().collect::<Vec<_>>().join(", ");
        return Err(Error::Unknown {
            name: name.to_owned(),
            known,
        });
    }
    read(name)
}

/// The lab called `name`, or described in the file at that path.
///
/// # Errors
///
/// Those of [`text`] and of [`Topology::parse`].
pub fn find(name: &str) -> Result<Topology, Error> {
    Topology::parse(&text(name)?, name)
}

/// The least rate of a link on the path `spec`; a trace counts with its mean. `None` without a link.
pub fn rate(spec: &Spec) -> Option<Rate> {
    let traces = spec.0.iter().filter_map(|stage| match stage {
        StageSpec::Trace { trace: name, .. } => {
            trace(name).ok()?.parse::<Trace>().ok()?.mean_rate()
        }
        _ => None,
    });
    traces.chain(spec.rate()).min()
}

/// The text of the trace or the recording called `name`, or of the file at that path.
///
/// # Errors
///
/// [`Error::Read`] for a file that cannot be read.
pub fn trace(name: &str) -> Result<String, Error> {
    let mut all = TRACES.iter().chain(RECORDINGS);
    let known = all.find(|(known, _)| *known == name);
    known.map_or_else(|| read(name), |(_, text)| Ok((*text).to_owned()))
}

fn read(file: &str) -> Result<String, Error> {
    std::fs::read_to_string(file).map_err(|source| Error::Read {
        file: file.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use path::{Assigned, Element as _, Family, Limit, Packet, QueueSpec, Recording};
    use std::collections::VecDeque;
    use units::{Dscp, Ecn, FlowId, Instant};

    #[test]
    fn every_built_in_lab_describes_a_network() {
        for name in names() {
            let topology = find(name).unwrap_or_else(|error| panic!("{error}"));
            assert!(topology.way().len() >= 2, "{name}");
            crate::network::pipelines(&topology, 1, &Assigned::default())
                .unwrap_or_else(|error| panic!("{error}"));
        }
    }

    /// Holds tmix/link, tmix/pairs.
    #[test]
    fn the_dumbbell_is_a_gigabit_behind_which_65_000_packets_wait() {
        let lab = find("dumbbell").unwrap();
        assert_eq!(lab.hosts.len(), 2);
        let [link] = &lab.links[..] else {
            panic!("one link joins two hosts")
        };
        let bottleneck = StageSpec::Rate {
            rate: "1Gbit".parse().unwrap(),
            queue: QueueSpec::Fifo(Limit::packets(65_000)),
            cross: None,
        };
        let way = [StageSpec::ConnectionDelay {}, bottleneck];
        assert_eq!((&link.up.0[..], &link.down.0[..]), (&way[..], &way[..]));
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let message = find("dls").unwrap_err().to_string();
        assert!(message.contains("no lab is called 'dls'") && message.contains("dsl-fq_codel"));
    }

    #[test]
    fn a_trace_driven_link_has_its_mean_rate() {
        let lte = find("lte").unwrap();
        let mbps = rate(&lte.links[0].down).unwrap().as_mbps();
        assert!((8.0..14.0).contains(&mbps), "{mbps}");
        assert_eq!(rate(&lte.links[1].down), None);
    }

    #[test]
    fn every_trace_is_one() {
        for (name, text) in TRACES {
            assert!(text.parse::<Trace>().is_ok(), "{name}");
        }
    }

    #[test]
    fn every_recording_is_one() {
        for (name, text) in RECORDINGS {
            let recording: Recording = text
                .parse()
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(recording.mean_rate().is_some(), "{name}");
        }
    }

    /// A probe of 100 octets each 10 ms through the bottleneck of `step`, in virtual time: what others send in each 45 s.
    #[test]
    fn the_steps_are_those_of_the_summary() {
        let topology = find("step").unwrap();
        let (_, up) = topology.direction("x1", "x2").unwrap();
        let mut path = up
            .build::<()>(
                1,
                &|name| trace(name).map_err(Into::into),
                &Assigned::default(),
            )
            .unwrap();
        let (mut out, mut sent, mut before) = (VecDeque::new(), Vec::new(), 0);
        for number in 1..=28_000_u64 {
            let at = Instant::from_millis(number * 10);
            let packet = Packet {
                size: 100,
                flow: FlowId(0),
                family: Family::V6,
                dscp: Dscp::CS0,
                ecn: Ecn::NotEct,
                at,
                body: (),
            };
            path.process(Some(packet), at, &mut out);
            if number % 4_500 == 1 && number > 1 {
                let all = path.others().entered.bytes;
                sent.push((all - before) as f64 * 8.0 / 45e6);
                before = all;
            }
        }
        for (sent, expected) in sent.iter().zip([1.0, 3.0, 5.0, 6.0, 4.0, 2.0]) {
            assert!((sent - expected).abs() < 0.01, "{sent} for {expected}");
        }
        assert_eq!(sent.len(), 6);
    }

    /// Full-sized packets faster than the boost, in virtual time: what has left at the end of each second.
    #[test]
    fn the_boost_is_what_its_summary_says() {
        let topology = find("dsl-boost").unwrap();
        let (_, down) = topology.direction("dslam", "home").unwrap();
        let mut path = down
            .build::<()>(1, &|name| Err(name.into()), &Assigned::default())
            .unwrap();
        let mut out = VecDeque::new();
        let mut left = Vec::new();
        for number in 0..75_000_u64 {
            let at = Instant::from_nanos(number * 200_000);
            let packet = Packet {
                size: 1_500,
                flow: FlowId(0),
                family: Family::V6,
                dscp: Dscp::CS0,
                ecn: Ecn::NotEct,
                at,
                body: (),
            };
            path.process(Some(packet), at, &mut out);
            if number % 5_000 == 4_999 {
                left.push(out.drain(..).count() as f64 * 1_500.0 * 8.0 / 1e6);
            }
        }
        // The first second lacks the packets still in flight, and the eleventh sees the last of the boost.
        assert!(
            left[1..10].iter().all(|mbit| (49.5..=50.5).contains(mbit)),
            "{left:?}"
        );
        assert!(
            left[11..].iter().all(|mbit| (19.5..=20.5).contains(mbit)),
            "{left:?}"
        );
    }
}
