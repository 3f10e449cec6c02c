//! How everything is at a moment: what `isobath manager status`, `stats` and `buckets` show, and what is given to Prometheus.

use super::config::CarrierKind;
use super::counters::Count;
use super::network::Network;
use super::way::Way;
use mgrp::reassembly::{State, Status};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::net::{IpAddr, SocketAddr};
use units::Instant;

/// The engine's answer.
#[derive(Debug)]
pub struct Snapshot {
    /// What this manager calls itself.
    pub name: String,
    /// Seconds since its start.
    pub running_s: f64,
    /// Tools that are connected.
    pub clients: usize,
    /// Counters of the overlay interface and of clients, since the start.
    pub counts: Vec<Count>,
    /// All peers of the file, linked or not.
    pub peers: Vec<PeerSnapshot>,
}

/// A peer, and its link if there is one.
#[derive(Debug)]
pub struct PeerSnapshot {
    /// What it calls itself.
    pub name: String,
    /// Its address in the overlay, by which tools name it.
    pub source: IpAddr,
    /// Networks that are behind it for packets that bear the mark.
    pub marked: Vec<Network>,
    /// Where its datagrams go outside; none without a link.
    pub address: Option<SocketAddr>,
    /// What the path was seen to take.
    pub mtu: Option<u16>,
    /// By what packets go there; none without a link.
    pub way: Option<Way>,
    /// Seconds since the link began; none without one.
    pub linked_s: Option<f64>,
    /// Why there is no link.
    pub note: Option<String>,
    /// Its counters since the start, over all of its sessions.
    pub counts: Vec<Count>,
    /// Packets from it that are being put together, or were of late.
    pub buckets: Vec<Bucket>,
}

/// What is asked over the control socket.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Question {
    /// State of the peers' reassembly tables.
    Buckets,
    /// Counters by name.
    Stats,
    /// Peers, and how they are linked.
    Status,
}

impl Question {
    /// The line that asks it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Buckets => "buckets",
            Self::Stats => "stats",
            Self::Status => "status",
        }
    }

    /// The question that a line asks, if it is one.
    pub fn parse(line: &str) -> Option<Self> {
        let all = [Self::Buckets, Self::Stats, Self::Status];
        all.into_iter().find(|question| question.word() == line)
    }
}

/// The answer to `status`.
#[derive(Debug, Deserialize, Serialize)]
pub struct StatusAnswer {
    /// What the manager calls itself.
    pub name: String,
    /// Seconds since its start.
    pub running_s: f64,
    /// Tools that are connected.
    pub clients: usize,
    /// All peers of the file, linked or not.
    pub peers: Vec<PeerStatus>,
}

/// A peer in the answer to `status`.
#[derive(Debug, Deserialize, Serialize)]
pub struct PeerStatus {
    /// What it calls itself.
    pub name: String,
    /// By what tools name it.
    pub overlay_address: IpAddr,
    /// Whether there is a session with it.
    pub linked: bool,
    /// Way.
    pub address: Option<SocketAddr>,
    /// By what packets go there.
    #[serde(default)]
    pub carrier: Option<CarrierKind>,
    /// Octets of the longest packet that the path there was seen to take.
    #[serde(default)]
    pub mtu: Option<u16>,
    /// Seconds since the link began; null without one.
    pub linked_s: Option<f64>,
    /// Why it is not linked; or why UDP carries, where this was not what the file says.
    pub reason: Option<String>,
    /// Networks that are behind it for packets that bear the mark.
    pub marked: Vec<Network>,
}

/// The answer to `stats`: counters by name.
#[derive(Debug, Deserialize, Serialize)]
pub struct StatsAnswer {
    /// Counters of the overlay interface and of clients.
    pub interface: Map<String, Value>,
    /// Under the name of each peer an object with its counters.
    pub peers: Map<String, Value>,
}

/// The answer to `buckets`.
#[derive(Debug, Deserialize, Serialize)]
pub struct BucketsAnswer {
    /// All peers of the file, linked or not.
    pub peers: Vec<PeerBuckets>,
}

/// The reassembly table of a peer.
#[derive(Debug, Deserialize, Serialize)]
pub struct PeerBuckets {
    /// What the peer calls itself.
    pub name: String,
    /// Packets in the making, and some that were.
    pub buckets: Vec<Bucket>,
}

/// A packet in the making, or one that was (T table 4.2).
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Bucket {
    /// The packet's number among those of its sender.
    pub id: u32,
    /// Its protocol, as IP numbers it.
    pub protocol: u8,
    /// Fragments that have come.
    pub pieces: u32,
    /// Octets that are kept.
    pub octets: usize,
    /// Since its first piece came.
    pub age_ms: f64,
    /// `growing`, `whole`, `contradicted`, `expired` or `evicted`.
    pub state: String,
}

impl From<(State, Instant)> for Bucket {
    fn from((state, now): (State, Instant)) -> Self {
        let word = match state.status {
            Status::Growing => "growing",
            Status::Whole => "whole",
            Status::Contradicted => "contradicted",
            Status::Expired => "expired",
            Status::Evicted => "evicted",
        };
        Self {
            id: state.key.id,
            protocol: state.key.protocol,
            pieces: state.fragments,
            octets: state.octets,
            age_ms: now.since(state.since).as_secs_f64() * 1e3,
            state: word.to_owned(),
        }
    }
}

impl Snapshot {
    /// The answer to a question, as one JSON object.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn answer(self, question: Question) -> serde_json::Result<String> {
        match question {
            Question::Buckets => serde_json::to_string(&self.buckets()),
            Question::Stats => serde_json::to_string(&self.stats()),
            Question::Status => serde_json::to_string(&self.status()),
        }
    }

    fn status(self) -> StatusAnswer {
        let peer = |peer: PeerSnapshot| {
            let (carrier, reason) = match peer.way {
                None => (None, peer.note),
                Some(Way::Raw) => (Some(CarrierKind::Raw), None),
                Some(Way::Udp(reason)) => (Some(CarrierKind::Udp), reason),
            };
            PeerStatus {
                name: peer.name,
                overlay_address: peer.source,
                linked: peer.address.is_some(),
                address: peer.address,
                carrier,
                mtu: peer.mtu,
                linked_s: peer.linked_s,
                reason,
                marked: peer.marked,
            }
        };
        StatusAnswer {
            name: self.name,
            running_s: self.running_s,
            clients: self.clients,
            peers: self.peers.into_iter().map(peer).collect(),
        }
    }

    fn stats(self) -> StatsAnswer {
        let peers = self.peers.into_iter();
        let peers = peers.map(|peer| (peer.name, Value::Object(by_name(peer.counts))));
        StatsAnswer {
            interface: by_name(self.counts),
            peers: peers.collect(),
        }
    }

    fn buckets(self) -> BucketsAnswer {
        let peers = self.peers.into_iter().map(|peer| PeerBuckets {
            name: peer.name,
            buckets: peer.buckets,
        });
        BucketsAnswer {
            peers: peers.collect(),
        }
    }
}

fn by_name(counts: Vec<Count>) -> Map<String, Value> {
    let entries = counts.into_iter();
    entries
        .map(|(name, _, count)| (name, count.into()))
        .collect()
}
