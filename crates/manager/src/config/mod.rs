//! What `isobath manager up` is told in its file.
//!
//! Whatever can be found wrong without a network is found wrong when the file is read, in one line that says what to do.

mod check;
mod service;

pub use check::is_name;
pub use service::Endpoints;

use super::network::{Network, Routes};
use mgrp::envelope::Carrier;
use mgrp::peer::{self, Budget, Hold, Policy};
use serde::{Deserialize, Serialize};
use service::ServiceEntry;
use session::{AccessKey, DEFAULT_PORT, Identity};
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::files;
use units::{Bytes, Dscp, Rate, Span};

/// Where the control socket is if nobody says otherwise.
pub const SOCKET: &str = "/run/isobath/manager.sock";

/// The file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// What this manager calls itself; peers know it by that.
    pub name: String,
    /// Name of the TUN interface that it makes for the overlay.
    #[serde(default = "interface")]
    pub interface: String,
    /// Its own addresses in the overlay, at most one of each version.
    pub addresses: Vec<Network>,
    /// Where peers that dial find it; without one, nobody can dial it.
    #[serde(default)]
    listen: Option<String>,
    /// Where its certificate and secret are kept.
    #[serde(default)]
    pub identity: Option<PathBuf>,
    /// Path of its control socket.
    #[serde(default = "socket")]
    pub socket: PathBuf,
    /// Where programs ask what paths are like.
    #[serde(default)]
    service: ServiceEntry,
    /// Where counters can be fetched by HTTP.
    #[serde(default)]
    pub metrics: Option<SocketAddr>,
    /// Octets of the longest packet outside.
    #[serde(default = "mtu")]
    pub mtu: u16,
    /// How long packets wait for probes.
    #[serde(default = "delay")]
    delay: Span,
    /// When they do.
    #[serde(default)]
    hold: HoldKind,
    /// Classes of packets that do not wait for probes.
    #[serde(default)]
    pub prompt: Vec<Dscp>,
    #[serde(default)]
    policy: PolicyTable,
    #[serde(default)]
    budget: Option<BudgetTable>,
    /// The other managers, one a `[[peer]]` table.
    #[serde(default, rename = "peer")]
    pub peers: Vec<PeerTable>,
}

/// Another manager.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerTable {
    /// What it calls itself.
    pub name: String,
    /// Where it listens; without one, it dials.
    #[serde(default)]
    pub endpoint: Option<String>,
    /// Its access key, if this end dials.
    #[serde(default)]
    key: Option<String>,
    /// Which of its keys is valid, if it dials this end.
    #[serde(default)]
    key_number: Option<u32>,
    /// By what packets are to go to it.
    #[serde(default)]
    pub carrier: CarrierKind,
    /// What is behind it in the overlay, its own addresses among them.
    pub routes: Vec<Network>,
    /// What is behind it for packets that bear the mark.
    #[serde(default)]
    pub marked: Vec<Network>,
    /// In place of the delay for all.
    #[serde(default)]
    delay: Option<Span>,
}

/// By what packets go outside.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CarrierKind {
    /// UDP's datagrams.
    #[default]
    Udp,
    /// IP itself, where the other end wants that too and the path lets them pass.
    Raw,
}

/// When packets wait for probes.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum HoldKind {
    /// While a tool sends trains.
    #[default]
    WhileProbing,
    /// Also when none does, so that the delay never changes.
    Always,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PolicyTable {
    /// The first part of each train that may carry.
    ratio: f64,
    /// The number of probes at the head of a train that may.
    first: Option<usize>,
    fragments: bool,
}

impl Default for PolicyTable {
    fn default() -> Self {
        Self {
            ratio: 1.0,
            first: None,
            fragments: true,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BudgetTable {
    /// Of probes to one peer, in octets of IP packets.
    rate: Rate,
    /// At once after a pause; without one, what comes in a second.
    #[serde(default)]
    burst: Option<Bytes>,
}

fn interface() -> String {
    "iso0".to_owned()
}

fn socket() -> PathBuf {
    SOCKET.into()
}

const fn mtu() -> u16 {
    1_500
}

const fn delay() -> Span {
    Span::from_millis(10)
}

impl Config {
    /// Reads and checks the file at `path`.
    ///
    /// # Errors
    ///
    /// One line: what is wrong, where, and what to do.
    pub fn load(path: &Path) -> Result<Self, String> {
        let file = path.display();
        let text = fs::read_to_string(path).map_err(|error| format!("{file}: {error}"))?;
        let config = Self::parse(&text).map_err(|what| format!("{file}: {what}"))?;
        let is_secret =
            config.peers.iter().any(|peer| peer.key.is_some()) || config.endpoints().port.is_some();
        if is_secret && fs::metadata(path).is_ok_and(|file| files::is_everybodys(&file)) {
            return Err(format!(
                "{file}: it holds keys, so it must not be world-readable - run: chmod 600 {file}"
            ));
        }
        Ok(config)
    }

    /// Reads and checks the text of a file.
    ///
    /// # Errors
    ///
    /// One line: what is wrong, where, and what to do.
    pub fn parse(text: &str) -> Result<Self, String> {
        let config: Self = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.unwrap_or_default().matches('\n').count() + 1;
            format!("line {line}: {}", error.message().replace('\n', ", "))
        })?;
        config.check()?;
        Ok(config)
    }

    /// Address and port to listen on; no address for all.
    pub fn listen(&self) -> Option<(Option<IpAddr>, u16)> {
        let text = self.listen.as_ref()?;
        let whole: Option<SocketAddr> = text.parse().ok();
        let (address, port) = whole.map_or_else(
            || (text.parse().ok(), DEFAULT_PORT),
            |whole| (Some(whole.ip()), whole.port()),
        );
        Some((address.filter(|ip: &IpAddr| !ip.is_unspecified()), port))
    }

    /// The peers that dial, by name, and the key of each for a manager of this `identity`.
    pub fn keys(&self, identity: &Identity) -> Vec<(String, AccessKey)> {
        let dialling = self.peers.iter().filter(|peer| peer.endpoint.is_none());
        dialling
            .map(|peer| (peer.name.clone(), peer.key(identity)))
            .collect()
    }

    /// Who is behind which network.
    pub fn routes(&self) -> Routes {
        let peers = self.peers.iter().enumerate();
        let networks = peers.flat_map(|(index, peer)| {
            let networks = peer.routes.iter().chain(&peer.marked);
            networks.map(move |network| (*network, index))
        });
        Routes::new(networks.collect())
    }

    /// All networks to which the mark leads.
    pub fn marked(&self) -> impl Iterator<Item = &Network> {
        self.peers.iter().flat_map(|peer| &peer.marked)
    }

    /// This manager's own address of the same version as `network`.
    pub fn own(&self, network: &Network) -> Option<&Network> {
        let is_v4 = network.address.is_ipv4();
        let mut own = self.addresses.iter();
        own.find(|own| own.address.is_ipv4() == is_v4)
    }

    /// The MTU of the interface: what the longest packet outside has room for by either version of IP, so that it need not change when
    /// a peer comes by the other.
    pub fn inside_mtu(&self) -> usize {
        let source = IpAddr::from([0; 4]);
        let config = peer::Config::new(Carrier::UdpV6, 0, source);
        let mtu = self.mtu;
        peer::Config { mtu, ..config }.longest_packet()
    }

    /// What a session with a peer is to be like.
    pub fn of_session(&self, peer: &PeerTable, carrier: Carrier) -> peer::Config {
        // By these addresses tools are told of a peer, and pieces are kept apart.
        let source = peer.routes.first().map(Network::first);
        let source = source.unwrap_or_else(|| IpAddr::from([0; 4]));
        let Span(delay) = peer.delay.unwrap_or(self.delay);
        peer::Config {
            mtu: self.mtu,
            delay,
            hold: match self.hold {
                HoldKind::WhileProbing => Hold::WhileProbing,
                HoldKind::Always => Hold::Always,
            },
            policy: Policy {
                riding: delay > Duration::ZERO,
                ratio: self.policy.ratio,
                first: self.policy.first.unwrap_or(usize::MAX),
                fragments: self.policy.fragments,
            },
            budget: self.budget.as_ref().map(BudgetTable::budget),
            ..peer::Config::new(carrier, 0, source)
        }
    }
}

impl PeerTable {
    /// Where and with which key it is dialled; none if it dials.
    pub fn dial(&self) -> Option<(&str, AccessKey)> {
        let key = self.key.as_ref()?.parse().ok()?;
        Some((self.endpoint.as_deref()?, key))
    }

    /// The key by which a manager of this `identity` knows it: no other peer has the same, and none can be made of another.
    pub fn key(&self, identity: &Identity) -> AccessKey {
        let number = self.key_number.unwrap_or(1);
        // No name has a space, so no two peers have the same words.
        identity.key_for(&format!("{} {number}", self.name))
    }
}

impl BudgetTable {
    fn budget(&self) -> Budget {
        let octets_per_second = self.rate.as_bps() / 8;
        Budget {
            octets_per_second,
            burst: self.burst.map_or(octets_per_second, Bytes::get),
        }
    }
}
