//! What a network looks like: hosts, routers, and the links between them, as TOML.
//!
//! ```toml
//! summary = "a DSL line"
//! client = "home"                 # who measures
//! server = "server"               # against whom
//! hosts = ["home", "server"]
//! routers = ["dslam"]
//!
//! [[link]]
//! between = ["home", "dslam"]
//! up   = [{ kind = "rate", rate = "2Mbit", queue = { kind = "fifo", bytes = "50kB" } }]
//! down = [{ kind = "rate", rate = "16Mbit", queue = { kind = "fifo", bytes = "200kB" } }]
//! ```
//!
//! `up` is what happens to packets from the first node to the second, `down` from the second to the first. Addresses and
//! routes follow from the graph: node number `n` is `10.77.0.n` and `fd77::n` on every one of its interfaces, and packets take
//! the way with the fewest links.

mod way;

#[cfg(test)]
mod tests;

use crate::{Error, LimitSpec};
use path::Spec;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::iter;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use units::Span;

/// A network: nodes and links. Read it with [`Topology::parse`], which checks it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// What it stands for, in one line.
    pub summary: String,
    /// The host that measures.
    pub client: String,
    /// The host that it measures against.
    pub server: String,
    /// Other hosts that it measures against at the same time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_servers: Vec<String>,
    /// Whether nodes have IPv6 addresses and routes beside those of IPv4.
    #[serde(default = "yes")]
    pub ipv6: bool,
    /// The least time from one ICMP error of a node to the next to the same host, as kernels keep it by default; without it
    /// no error is held back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icmp_interval: Option<Span>,
    /// Names of the nodes that originate traffic.
    pub hosts: Vec<String>,
    /// Names of the nodes that forward it.
    #[serde(default)]
    pub routers: Vec<String>,
    /// The links.
    #[serde(rename = "link")]
    pub links: Vec<LinkSpec>,
    /// The hosts with less processor time than this machine has.
    #[serde(default, rename = "limit", skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitSpec>,
}

/// A link between two nodes.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// The two nodes.
    pub between: [String; 2],
    /// Longest IP packet, in octets.
    #[serde(default = "default_mtu")]
    pub mtu: u32,
    /// Octets that the link adds to each IP packet (framing), counted by rates and queues.
    #[serde(default)]
    pub overhead: u32,
    /// From the first node to the second.
    pub up: Spec,
    /// From the second node to the first.
    pub down: Spec,
}

const fn yes() -> bool {
    true
}

const fn default_mtu() -> u32 {
    1_500
}

/// Interface names are at most 15 octets and ours begin with `to-`.
const LONGEST_NAME: usize = 12;
const MOST_NODES: usize = 250;

impl Topology {
    /// Reads and checks a topology; `origin` names the file in errors.
    ///
    /// # Errors
    ///
    /// [`Error::Toml`] with the line and what was expected, [`Error::Topology`] for one that does not hang together.
    pub fn parse(text: &str, origin: &str) -> Result<Self, Error> {
        let topology: Self = toml::from_str(text).map_err(|e| Error::toml(origin, text, &e))?;
        topology.check().map_err(|what| Error::Topology {
            origin: origin.to_owned(),
            what,
        })?;
        Ok(topology)
    }

    /// The same network, measured by the first of `ends` against the second; `None` leaves an end as it is.
    ///
    /// # Errors
    ///
    /// [`Error::Topology`] for a node that there is not, or that is to be both.
    pub fn between(mut self, ends: [Option<&str>; 2]) -> Result<Self, Error> {
        let [client, server] = ends;
        self.client = client.map_or(self.client, str::to_owned);
        self.server = server.map_or(self.server, str::to_owned);
        self.more_servers.clear();
        let what = if self.client == self.server {
            Err(format!("'{}' cannot measure against itself", self.client))
        } else {
            self.check()
        };
        what.map_err(|what| Error::Topology {
            origin: "the lab".to_owned(),
            what,
        })?;
        Ok(self)
    }

    fn check(&self) -> Result<(), String> {
        let nodes: Vec<_> = self.nodes().collect();
        let mut seen = HashSet::new();
        for name in &nodes {
            if !is_name(name) {
                return Err(format!(
                    "'{name}' is not a node name - use 1 to {LONGEST_NAME} letters, digits or '-'"
                ));
            }
            if !seen.insert(*name) {
                return Err(format!("node '{name}' is listed twice"));
            }
        }
        if nodes.len() > MOST_NODES {
            return Err(format!(
                "{} nodes - at most {MOST_NODES} are possible",
                nodes.len()
            ));
        }
        let named = self.links.iter().flat_map(|link| &link.between);
        let named = named.map(String::as_str);
        let unknown = named
            .chain([&*self.client])
            .chain(self.servers())
            .chain(self.limits.iter().map(|limit| &*limit.host))
            .find(|n| !seen.contains(n));
        if let Some(name) = unknown {
            return Err(format!("node '{name}' is in neither 'hosts' nor 'routers'"));
        }
        self.check_roles()?;
        self.check_links()
    }

    fn check_roles(&self) -> Result<(), String> {
        if let Some(name) = repeated(self.servers()) {
            return Err(format!("server '{name}' is named twice"));
        }
        if self.more_servers.contains(&self.client) {
            return Err(format!(
                "'{}' is the client and in 'more_servers'",
                self.client
            ));
        }
        match repeated(self.limits.iter().map(|limit| &*limit.host)) {
            Some(name) => Err(format!("host '{name}' has two limits - write one")),
            None => Ok(()),
        }
    }

    fn check_links(&self) -> Result<(), String> {
        let mut pairs = HashSet::new();
        for link in &self.links {
            let [a, b] = &link.between;
            let pair = if a < b { (a, b) } else { (b, a) };
            if a == b || !pairs.insert(pair) {
                return Err(format!(
                    "link {a} - {b}: two nodes have one link, and none to themselves"
                ));
            }
            if !(1_280..=65_535).contains(&link.mtu) {
                return Err(format!(
                    "link {a} - {b}: mtu {} is not between 1280 and 65535",
                    link.mtu
                ));
            }
        }
        for name in self.nodes().filter(|name| *name != self.client) {
            if self.next_hop(&self.client, name).is_none() {
                return Err(format!("no links lead from '{}' to '{name}'", self.client));
            }
        }
        Ok(())
    }

    /// All nodes: hosts, then routers.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.hosts.iter().chain(&self.routers).map(String::as_str)
    }

    /// The hosts to measure against: `server`, then `more_servers`.
    pub fn servers(&self) -> Vec<&str> {
        let more = self.more_servers.iter().map(String::as_str);
        iter::once(&*self.server).chain(more).collect()
    }

    /// The addresses of node `name`: IPv4, then IPv6 unless the lab has none.
    pub fn addresses(&self, name: &str) -> Option<Vec<IpAddr>> {
        // At most MOST_NODES, so the number fits.
        let number = u8::try_from(self.nodes().position(|node| node == name)? + 1).ok()?;
        let v4 = Ipv4Addr::new(10, 77, 0, number);
        let v6 = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, number.into());
        let v6 = self.ipv6.then_some(v6.into());
        Some(iter::once(v4.into()).chain(v6).collect())
    }
}

/// The first name that comes a second time.
fn repeated<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = HashSet::new();
    names.into_iter().find(|name| !seen.insert(*name))
}

fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(is_plain)
}
