//! Links found in made-up networks, and traces read from summaries.

use super::traces::Rise;
use super::*;
use crate::outcome::{Became, Outcome, Times};
use crate::{Moment, RunId};
use proptest::prelude::*;
use serde_json::{Value, json};

fn host(text: &str) -> Name {
    text.parse().unwrap()
}

fn found(traced: &[Traced]) -> Vec<Shared> {
    let found = shared(traced);
    assert!(found.left_out.is_empty(), "{found:?}");
    found.links
}

fn side(hosts: &[&str]) -> BTreeSet<Name> {
    hosts.iter().map(|name| host(name)).collect()
}

/// The address of router `at`, as seen from `from`.
fn address(at: usize, from: usize) -> IpAddr {
    let [at, from] = [at, from].map(|number| u8::try_from(number).unwrap());
    [10, 0, at, from].into()
}

/// A tree: the node of each host, the parent of each other node (0 is the root).
struct Tree {
    hosts: Vec<(Name, usize)>,
    parents: Vec<usize>,
}

impl Tree {
    fn up(&self, mut node: usize) -> Vec<usize> {
        let mut way = vec![node];
        while node > 0 {
            node = self.parents[node];
            way.push(node);
        }
        way
    }

    /// The routers from one node to another, both included.
    fn way(&self, from: usize, to: usize) -> Vec<usize> {
        let (up, down) = (self.up(from), self.up(to));
        let top = *up.iter().find(|node| down.contains(node)).unwrap();
        let rising = up.into_iter().take_while(|node| *node != top);
        let mut falling: Vec<_> = down.into_iter().take_while(|node| *node != top).collect();
        falling.reverse();
        rising.chain([top]).chain(falling).collect()
    }

    /// Traces of all paths; the queue is between nodes `queue` and its parent.
    fn traces(&self, named: impl Fn(usize, usize) -> IpAddr, queue: usize) -> Vec<Traced> {
        let mut traces = Vec::new();
        for (place, (from, here)) in self.hosts.iter().enumerate() {
            for (to, there) in &self.hosts {
                if from == to {
                    continue;
                }
                let way = self.way(*here, *there);
                // Hosts come after all routers in numbers.
                let mut before = 200 + place;
                let mut rise = None;
                let mut routers = Vec::new();
                for (hop, &node) in (1..).zip(&way) {
                    let at = named(node, before);
                    let crosses = [(node, before), (before, node)];
                    let is_queue =
                        |(node, other)| node == queue && self.parents.get(node) == Some(&other);
                    if before < 200 && crosses.into_iter().any(is_queue) {
                        rise = Some(Rise { at, ms: 80.0 });
                    }
                    routers.push((hop, at));
                    before = node;
                }
                traces.push(Traced {
                    ends: [from.clone(), to.clone()],
                    routers,
                    rise,
                });
            }
        }
        traces
    }

    /// The hosts below each node and the others, where both are two at least.
    fn cuts(&self) -> BTreeSet<Sides> {
        let cuts = (1..self.parents.len()).map(|node| {
            let (below, others): (Vec<_>, Vec<_>) = self
                .hosts
                .iter()
                .partition(|(_, at)| self.up(*at).contains(&node));
            let names = |hosts: Vec<&(Name, usize)>| {
                hosts.into_iter().map(|(name, _)| name.clone()).collect()
            };
            in_order([names(below), names(others)])
        });
        cuts.filter(|sides| sides.iter().all(|side| side.len() > 1))
            .collect()
    }
}

/// One that these numbers make, whatever they are.
fn tree(parents: &[usize], places: &[usize]) -> Tree {
    let others = parents.iter().enumerate();
    let others = others.map(|(node, parent)| parent % (node + 1));
    let parents: Vec<_> = [0].into_iter().chain(others).collect();
    let place =
        |(number, place): (usize, &usize)| (host(&format!("h{number}")), place % parents.len());
    Tree {
        hosts: places.iter().enumerate().map(place).collect(),
        parents: parents.clone(),
    }
}

/// The lab 'fleet': 0 is the core, 1 the router in Berlin.
fn berlin() -> Tree {
    let hosts = [
        ("berlin-1", 1),
        ("berlin-2", 1),
        ("paris-1", 0),
        ("oslo-1", 0),
    ];
    Tree {
        hosts: hosts.map(|(name, at)| (host(name), at)).to_vec(),
        parents: vec![0, 0],
    }
}

#[test]
fn the_uplink_of_a_site_is_one_link_seen_from_both_of_its_ends() {
    let found = found(&berlin().traces(address, 1));
    let [link] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(
        link.sides,
        [
            side(&["berlin-1", "berlin-2"]),
            side(&["oslo-1", "paris-1"])
        ]
    );
    assert_eq!(link.routers, [address(0, 1), address(1, 0)].into());
    assert_eq!((link.pairs.len(), link.traces.len()), (4, 8));
    assert_eq!((link.rises.len(), link.rise_ms()), (8, Some(80.0)));
}

#[test]
fn a_router_with_one_address_for_all_its_interfaces_is_told_by_the_hop_before_it() {
    let found = found(&berlin().traces(|at, _| address(at, 0), 1));
    let [link] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(
        link.sides,
        [
            side(&["berlin-1", "berlin-2"]),
            side(&["oslo-1", "paris-1"])
        ]
    );
    assert_eq!((link.traces.len(), link.rises.len()), (8, 8));
}

#[test]
fn a_link_that_more_pairs_cross_stands_for_those_beyond_it() {
    // Two sites of two hosts on a trunk of their own, and a third site elsewhere.
    let hosts = [
        ("a1", 2),
        ("a2", 2),
        ("b1", 3),
        ("b2", 3),
        ("c1", 0),
        ("c2", 0),
    ];
    let tree = Tree {
        hosts: hosts.map(|(name, at)| (host(name), at)).to_vec(),
        parents: vec![0, 0, 1, 1],
    };
    let found = found(&tree.traces(address, 1));
    assert_eq!(found.len(), 3);
    assert_eq!(
        found[0].sides,
        [side(&["c1", "c2"]), side(&["a1", "a2", "b1", "b2"])]
    );
    assert_eq!(found[0].rises.len(), 16);
    let of_a = found
        .iter()
        .find(|link| link.sides[0] == side(&["a1", "a2"]));
    let of_a = of_a.unwrap();
    assert!(of_a.rises.is_empty());
    // From a1 to b1 crosses only this one.
    assert!(!found[0].replaces(of_a) && !of_a.replaces(&found[0]));
    let part = Shared {
        sides: [side(&["c1", "c2"]), side(&["a1", "b2"])],
        ..Shared::default()
    };
    assert!(found[0].replaces(&part) && !part.replaces(&found[0]));
    let known = Shared {
        traces: (0..20).collect(),
        rises: [(3, 9.0), (5, 8.0)].into(),
        ..part
    };
    assert!(known.is_queue() && found[0].replaces(&known));
    // What one trace of a hundred shows may be chance, and is no reason to give up what is known better.
    let chance = Shared {
        traces: (0..100).collect(),
        rises: [(3, 9.0)].into(),
        ..found[0].clone()
    };
    assert!(!chance.is_queue() && !chance.replaces(&known));
}

#[test]
fn what_the_file_has_already_is_found_in_it() {
    let hosts = ["berlin-1", "berlin-2", "paris-1", "oslo-1"];
    let hosts: String = hosts
        .map(|name| format!("[[host]]\nname = \"{name}\"\n"))
        .concat();
    let measure = "[[measure]]\nname = \"m\"\nrun = \"rrul\"\npairs = { mesh = [\"all\"] }\ntakes = \"1min\"\nevery = \"1h\"\n";
    let file = |link: &str| {
        let text = format!("name = \"f\"\n{hosts}[[link]]\nname = \"l\"\n{link}\n{measure}");
        FleetFile::parse(&text, "f").unwrap()
    };
    let found = found(&berlin().traces(address, 1));
    let told = |link: &str| found[0].told(&file(link)).is_some();
    assert!(told("behind = [\"berlin-1\", \"berlin-2\"]"));
    assert!(told("behind = [\"paris-1\", \"oslo-1\"]"));
    assert!(told(
        "between = [[\"oslo-1\", \"paris-1\"], [\"berlin-2\", \"berlin-1\"]]"
    ));
    assert!(!told("behind = [\"berlin-1\", \"paris-1\"]"));
    assert!(!told(
        "between = [[\"oslo-1\"], [\"berlin-2\", \"berlin-1\"]]"
    ));
}

/// What Berlin and the rest of the world have in common is a link; what their routers have in common is none.
#[test]
fn a_router_at_which_pairs_meet_is_no_link() {
    let lab = berlin();
    for has_one_address in [true, false] {
        let named = |at, from| address(at, if has_one_address { 0 } else { from });
        let mut traces = lab.traces(named, 1);
        let [from, to] = [["berlin-1", "paris-1"], ["berlin-2", "oslo-1"]].map(|end| side(&end));
        traces.retain(|trace| from.contains(&trace.ends[0]) && to.contains(&trace.ends[1]));
        assert_eq!(traces.len(), 4);
        let found = found(&traces);
        if has_one_address {
            let sides = [
                side(&["berlin-1", "berlin-2"]),
                side(&["oslo-1", "paris-1"]),
            ];
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].sides, sides);
            assert!(!found[0].is_whole());
        } else {
            assert_eq!(found, []);
        }
    }
}

#[test]
fn a_trace_after_a_change_of_routes_makes_no_link() {
    let mut traces = berlin().traces(address, 1);
    assert_eq!(found(&traces).len(), 1);
    // Once a packet between the two others came to the core from Berlin's side.
    let strange = |before| Traced {
        ends: [host("oslo-1"), host("paris-1")],
        routers: vec![(1, before), (2, address(0, 1))],
        rise: None,
    };
    traces.push(strange(address(7, 0)));
    let after = found(&traces);
    assert_eq!(after.len(), 1);
    assert_eq!(after[0].routers, [address(1, 0)].into());
    // And as if it had come from a host there.
    traces.push(strange(address(1, 200)));
    let after = shared(&traces);
    assert_eq!(after.links.len(), 1);
    assert_eq!(after.left_out, [address(0, 1), address(1, 200)].into());
}

proptest! {
    /// However few of the paths were traced: no link has hosts that no cut of the tree keeps apart.
    #[test]
    fn of_some_traces_no_link_is_made_up(
        parents in prop::collection::vec(0_usize..8, 0..8),
        places in prop::collection::vec(0_usize..9, 2..9),
        kept in prop::collection::vec(prop::bool::ANY, 72),
        queue in 0_usize..9,
    ) {
        let tree = tree(&parents, &places);
        let traces = tree.traces(address, queue);
        let traces: Vec<_> = traces.into_iter().zip(kept).filter(|(_, is_kept)| *is_kept).map(|(trace, _)| trace).collect();
        let all = tree.cuts();
        for link in found(&traces) {
            prop_assert!(all.iter().any(|cut| covers(cut, &link.sides)), "{link:?}");
        }
    }

    /// Beside the cuts of the tree itself, whatever routers answer with.
    #[test]
    fn in_a_tree_every_cut_between_two_hosts_and_two_others_is_found(
        parents in prop::collection::vec(0_usize..8, 0..8),
        places in prop::collection::vec(0_usize..9, 2..9),
        has_one_address in prop::bool::ANY,
        queue in 0_usize..9,
    ) {
        let tree = tree(&parents, &places);
        let traces = tree.traces(|at, from| address(at, if has_one_address { 0 } else { from }), queue);
        let found = found(&traces);
        let sides: BTreeSet<_> = found.iter().map(|link| link.sides.clone()).collect();
        prop_assert_eq!(sides.len(), found.len());
        prop_assert_eq!(&sides, &tree.cuts());
        for link in &found {
            let [here, there] = &link.sides;
            prop_assert_eq!(link.pairs.len(), here.len() * there.len());
            prop_assert!(link.rises.len() <= link.traces.len());
        }
    }
}

fn outcome(test: &str, summary: Value) -> Outcome {
    let run: RunId = "f.m.a.b.20261127T080000000Z".parse().unwrap();
    let at = Moment::from_millis(1_000);
    let times = Times {
        planned: at,
        began: Some(at),
        ended: at,
    };
    Outcome {
        test: Some(test.to_owned()),
        summary,
        ..Outcome::without_record(run, None, times, Became::Complete, String::new())
    }
}

fn router(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn a_run_of_rrul_has_a_trace_of_either_way() {
    let hop = |number: u8, address: Value, loaded_ms: Option<f64>| json!({"hop": number, "address": address, "is_end": number == 5, "idle_ms": 1.0, "loaded_ms": loaded_ms});
    let up = |before: Option<f64>| {
        let hops = [
            hop(1, json!("10.0.0.1"), Some(1.0)),
            hop(2, Value::Null, None),
            hop(3, json!("10.0.0.5"), before),
            hop(4, json!("10.0.0.9"), Some(90.0)),
            hop(5, json!("10.0.1.1"), Some(90.0)),
        ];
        json!({"hop": 4, "rise_ms": 85.5, "hops": hops})
    };
    let down = json!({"hop": null, "rise_ms": null, "hops": [hop(1, json!("no address"), None), hop(2, json!("fd00::1"), None)]});
    let run = |before| {
        outcome(
            "rrul",
            json!({"bottleneck": {"up": up(before), "down": down, "between": null}}),
        )
    };
    let whole = run(Some(4.5));
    let [there, back] = [["a", "b"], ["b", "a"]].map(|ends| ends.map(host));
    let routers = [(1, "10.0.0.1"), (3, "10.0.0.5"), (4, "10.0.0.9")];
    let routers = routers
        .map(|(hop, address)| (hop, router(address)))
        .to_vec();
    let rise = Rise {
        at: router("10.0.0.9"),
        ms: 85.5,
    };
    assert_eq!(
        traces(&whole),
        [
            Traced {
                ends: there,
                routers,
                rise: Some(rise)
            },
            Traced {
                ends: back,
                routers: vec![(2, router("fd00::1"))],
                rise: None
            },
        ]
    );
    // The queue may be before the third hop as well.
    assert_eq!(traces(&run(None))[0].rise, None);
    let became = |status| Outcome {
        status,
        ..whole.clone()
    };
    let invalid = traces(&became(Became::Invalid));
    assert_eq!(invalid[0].routers.len(), 3);
    assert_eq!(invalid[0].rise, None);
    assert_eq!(traces(&became(Became::Incomplete)), []);
}

#[test]
fn an_estimate_of_the_bottleneck_has_one() {
    let summary = |value: Value, conclusive: bool| {
        json!({
            "what": "bottleneck", "estimator": "hops", "value": value, "conclusive": conclusive,
            "details": {"end_hop": 3, "hops": [
                {"hop": 1, "address": "10.0.0.1", "rise_ms": 0.5}, {"hop": 2, "address": "10.0.0.5", "rise_ms": 40.0}, {"hop": 3, "address": "10.0.1.1", "rise_ms": 41.0},
            ]},
        })
    };
    let routers = vec![(1, router("10.0.0.1")), (2, router("10.0.0.5"))];
    let rise = |value, conclusive| {
        let found = traces(&outcome("estimate", summary(value, conclusive)));
        assert_eq!(found[0].routers, routers);
        found[0].rise
    };
    let at_two = Rise {
        at: router("10.0.0.5"),
        ms: 39.5,
    };
    assert_eq!(rise(json!(2.0), true), Some(at_two));
    assert_eq!(rise(json!(2.0), false), None);
    assert_eq!(rise(Value::Null, false), None);
    // The last link is the far end's own.
    assert_eq!(rise(json!(3.0), true), None);
}

#[test]
fn what_has_no_trace_says_nothing() {
    let without = [
        outcome(
            "estimate",
            json!({"estimator": "isochronous", "details": {"hops": []}}),
        ),
        outcome("estimate", json!({"estimator": "hops", "details": "none"})),
        outcome("rrul", json!({"bottleneck": null})),
        outcome("rrul", json!({"bottleneck": {"up": {"hops": 7}}})),
        outcome("btc", json!({"bottleneck": {"up": {"hops": []}}})),
        outcome("rrul", Value::Null),
    ];
    for outcome in without {
        assert_eq!(traces(&outcome), []);
    }
    let hops: Vec<_> = (0..10_000)
        .map(|n| json!({"hop": n % 256, "address": "10.0.0.1", "is_end": false}))
        .collect();
    let long = outcome("rrul", json!({"bottleneck": {"up": {"hops": hops}}}));
    assert_eq!(traces(&long)[0].routers.len(), 64);
}
