//! Which links hosts share, and at which of them load makes a queue grow, as path traces tell.
//!
//! Most routers answer a probe that expires at them from the interface at which it came. So the address of a hop names the link before it,
//! and the hosts whose traces have that address, together with those that the traces lead to, are the two sides of the link. The router at
//! the other end of it has another address, and the same two sides the other way round: both are one link here, and so are all links in a
//! row between the same hosts. The link before the first hop is the host's own.
//!
//! Some routers have one address for all their interfaces. They are known by neighbours that come before them in one trace and after them
//! in another, or by hosts that are on both of their sides. Then two addresses, of the routers at its ends, name a link.
//!
//! A link is worth a lease where load makes its queue grow ([`Shared::is_queue`]) and nothing else keeps two runs from being there at once.
//! A link with a single host on one side needs none: the runs of that host take turns anyway. Of two links of which one is crossed by all
//! pairs that cross the other, it alone is enough.

mod traces;

use crate::Name;
use crate::file::{FleetFile, LinkSpec};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
pub(crate) use traces::{Traced, traces};

/// Of the traces that cross a link a tenth show its queue, or it is taken for chance.
const LEAST_SHARE: usize = 10;

/// Hosts at either end of a link; the end with fewer is first, of equals the one whose names come first.
pub(crate) type Sides = [BTreeSet<Name>; 2];

/// What traces tell.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Those where queues grow most often first.
    pub(crate) links: Vec<Shared>,
    /// Routers that name no link: hosts are on both of their sides, as when routes have changed.
    pub(crate) left_out: BTreeSet<IpAddr>,
}

/// A link that hosts share.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shared {
    pub(crate) sides: Sides,
    /// Its routers' addresses, as seen from either side.
    pub(crate) routers: BTreeSet<IpAddr>,
    /// Pairs of hosts whose traces cross it.
    pub(crate) pairs: BTreeSet<[Name; 2]>,
    /// The numbers of the traces that cross it.
    pub(crate) traces: BTreeSet<usize>,
    /// Those of them in which delay under load began to rise at this link, and by how many ms.
    pub(crate) rises: BTreeMap<usize, f64>,
}

/// All links that hosts share by `traced`.
pub(crate) fn shared(traced: &[Traced]) -> Found {
    let crossings: Vec<_> = crossings(traced).collect();
    let wide = one_address(traced, &crossings);
    let mut links: BTreeMap<Key, Seen> = BTreeMap::new();
    for crossing in &crossings {
        if let Some((key, is_turned)) = crossing.key(&wide) {
            let seen = links.entry(key).or_default();
            seen.enter(crossing, &traced[crossing.trace], is_turned);
        }
    }
    let (cuts, others): (Vec<_>, Vec<_>) = links.into_iter().partition(|(_, seen)| seen.is_cut());
    let left_out = others.iter().flat_map(|(key, _)| key.routers()).collect();
    let mut merged: BTreeMap<Sides, Shared> = BTreeMap::new();
    for (key, seen) in cuts {
        let Seen {
            ends,
            pairs,
            traces,
            rises,
        } = seen;
        let link = merged.entry(in_order(ends)).or_default();
        link.routers.extend(key.routers());
        link.pairs.extend(pairs);
        link.traces.extend(traces);
        link.rises.extend(rises);
    }
    let links = merged.into_iter();
    let mut links: Vec<_> = links
        .map(|(sides, link)| Shared { sides, ..link })
        .filter(|link| link.sides.iter().all(|side| side.len() > 1))
        .collect();
    links.sort_by_key(|link| Reverse((link.rises.len(), link.pairs.len())));
    Found { links, left_out }
}

/// A trace at a link: which, the router before it where it answered, and the router behind it.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    trace: usize,
    before: Option<IpAddr>,
    router: IpAddr,
}

/// What names a link: the address of the router behind it, or those at both of its ends.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Key {
    Interface(IpAddr),
    Ends([IpAddr; 2]),
}

impl Key {
    fn routers(self) -> Vec<IpAddr> {
        match self {
            Self::Interface(router) => vec![router],
            Self::Ends(routers) => routers.to_vec(),
        }
    }
}

impl Crossing {
    /// What names the link, and whether the trace crosses it from its second end to its first; nothing where that cannot be told.
    fn key(&self, wide: &BTreeSet<IpAddr>) -> Option<(Key, bool)> {
        let router = self.router;
        if !wide.contains(&router) {
            return Some((Key::Interface(router), false));
        }
        let before = self.before?;
        let is_turned = router < before;
        let ends = if is_turned {
            [router, before]
        } else {
            [before, router]
        };
        Some((Key::Ends(ends), is_turned))
    }
}

/// Every link of every trace but the first, which is the host's own.
fn crossings(traced: &[Traced]) -> impl Iterator<Item = Crossing> {
    traced.iter().enumerate().flat_map(|(number, trace)| {
        let hops = trace.routers.iter().enumerate();
        hops.filter(|(_, (hop, _))| *hop > 1)
            .map(move |(at, &(hop, router))| {
                let before = at.checked_sub(1).map(|before| trace.routers[before]);
                let before = before.filter(|(before, _)| before + 1 == hop);
                Crossing {
                    trace: number,
                    before: before.map(|(_, router)| router),
                    router,
                }
            })
    })
}

/// Routers that have one address for all their interfaces.
fn one_address(traced: &[Traced], crossings: &[Crossing]) -> BTreeSet<IpAddr> {
    let steps = crossings.iter();
    let steps: BTreeSet<_> = steps
        .filter_map(|crossing| Some((crossing.before?, crossing.router)))
        .collect();
    let both_ways = steps.iter().filter(|(a, b)| steps.contains(&(*b, *a)));
    let mut wide: BTreeSet<_> = both_ways.map(|(a, _)| *a).collect();
    let mut by_router: BTreeMap<IpAddr, Seen> = BTreeMap::new();
    for crossing in crossings {
        let seen = by_router.entry(crossing.router).or_default();
        seen.enter(crossing, &traced[crossing.trace], false);
    }
    let mixed = by_router.into_iter().filter(|(_, seen)| !seen.is_cut());
    wide.extend(mixed.map(|(router, _)| router));
    wide
}

/// What is seen of a link.
#[derive(Debug, Default)]
struct Seen {
    /// Hosts at its first end, and at its second.
    ends: Sides,
    pairs: BTreeSet<[Name; 2]>,
    traces: BTreeSet<usize>,
    rises: BTreeMap<usize, f64>,
}

impl Seen {
    fn enter(&mut self, crossing: &Crossing, trace: &Traced, is_turned: bool) {
        let [from, to] = &trace.ends;
        let [first, second] = if is_turned { [to, from] } else { [from, to] };
        self.ends[0].insert(first.clone());
        self.ends[1].insert(second.clone());
        let mut pair = trace.ends.clone();
        pair.sort();
        self.pairs.insert(pair);
        self.traces.insert(crossing.trace);
        let rise = trace.rise.filter(|rise| rise.at == crossing.router);
        self.rises
            .extend(rise.map(|rise| (crossing.trace, rise.ms)));
    }

    /// Whether no host is on both sides.
    fn is_cut(&self) -> bool {
        self.ends[0].is_disjoint(&self.ends[1])
    }
}

impl Shared {
    /// Whether load makes its queue grow.
    pub(crate) fn is_queue(&self) -> bool {
        !self.rises.is_empty() && self.rises.len() * LEAST_SHARE >= self.traces.len()
    }

    /// Whether every pair between its sides was seen to cross it.
    pub(crate) fn is_whole(&self) -> bool {
        let [here, there] = &self.sides;
        self.pairs.len() == here.len() * there.len()
    }

    /// By how much, ms: the median.
    pub(crate) fn rise_ms(&self) -> Option<f64> {
        crate::figures::median(self.rises.values().copied().collect())
    }

    /// Whether runs of all pairs that cross `other`, and of more, take turns at this link; it is as well known to need it.
    pub(crate) fn replaces(&self, other: &Self) -> bool {
        let is_larger = covers(&self.sides, &other.sides) && !covers(&other.sides, &self.sides);
        is_larger && (self.is_queue() || !other.is_queue())
    }

    /// The link of `file` at which all runs that cross it take turns already.
    pub(crate) fn told<'a>(&self, file: &'a FleetFile) -> Option<&'a LinkSpec> {
        let mut links = file.links.iter();
        links.find(|link| covers(&sides_of(file, link), &self.sides))
    }
}

/// Whether every pair from one of the second's sides to its other side is between the two of the first, too.
fn covers([a, b]: &Sides, [c, d]: &Sides) -> bool {
    (c.is_subset(a) && d.is_subset(b)) || (c.is_subset(b) && d.is_subset(a))
}

/// The sides of a link of the file.
fn sides_of(file: &FleetFile, link: &LinkSpec) -> Sides {
    let named = |numbers: Vec<u32>| -> BTreeSet<Name> {
        let hosts = numbers.into_iter();
        let hosts = hosts.filter_map(|number| file.hosts.get(number as usize));
        hosts.map(|host| host.name.clone()).collect()
    };
    let select = |names: &[Name]| named(file.select(names).unwrap_or_default());
    if let Some([here, there]) = &link.between {
        return [select(here), select(there)];
    }
    let behind = select(&link.behind);
    let others = file.hosts.iter().map(|host| &host.name);
    let others = others.filter(|name| !behind.contains(*name)).cloned();
    let others = others.collect();
    [behind, others]
}

fn in_order([a, b]: Sides) -> Sides {
    if (b.len(), &b) < (a.len(), &a) {
        [b, a]
    } else {
        [a, b]
    }
}

#[cfg(test)]
mod tests;
