//! Which managers there are, and which of them are linked: what any of them can be asked for.
//!
//! Each manager says every ten seconds, and when something changes, with whom it is linked: a [`Report`], with a number that grows.
//! Whoever hears a report that is newer than what it knows of that node passes it on to all its other peers; any other it drops. So a report
//! crosses each link at most once each way, and ends there. The peer from which the newest report came first is the way towards
//! that node.

use crate::config::is_name;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;
use units::Instant;

/// How often a manager says with whom it is linked.
pub(super) const REFRESH: Duration = Duration::from_secs(10);
/// A node that was not heard of for so long is forgotten.
const FORGET: Duration = Duration::from_secs(35);
/// From one node no more than one report is taken in this time.
const LEAST: Duration = Duration::from_millis(200);
/// Nodes that are known at most, and peers of each.
const MOST_NODES: usize = 256;
const MOST_PEERS: usize = 64;

/// What a manager says of itself.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Report {
    pub node: String,
    /// Of its reports; the newest has the highest.
    pub number: u64,
    /// Its peers, and whether it is linked with each now.
    pub peers: BTreeMap<String, bool>,
}

struct Node {
    report: Report,
    heard: Instant,
    via: usize,
}

/// See the [module](self).
pub(super) struct Map {
    own: String,
    nodes: BTreeMap<String, Node>,
}

impl Map {
    /// Of the manager of this name.
    pub(super) const fn new(own: String) -> Self {
        let nodes = BTreeMap::new();
        Self { own, nodes }
    }

    /// Takes a report that the peer with this number has passed on; whether it is news, which others are to be told.
    pub(super) fn handle(&mut self, report: &Report, via: usize, now: Instant) -> bool {
        let is_right = report.peers.len() <= MOST_PEERS
            && report
                .peers
                .keys()
                .chain([&report.node])
                .all(|name| is_name(name))
            && report.node != self.own;
        let known = self.nodes.get(&report.node);
        let is_new = known.map_or(self.nodes.len() < MOST_NODES, |known| {
            report.number > known.report.number && now.since(known.heard) >= LEAST
        });
        if !is_right || !is_new {
            return false;
        }
        let node = Node {
            report: report.clone(),
            heard: now,
            via,
        };
        self.nodes.insert(report.node.clone(), node);
        true
    }

    /// Forgets nodes that were not heard of for too long.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.nodes.retain(|_, node| now.since(node.heard) < FORGET);
    }

    /// The peer behind which a node is.
    pub(super) fn towards(&self, node: &str) -> Option<usize> {
        self.nodes.get(node).map(|node| node.via)
    }

    /// What is known of all others, by their names.
    pub(super) fn reports(&self) -> impl Iterator<Item = &Report> {
        self.nodes.values().map(|node| &node.report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    fn report(node: &str, number: u64) -> Report {
        Report {
            node: node.to_owned(),
            number,
            peers: BTreeMap::from([("x".to_owned(), true)]),
        }
    }

    #[test]
    fn a_report_crosses_each_link_of_a_ring_once_each_way_and_ends() {
        // Four nodes in a ring with a chord: node n has these peers.
        let peers: [&[usize]; 4] = [&[1, 3, 2], &[0, 2], &[1, 3, 0], &[2, 0]];
        let mut maps: Vec<Map> = (0..4).map(|n| Map::new(format!("n{n}"))).collect();
        let mut queue: VecDeque<(usize, usize)> = peers[0].iter().map(|to| (0, *to)).collect();
        let news = report("n0", 1);
        let mut crossed = 0;
        while let Some((from, to)) = queue.pop_front() {
            crossed += 1;
            assert!(crossed <= 10, "five links, two ways");
            let via = peers[to].iter().position(|peer| *peer == from).unwrap();
            if maps[to].handle(&news, via, Instant::ZERO) {
                queue.extend(
                    peers[to]
                        .iter()
                        .filter(|other| **other != from)
                        .map(|other| (to, *other)),
                );
            }
        }
        // Every way leads to it.
        for start in 1..4 {
            let mut at = start;
            for _ in 0..4 {
                if at != 0 {
                    at = peers[at][maps[at].towards("n0").unwrap()];
                }
            }
            assert_eq!(at, 0);
        }
    }

    #[test]
    fn what_is_old_too_often_or_too_much_is_not_taken() {
        let mut map = Map::new("own".to_owned());
        let at = Instant::from_millis;
        assert!(map.handle(&report("m5", 5), 0, at(0)));
        assert!(!map.handle(&report("m5", 5), 1, at(1_000)), "the same");
        assert!(!map.handle(&report("m5", 4), 1, at(1_000)), "older");
        assert!(!map.handle(&report("m5", 6), 1, at(100)), "too soon");
        assert!(map.handle(&report("m5", 6), 1, at(1_000)));
        assert_eq!(map.towards("m5"), Some(1));
        assert!(!map.handle(&report("own", 9), 0, at(0)));
        assert!(!map.handle(&report("no name", 9), 0, at(0)));
        for number in 0..MOST_NODES {
            map.handle(&report(&format!("n{number}"), 1), 0, at(1_000));
        }
        assert_eq!(map.reports().count(), MOST_NODES);
        map.handle_timeout(at(36_500));
        assert_eq!(map.reports().count(), 0);
    }
}
