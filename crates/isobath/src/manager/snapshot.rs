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
pub(crate) struct Snapshot {
    pub(crate) name: String,
    pub(crate) running_s: f64,
    /// Tools that are connected.
    pub(crate) clients: usize,
    pub(crate) counts: Vec<Count>,
    pub(crate) peers: Vec<PeerSnapshot>,
}

#[derive(Debug)]
pub(crate) struct PeerSnapshot {
    pub(crate) name: String,
    pub(crate) source: IpAddr,
    pub(crate) marked: Vec<Network>,
    pub(crate) address: Option<SocketAddr>,
    /// What the path was seen to take.
    pub(crate) mtu: Option<u16>,
    pub(crate) way: Option<Way>,
    pub(crate) linked_s: Option<f64>,
    pub(crate) note: Option<String>,
    pub(crate) counts: Vec<Count>,
    pub(crate) buckets: Vec<Bucket>,
}

/// What is asked over the control socket.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Question {
    Buckets,
    Stats,
    Status,
}

impl Question {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Buckets => "buckets",
            Self::Stats => "stats",
            Self::Status => "status",
        }
    }

    pub(crate) fn parse(line: &str) -> Option<Self> {
        let all = [Self::Buckets, Self::Stats, Self::Status];
        all.into_iter().find(|question| question.word() == line)
    }
}

/// The answer to `status`.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct StatusAnswer {
    pub(crate) name: String,
    pub(crate) running_s: f64,
    pub(crate) clients: usize,
    pub(crate) peers: Vec<PeerStatus>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct PeerStatus {
    pub(crate) name: String,
    /// By what tools name it.
    pub(crate) overlay_address: IpAddr,
    pub(crate) linked: bool,
    /// Way.
    pub(crate) address: Option<SocketAddr>,
    /// By what packets go there.
    #[serde(default)]
    pub(crate) carrier: Option<CarrierKind>,
    /// Octets of the longest packet that the path there was seen to take.
    #[serde(default)]
    pub(crate) mtu: Option<u16>,
    pub(crate) linked_s: Option<f64>,
    /// Why it is not linked; or why UDP carries, where this was not what the file says.
    pub(crate) reason: Option<String>,
    /// Networks that are behind it for packets that bear the mark.
    pub(crate) marked: Vec<Network>,
}

/// The answer to `stats`: counters by name.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct StatsAnswer {
    pub(crate) interface: Map<String, Value>,
    pub(crate) peers: Map<String, Value>,
}

/// The answer to `buckets`.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct BucketsAnswer {
    pub(crate) peers: Vec<PeerBuckets>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct PeerBuckets {
    pub(crate) name: String,
    pub(crate) buckets: Vec<Bucket>,
}

/// A packet in the making, or one that was (T table 4.2).
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Bucket {
    pub(crate) id: u32,
    pub(crate) protocol: u8,
    pub(crate) pieces: u32,
    pub(crate) octets: usize,
    /// Since its first piece came.
    pub(crate) age_ms: f64,
    pub(crate) state: String,
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
    pub(crate) fn answer(self, question: Question) -> serde_json::Result<String> {
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
