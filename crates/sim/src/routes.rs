//! Which link a node hands a packet to: the first of the way with the fewest links.

use crate::{LinkId, NodeId};
use std::collections::VecDeque;

/// The routes of all nodes.
#[derive(Debug)]
pub(crate) struct Routes(Vec<Route>);

#[derive(Clone, Debug)]
enum Route {
    /// No link leads away.
    Nowhere,
    /// The only link.
    Only(LinkId),
    /// The link for each destination, by its number.
    Table(Vec<Option<LinkId>>),
}

impl Routes {
    /// Routes among `nodes` nodes by `links`, each given as (from, to). Of several ways with equally many links the one
    /// that begins with the lowest link number is taken.
    pub(crate) fn new(nodes: usize, links: &[(NodeId, NodeId)]) -> Self {
        let mut leaving = vec![0_usize; nodes];
        let mut routes = vec![Route::Nowhere; nodes];
        for (number, (from, _)) in (0..).zip(links) {
            let node = from.0 as usize;
            leaving[node] += 1;
            routes[node] = match leaving[node] {
                1 => Route::Only(LinkId(number)),
                _ => Route::Table(vec![None; nodes]),
            };
        }
        let mut routes = Self(routes);
        if leaving.iter().any(|count| *count > 1) {
            let arriving = arriving(nodes, links);
            for destination in 0..nodes {
                routes.fill(destination, &arriving);
            }
        }
        routes
    }

    /// The link on which `node` sends a packet for `to`.
    #[inline]
    pub(crate) fn next(&self, node: NodeId, to: NodeId) -> Option<LinkId> {
        match self.0.get(node.0 as usize)? {
            Route::Nowhere => None,
            Route::Only(link) => Some(*link),
            Route::Table(links) => *links.get(to.0 as usize)?,
        }
    }

    /// Fills in the tables' entries for one destination: breadth first from there, against the links.
    fn fill(&mut self, destination: usize, arriving: &[Vec<(usize, LinkId)>]) {
        let mut is_seen = vec![false; self.0.len()];
        is_seen[destination] = true;
        let mut frontier = VecDeque::from([destination]);
        while let Some(node) = frontier.pop_front() {
            for &(from, link) in &arriving[node] {
                if std::mem::replace(&mut is_seen[from], true) {
                    continue;
                }
                if let Route::Table(table) = &mut self.0[from] {
                    table[destination] = Some(link);
                }
                frontier.push_back(from);
            }
        }
    }
}

/// The links that lead to each node, with the nodes at which they begin.
fn arriving(nodes: usize, links: &[(NodeId, NodeId)]) -> Vec<Vec<(usize, LinkId)>> {
    let mut arriving = vec![Vec::new(); nodes];
    for (number, (from, to)) in (0..).zip(links) {
        arriving[to.0 as usize].push((from.0 as usize, LinkId(number)));
    }
    arriving
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Links in both directions.
    fn both(pairs: &[(u32, u32)]) -> Vec<(NodeId, NodeId)> {
        let ways = pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
        ways.map(|(a, b)| (NodeId(a), NodeId(b))).collect()
    }

    #[test]
    fn a_packet_takes_the_way_with_the_fewest_links() {
        // A ring of five nodes: 0-1-2-3-4-0.
        let links = both(&[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]);
        let routes = Routes::new(5, &links);
        let mut node = NodeId(0);
        let mut way = vec![0];
        while node != NodeId(3) {
            let link = routes.next(node, NodeId(3)).unwrap();
            assert_eq!(links[link.0 as usize].0, node);
            node = links[link.0 as usize].1;
            way.push(node.0);
        }
        assert_eq!(way, [0, 4, 3]);
    }

    #[test]
    fn what_cannot_be_reached_has_no_route() {
        let routes = Routes::new(4, &both(&[(0, 1), (1, 2)]));
        assert_eq!(routes.next(NodeId(1), NodeId(3)), None);
        assert_eq!(routes.next(NodeId(3), NodeId(0)), None);
        assert_eq!(routes.next(NodeId(9), NodeId(0)), None);
    }
}
