//! How everything is at a moment: what `isobath manager status`, `stats` and `buckets` show, and what is given to Prometheus.

use super::config::CarrierKind;
use super::counters::Count;
use super::link::Way;
use super::network::Network;
use mgrp::reassembly::{State, Status};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::net::{IpAddr, SocketAddr};
use units::Instant;

/// The engine's answer.
#[derive(Debug)]
pub struct Snapshot {
    pub name: String,
    pub running_s: f64,
    /// Tools that are connected.
    pub clients: usize,
    pub counts: Vec<Count>,
    pub peers: Vec<PeerSnapshot>,
}

#[derive(Debug)]
pub struct PeerSnapshot {
    pub name: String,
    pub source: IpAddr,
    pub marked: Vec<Network>,
    pub address: Option<SocketAddr>,
    /// What the path was seen to take.
    pub mtu: Option<u16>,
    pub way: Option<Way>,
    pub linked_s: Option<f64>,
    pub note: Option<String>,
    pub counts: Vec<Count>,
    pub buckets: Vec<Bucket>,
}

/// What is asked over the control socket.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Question {
    Buckets,
    Stats,
    Status,
}

impl Question {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Buckets => "buckets",
            Self::Stats => "stats",
            Self::Status => "status",
        }
    }

    pub fn parse(line: &str) -> Option<Self> {
        let all = [Self::Buckets, Self::Stats, Self::Status];
        all.into_iter().find(|question| question.word() == line)
    }
}

/// The answer to `status`.
#[derive(Debug, Deserialize, Serialize)]
pub struct StatusAnswer {
    pub name: String,
    pub running_s: f64,
    pub clients: usize,
    pub peers: Vec<PeerStatus>,
}

#[derive(Debug, Deserialize, Serialize)]
pub struct PeerStatus {
    pub name: String,
    /// By what tools name it.
    pub overlay_address: IpAddr,
    pub linked: bool,
    /// Way.
    pub address: Option<SocketAddr>,
    /// By what packets go there.
    #[serde(default)]
    pub carrier: Option<CarrierKind>,
    /// Octets of the longest packet that the path there was seen to take.
    #[serde(default)]
    pub mtu: Option<u16>,
    pub linked_s: Option<f64>,
    /// Why it is not linked; or why UDP carries, where this was not what the file says.
    pub reason: Option<String>,
    /// Networks that are behind it for packets that bear the mark.
    pub marked: Vec<Network>,
}

/// The answer to `stats`: counters by name.
#[derive(Debug, Deserialize, Serialize)]
pub struct StatsAnswer {
    pub interface: Map<String, Value>,
    pub peers: Map<String, Value>,
}

/// The answer to `buckets`.
#[derive(Debug, Deserialize, Serialize)]
pub struct BucketsAnswer {
    pub peers: Vec<PeerBuckets>,
}

#[derive(Debug, Deserialize, Serialize)]
pub struct PeerBuckets {
    pub name: String,
    pub buckets: Vec<Bucket>,
}

/// A packet in the making, or one that was (T table 4.2).
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Bucket {
    pub id: u32,
    pub protocol: u8,
    pub pieces: u32,
    pub octets: usize,
    /// Since its first piece came.
    pub age_ms: f64,
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
