//! Where transfers take place.

use super::source::Route;
use super::{Endpoint, Observer, Plan, Report, Sink, Source};
use crate::{Addressed, Builder, NodeId, World};
use path::{Assigned, Pipeline, Resolver, Spec};
use std::ops::ControlFlow;
use std::time::Duration;
use transport::wire::Datagram;
use units::FlowId;

/// A path for transfers: what `spec` describes, its chance from `seed`. Traces are not known here; for a path with one use
/// [`transfer_link`].
///
/// # Errors
///
/// Those of [`Spec::build`].
pub fn pipeline(spec: &Spec, seed: u64) -> Result<Pipeline<Addressed<Datagram>>, path::Error> {
    let no_trace = |_: &str| Err("traces are files - give the text with Spec::build".into());
    transfer_link(spec, seed, &no_trace, &Assigned::default())
}

/// [`Spec::build_lazy`] for packets of transfers, compiled here: with the optimisation that this crate has.
///
/// # Errors
///
/// Those of [`Spec::build`].
pub fn transfer_link(
    spec: &Spec,
    seed: u64,
    resolver: Resolver<'_>,
    delays: &Assigned,
) -> Result<Pipeline<Addressed<Datagram>>, path::Error> {
    spec.build_lazy(seed, resolver, delays)
}

/// Transfers in a world of their own.
///
/// ```text
/// sender 0 ──┐                             ┌── receiver 0
/// sender 1 ──┼── link 0,1 ── link 2,3 ──── ┼── receiver 1
/// sender 2 ──┘                             └── receiver 2
/// ```
///
/// All cross one row of links, which for one bottleneck is a single one: a *dumbbell*. Data go up, on the links with even
/// numbers, acknowledgements down, on those with odd ones. Hosts are tied to the row by links of their own, or by wires
/// that take no time; a single transfer without links of its own has its hosts at the ends of the row.
pub struct Transfers<O: Observer> {
    world: World<Endpoint<O>>,
    /// The two hosts of each transfer.
    ends: Vec<(NodeId, NodeId)>,
}

/// Both directions of a link: up, down.
pub type Duplex = (Pipeline<Addressed<Datagram>>, Pipeline<Addressed<Datagram>>);

impl<O: Observer> Transfers<O> {
    /// Transfers over one link. Each comes with what looks on at its sender's end and at its receiver's.
    pub fn duplex(
        plans: impl IntoIterator<Item = (Plan, [O; 2])>,
        up: Pipeline<Addressed<Datagram>>,
        down: Pipeline<Addressed<Datagram>>,
    ) -> Self {
        Self::over(plans, vec![(up, down)], |_| None)
    }

    /// Transfers over a row of links. `access` gives the links between the row and each transfer's two hosts, the sender's
    /// first, by its number from 0.
    pub fn over(
        plans: impl IntoIterator<Item = (Plan, [O; 2])>,
        row: Vec<Duplex>,
        mut access: impl FnMut(u32) -> Option<(Duplex, Duplex)>,
    ) -> Self {
        let own = |(number, (plan, observers))| (plan, observers, access(number));
        let plans: Vec<_> = (0..).zip(plans).map(own).collect();
        let is_alone = matches!(plans[..], [(_, _, None)]);
        let mut builder = Builder::default();
        let (left, right) = (NodeId(0), lay(&mut builder, row));
        let mut ends = Vec::with_capacity(plans.len());
        for (number, (plan, [sender, receiver], access)) in (0..).zip(plans) {
            let (here, there) = if is_alone {
                (left, right)
            } else {
                let first = right.0 + 1 + 2 * number;
                (NodeId(first), NodeId(first + 1))
            };
            if !is_alone {
                let (near, far) = access.unwrap_or_else(|| (wires(), wires()));
                tie(&mut builder, (here, left), near);
                tie(&mut builder, (right, there), far);
            }
            let flow = FlowId(2 * u64::from(number));
            let back = Route {
                here: there,
                there: here,
                flow: FlowId(flow.0 + 1),
            };
            let sink = Sink::new(&plan, back, receiver);
            let source = Source::new(plan, Route { here, there, flow }, sender);
            builder.host(here, Endpoint::Source(Box::new(source)));
            builder.host(there, Endpoint::Sink(Box::new(sink)));
            ends.push((here, there));
        }
        Self {
            world: builder.build(),
            ends,
        }
    }

    /// Runs until all transfers are over and nothing is under way.
    pub fn run(&mut self) {
        self.world.run();
    }

    /// The same, with a look at the world each time that `every` has passed, the last one after the end, or when a look says
    /// that it was enough.
    pub fn run_watched(
        &mut self,
        every: Duration,
        mut look: impl FnMut(&World<Endpoint<O>>) -> ControlFlow<()>,
    ) {
        let mut tick = self.world.now();
        while self.world.next_deadline().is_some() {
            tick += every;
            self.world.run_until(tick);
            if look(&self.world).is_break() {
                return;
            }
        }
    }

    /// How the transfers go, or went.
    pub fn reports(&self) -> Vec<Report> {
        let report = |(source, sink): &(NodeId, NodeId)| {
            let (source, sink) = (self.world.node(*source)?, self.world.node(*sink)?);
            match (source, sink) {
                (Endpoint::Source(source), Endpoint::Sink(sink)) => Some(Report::new(source, sink)),
                _ => None,
            }
        };
        self.ends.iter().filter_map(report).collect()
    }

    /// The world they take place in.
    pub const fn world(&self) -> &World<Endpoint<O>> {
        &self.world
    }

    /// What looked on at the ends of each transfer: at the sender's, at the receiver's.
    pub fn into_observers(self) -> Vec<[O; 2]> {
        let (mut senders, mut receivers) = (Vec::new(), Vec::new());
        // By number, senders come in the transfers' order, and so do receivers.
        for node in self.world.into_nodes() {
            match node {
                Endpoint::Source(source) => senders.push(source.observer),
                Endpoint::Sink(sink) => receivers.push(sink.observer),
            }
        }
        let pairs = senders.into_iter().zip(receivers);
        pairs.map(|(sender, receiver)| [sender, receiver]).collect()
    }
}

/// Adds a row of links from node 0 on; gives its last node.
fn lay<O: Observer>(builder: &mut Builder<Endpoint<O>>, row: Vec<Duplex>) -> NodeId {
    let mut last = NodeId(0);
    for link in row {
        let next = NodeId(last.0 + 1);
        tie(builder, (last, next), link);
        last = next;
    }
    last
}

/// Adds both directions of a link between two nodes.
fn tie<O: Observer>(
    builder: &mut Builder<Endpoint<O>>,
    (from, to): (NodeId, NodeId),
    (up, down): Duplex,
) {
    builder.link(from, to, up);
    builder.link(to, from, down);
}

/// A link that takes no time.
fn wires() -> Duplex {
    (Pipeline::new(Vec::new()), Pipeline::new(Vec::new()))
}
