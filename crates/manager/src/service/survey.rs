//! How everything is at a moment: nodes, paths, what is being measured, what is known.

use super::answer::Answer;
use super::desk::Desk;
use super::offers::WAYS;
use probe::service::Counters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Instant;

/// The desk's answer.
#[derive(Debug)]
pub struct Survey {
    /// Nodes and their paths, as far as they are known here.
    pub paths: Paths,
    /// What the service has done since the start.
    pub counters: Counters,
    /// Queries that are open, and measurements under way.
    pub open: usize,
    /// Paths from this node that are being measured now.
    pub measuring: usize,
}

/// Nodes and their paths.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
pub struct Paths {
    /// Who says so.
    pub node: String,
    /// This node first.
    pub nodes: Vec<Node>,
}

/// A manager.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
pub struct Node {
    /// What it calls itself.
    pub name: String,
    /// To its peers.
    pub paths: Vec<PathState>,
}

/// A path from a node to one of its peers.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
pub struct PathState {
    /// The peer.
    pub to: String,
    /// Whether there is a session between the two.
    pub linked: bool,
    /// What is being measured now, such as `rtt by isochronous`; null when nothing is. Of this node's paths only.
    pub measuring: Option<String>,
    /// The latest answers, one of each estimator. Of this node's paths only.
    pub latest: Vec<Answer>,
}

impl Survey {
    pub(super) fn of(desk: &Desk, now: Instant) -> Self {
        let own = &desk.config.name;
        let peers = desk.config.peers.iter().enumerate();
        let paths: Vec<_> = peers
            .map(|(index, peer)| desk.path_state(index, &peer.name, now))
            .collect();
        let measuring = paths.iter().filter(|path| path.measuring.is_some()).count();
        let node = Node {
            name: own.clone(),
            paths,
        };
        let others = desk.map.reports().map(|report| Node {
            name: report.node.clone(),
            paths: report
                .peers
                .iter()
                .map(|(to, linked)| PathState::elsewhere(to, *linked))
                .collect(),
        });
        Self {
            paths: Paths {
                node: own.clone(),
                nodes: std::iter::once(node).chain(others).collect(),
            },
            counters: desk.service.counters(),
            open: desk.service.open(),
            measuring,
        }
    }
}

impl Desk {
    fn path_state(&self, index: usize, to: &str, now: Instant) -> PathState {
        let running = self
            .service
            .running(index)
            .and_then(|offer| WAYS.get(offer));
        let ends = [self.config.name.as_str(), to];
        let latest = self.service.kept(index);
        PathState {
            to: to.to_owned(),
            linked: self.links.contains_key(&index),
            measuring: running.map(|way| format!("{} by {}", way.what.name(), way.method.name())),
            latest: latest
                .filter_map(|known| Answer::new(known, ends, true, now))
                .collect(),
        }
    }
}

impl PathState {
    fn elsewhere(to: &str, linked: bool) -> Self {
        Self {
            to: to.to_owned(),
            linked,
            measuring: None,
            latest: Vec::new(),
        }
    }
}
