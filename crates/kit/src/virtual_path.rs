//! The path of a simulation: described by its figures, or a lab's.

mod round_trip;

pub use round_trip::{PATIENCE, packet_time};

use crate::virtual_links::Hop;
use ::path::{
    Assigned, CoDelConfig, FqCoDelConfig, Limit, PieConfig, Pipeline, Probability, QueueSpec,
    RedConfig, Resolver, Spec, StageSpec,
};
use lab::{Topology, profiles};
use record::{LabInfo, LabLink, PathInfo};
use serde_json::json;
use sim::{Addressed, Duplex, Probing, transfer_link};
use std::str::FromStr;
use std::time::Duration;
use units::{Bytes, Rate, Span};

/// Octets of a full packet.
pub const FULL_PACKET: u64 = 1_500;
/// A queue holds at least so many of them.
const LEAST_PACKETS: u64 = 2;

/// Makes a link for packets with `P` in them: [`Spec::build_lazy`], or where there is one a function of the crate that `P` is of, since what is
/// generic is as fast as the crate that it is compiled in.
pub type Build<P> =
    fn(&Spec, u64, Resolver<'_>, &Assigned) -> Result<Pipeline<Addressed<P>>, ::path::Error>;

/// A row of links from the sender to the receiver.
pub struct Path {
    /// What it is called.
    pub name: String,
    /// From the sender to the receiver.
    pub links: Vec<Link>,
}

/// One of them. Data go `up`.
pub struct Link {
    /// Its two nodes, as `a-b`.
    pub name: String,
    /// What it does to data.
    pub up: Spec,
    /// What it does to what comes back.
    pub down: Spec,
    /// What its chance comes from, up and down.
    seeds: [u64; 2],
}

/// One bottleneck.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Of IP packets.
    pub rate: Rate,
    /// Without queueing.
    pub rtt: Span,
    /// Behind the queue.
    pub loss: Probability,
    /// Of the queue.
    pub queue: Size,
    /// How the queue is managed.
    pub aqm: Aqm,
    /// Whether the queue marks.
    pub ecn: bool,
}

/// How a queue is managed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Aqm {
    /// First in, first out (tail drop).
    Fifo,
    /// Random early detection (RED).
    Red,
    /// Controlled delay (RFC 8289).
    #[value(name = "codel")]
    CoDel,
    /// Flow queueing with controlled delay (RFC 8290).
    #[value(name = "fq_codel")]
    FqCoDel,
    /// Proportional integral controller (RFC 8033).
    Pie,
}

/// How much a queue holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// So many times the product of rate and round trip.
    Bdp(f64),
    /// Octets of IP packets.
    Bytes(Bytes),
    /// Full packets.
    Packets(u32),
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        let number = |unit: &str| Some(lower.strip_suffix(unit)?.trim_end().to_owned());
        let bdp = number("bdp").and_then(|number| number.parse().ok());
        let packets = number("packets").and_then(|number| number.parse().ok());
        let is_sound = |bdp: &f64| bdp.is_finite() && *bdp >= 0.0;
        bdp.filter(is_sound)
            .map(Self::Bdp)
            .or_else(|| packets.map(Self::Packets))
            .or_else(|| lower.parse().ok().map(Self::Bytes))
            .ok_or_else(|| {
                format!("'{text}' is not a queue size - write 1bdp, 100packets or 64KiB")
            })
    }
}

/// A share of packets in per cent, as `1%`.
///
/// # Errors
/// When it is no percentage, or not from 0 % to 100 %.
pub fn percent(text: &str) -> Result<Probability, String> {
    let number = text
        .strip_suffix('%')
        .and_then(|number| number.trim().parse::<f64>().ok());
    let share = number.and_then(|percent| Probability::try_from(percent / 100.0).ok());
    share.ok_or_else(|| format!("'{text}' is not a percentage - write 0% to 100%, such as 0.5%"))
}

impl Figures {
    /// The path: a rate and its queue, half the round trip, then loss; acknowledgements come back in the other half,
    /// without limit or loss.
    pub fn path(&self, seed: u64) -> Path {
        let half = StageSpec::Delay {
            delay: Span(self.rtt.0 / 2),
        };
        let bottleneck = StageSpec::Rate {
            rate: self.rate,
            queue: self.queue(),
            cross: None,
        };
        let mut up = vec![bottleneck, half.clone()];
        if self.loss > Probability::default() {
            up.push(StageSpec::Loss {
                probability: self.loss,
            });
        }
        Path {
            name: "simulated path".to_owned(),
            links: vec![Link {
                name: "sender-receiver".to_owned(),
                up: Spec(up),
                down: Spec(vec![half]),
                seeds: [seed, seed.wrapping_add(1)],
            }],
        }
    }

    fn queue(&self) -> QueueSpec {
        let bytes = self.queue_bytes(self.rtt.0);
        let packets = u32::try_from(bytes.div_ceil(FULL_PACKET)).unwrap_or(u32::MAX);
        let ecn = self.ecn;
        match self.aqm {
            Aqm::CoDel => QueueSpec::CoDel(CoDelConfig {
                packets,
                ecn,
                ..CoDelConfig::default()
            }),
            Aqm::Fifo => QueueSpec::Fifo(Limit::bytes(Bytes::new(bytes))),
            Aqm::FqCoDel => QueueSpec::FqCoDel(FqCoDelConfig {
                packets,
                ecn,
                ..FqCoDelConfig::default()
            }),
            Aqm::Pie => QueueSpec::Pie(PieConfig {
                packets,
                ecn,
                ..PieConfig::default()
            }),
            Aqm::Red => QueueSpec::Red(RedConfig {
                packets,
                ecn,
                ..RedConfig::default()
            }),
        }
    }

    fn queue_bytes(&self, rtt: Duration) -> u64 {
        let bytes = match self.queue {
            Size::Bdp(times) => self.rate.bytes_in(rtt.mul_f64(times.min(1e6))),
            Size::Bytes(bytes) => bytes.get(),
            Size::Packets(packets) => u64::from(packets) * FULL_PACKET,
        };
        bytes.max(LEAST_PACKETS * FULL_PACKET)
    }
}

impl Path {
    /// The way from the client to the server of the lab called `name`, or back if `is_reverse`.
    ///
    /// # Errors
    /// When there is no such lab, or its links do what is not simulated.
    pub fn of_lab(name: &str, seed: u64, is_reverse: bool) -> anyhow::Result<Self> {
        Self::of_topology(&profiles::find(name)?, name, seed, is_reverse)
    }

    /// The same for the network `topology`, called `name`.
    ///
    /// # Errors
    /// When its links do what is not simulated.
    pub fn of_topology(
        topology: &Topology,
        name: &str,
        seed: u64,
        is_reverse: bool,
    ) -> anyhow::Result<Self> {
        let mut way = topology.way();
        if is_reverse {
            way.reverse();
        }
        let links = way
            .windows(2)
            .map(|pair| hop(topology, pair[0], pair[1], seed));
        Ok(Self {
            name: format!("{name}, simulated"),
            links: links.collect::<anyhow::Result<_>>()?,
        })
    }

    /// The links themselves.
    ///
    /// # Errors
    /// When a description contradicts itself, or its trace cannot be had.
    pub fn build(&self) -> anyhow::Result<Vec<Duplex>> {
        let trace = |name: &str| profiles::trace(name).map_err(Into::into);
        let delays = Assigned::default();
        let built = self.links.iter().map(|link| {
            let way = |spec, seed| transfer_link(spec, seed, &trace, &delays);
            Ok((
                way(&link.up, link.seeds[0])?,
                way(&link.down, link.seeds[1])?,
            ))
        });
        built.collect()
    }

    /// The links for packets with `P` in them, each made by `build`; a replay writes into `delays` how far its connections are.
    ///
    /// # Errors
    /// As [`Path::build`].
    pub fn hops<P>(&self, delays: &Assigned, build: Build<P>) -> anyhow::Result<Vec<Hop<P>>> {
        let trace = |name: &str| profiles::trace(name).map_err(Into::into);
        let hops = self.links.iter().map(|link| {
            let way = |spec, seed| build(spec, seed, &trace, delays);
            Ok(Hop {
                name: link.name.clone(),
                ways: [
                    way(&link.up, link.seeds[0])?,
                    way(&link.down, link.seeds[1])?,
                ],
                rates: [&link.up, &link.down].map(profiles::rate),
            })
        });
        hops.collect()
    }

    /// All links in a row, and back, for trains of probes.
    ///
    /// # Errors
    /// As [`Path::build`].
    pub fn probing(&self) -> anyhow::Result<Probing> {
        let trace = |name: &str| profiles::trace(name).map_err(Into::into);
        let row = |specs: Vec<&Spec>, seed: u64| {
            let stages = specs.into_iter().flat_map(|spec| spec.0.clone());
            Spec(stages.collect()).build(seed, &trace, &Assigned::default())
        };
        let seeds = self.links.first().map_or([1, 2], |link| link.seeds);
        let there = self.links.iter().map(|link| &link.up).collect();
        let back = self.links.iter().rev().map(|link| &link.down).collect();
        Ok(Probing::new(row(there, seeds[0])?, row(back, seeds[1])?))
    }

    /// Whether some link limits the data's rate.
    pub fn is_limited(&self) -> bool {
        self.limited()[0]
    }

    /// Whether some link limits the rate towards the server, and back.
    pub fn limited(&self) -> [bool; 2] {
        let links = self.links.iter();
        let is_limited =
            |of: fn(&Link) -> &Spec| links.clone().any(|link| profiles::rate(of(link)).is_some());
        [is_limited(|link| &link.up), is_limited(|link| &link.down)]
    }

    /// For the record.
    pub fn info(&self) -> PathInfo {
        let links = self.links.iter().map(|link| LabLink {
            name: link.name.clone(),
            up: json!(link.up),
            down: json!(link.down),
        });
        PathInfo {
            families: vec![4],
            lab: Some(LabInfo {
                name: self.name.clone(),
                links: links.collect(),
                ..LabInfo::default()
            }),
            ..PathInfo::default()
        }
    }
}

/// The link from one node to its neighbour, with the chance that it has in the lab.
fn hop(topology: &Topology, from: &str, to: &str, seed: u64) -> anyhow::Result<Link> {
    let joins = |between: &[String; 2]| {
        between.contains(&from.to_owned()) && between.contains(&to.to_owned())
    };
    let place = topology.links.iter().position(|link| joins(&link.between));
    let link = place.map(|place| &topology.links[place]);
    let (Some(place), Some(link)) = (place, link) else {
        anyhow::bail!("no link leads from '{from}' to '{to}'");
    };
    if link.overhead > 0 {
        anyhow::bail!(
            "link {from} - {to} adds octets to packets, which is not simulated - use 'isobath btc --lab'"
        );
    }
    let first = seed.wrapping_add(2 * place as u64);
    let (mut ways, mut seeds) = ([&link.up, &link.down], [first, first.wrapping_add(1)]);
    if link.between[0] != from {
        ways.reverse();
        seeds.reverse();
    }
    let [up, down] = ways;
    Ok(Link {
        name: format!("{from}-{to}"),
        up: up.clone(),
        down: down.clone(),
        seeds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_shares_carry_their_unit() {
        assert_eq!("0.25bdp".parse(), Ok(Size::Bdp(0.25)));
        assert_eq!("100 packets".parse(), Ok(Size::Packets(100)));
        assert_eq!("64KiB".parse(), Ok(Size::Bytes(Bytes::new(65_536))));
        for text in ["100", "-1bdp", "NaNbdp", "", "packets"] {
            assert!(
                text.parse::<Size>().unwrap_err().contains("64KiB"),
                "{text}"
            );
        }
        assert_eq!(percent("1%").map(f64::from), Ok(0.01));
        for text in ["1", "0.01", "101%", "-1%", "%"] {
            assert!(percent(text).unwrap_err().contains("0.5%"), "{text}");
        }
    }

    #[test]
    fn a_path_has_the_figures_that_describe_it() {
        let figures = Figures {
            rate: "10Mbit".parse().unwrap(),
            rtt: "40ms".parse().unwrap(),
            loss: percent("1%").unwrap(),
            queue: Size::Bdp(1.0),
            aqm: Aqm::Fifo,
            ecn: false,
        };
        let link = &figures.path(1).links[0];
        assert_eq!(
            link.up.describe(),
            "10 Mbit/s, fifo 50 kB (40 ms); delay 20 ms; loss 1 %"
        );
        assert_eq!(link.down.describe(), "delay 20 ms");
        let small = Figures {
            queue: Size::Packets(1),
            aqm: Aqm::CoDel,
            ..figures
        };
        assert!(
            small.path(1).links[0]
                .up
                .describe()
                .contains("codel 2 packets")
        );
    }

    #[test]
    fn every_lab_without_framing_can_be_simulated() {
        for name in profiles::names() {
            let path =
                Path::of_lab(name, 1, false).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(!path.build().unwrap().is_empty(), "{name}");
        }
    }
}
