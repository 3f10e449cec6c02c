//! Which way packets take: the one with the fewest links.

use super::{LinkSpec, Topology};
use path::Spec;
use std::collections::{HashSet, VecDeque};

impl Topology {
    /// The neighbour to which `from` hands packets for `to`: the first step of the way with the fewest links.
    pub fn next_hop(&self, from: &str, to: &str) -> Option<&str> {
        // Breadth first from the far end, so that the parent of `from` is its next hop.
        let mut seen = HashSet::from([to]);
        let mut frontier = VecDeque::from([to]);
        while let Some(node) = frontier.pop_front() {
            for neighbour in self.neighbours(node) {
                if neighbour == from {
                    return self.nodes().find(|name| *name == node);
                }
                if seen.insert(neighbour) {
                    frontier.push_back(neighbour);
                }
            }
        }
        None
    }

    fn neighbours<'a>(&'a self, node: &'a str) -> impl Iterator<Item = &'a str> {
        self.links
            .iter()
            .filter_map(move |link| match &link.between {
                [a, b] if a == node => Some(b.as_str()),
                [a, b] if b == node => Some(a.as_str()),
                _ => None,
            })
    }

    /// The nodes from the client to the server, both included.
    pub fn way(&self) -> Vec<&str> {
        self.way_to(&self.server)
    }

    /// The nodes from the client to node `to`, both included.
    pub fn way_to(&self, to: &str) -> Vec<&str> {
        let mut way = vec![self.client.as_str()];
        while let Some(next) = way.last().and_then(|last| self.next_hop(last, to)) {
            way.push(next);
            if next == to {
                break;
            }
        }
        way
    }

    /// What packets meet from `from` to its neighbour `to`.
    pub fn direction(&self, from: &str, to: &str) -> Option<(&LinkSpec, &Spec)> {
        self.links.iter().find_map(|link| match &link.between {
            [a, b] if a == from && b == to => Some((link, &link.up)),
            [a, b] if a == to && b == from => Some((link, &link.down)),
            _ => None,
        })
    }
}
