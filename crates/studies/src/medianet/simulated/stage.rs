//! The world of a run: a lab's links, and who is at their ends.

use super::Told;
use super::receiver::Receiver;
use super::sender::Sender;
use crate::dumbbell::Place;
use crate::dumbbell::simulated::{Body, Host, network, options, overlays};
use crate::medianet::plan::Plan;
use crate::medianet::sender::Times;
use lab::Topology;
use sim::{Builder, LinkId, NodeId, Parcel, Tap, World};

/// Nanoseconds of a bin in which packets are counted together.
const BIN: u64 = 1_000_000;

/// Counts what leaves the bottleneck, others' packets of its own apart.
pub(super) struct Meter {
    bottleneck: LinkId,
    /// Where bins begin, in nanoseconds of the world's clock, with their packets and octets.
    pub(super) bins: Vec<(u64, u64, u64)>,
}

impl Tap<Body> for Meter {
    fn left(&mut self, id: LinkId, packet: &Parcel<Body>) {
        if id != self.bottleneck {
            return;
        }
        let (at, octets) = (packet.at.as_nanos() / BIN * BIN, u64::from(packet.size));
        match self.bins.last_mut().filter(|(bin, ..)| *bin == at) {
            Some((_, packets, bytes)) => (*packets, *bytes) = (*packets + 1, *bytes + octets),
            None => self.bins.push((at, 1, octets)),
        }
    }
}

/// See the [module](self).
pub(super) struct Stage<'a> {
    pub(super) world: World<Host<'a>, Meter>,
    /// The near manager's node.
    pub(super) near: NodeId,
    pub(super) bottleneck: LinkId,
}

impl Stage<'_> {
    /// Sets it for a plan.
    ///
    /// # Errors
    /// When the lab cannot be simulated.
    pub(super) fn set(
        plan: &Plan,
        topology: &Topology,
        place: &Place,
        times: Times,
        told: &Told,
    ) -> anyhow::Result<Self> {
        let mut builder = Builder::default();
        let network = network(topology, plan.seed, &mut builder)?;
        let [from, to] = [network.node(&place.source)?, network.node(&place.sink)?];
        let options = options();
        let [near, far] = overlays([from, to], plan.carrying(), &options)?;
        let sender = Box::new(Sender::new(to, times, told.clone(), plan.seed));
        let receiver = Box::new(Receiver::new(told.clone()));
        let sender = Host::new(from, &options, Some(sender));
        let receiver = Host::new(to, &options, Some(receiver));
        builder.host(from, sender.managed(near, plan.riding, Some(plan.seed)));
        builder.host(to, receiver.managed(far, plan.riding, None));
        let bottleneck = network.link(&place.bottleneck.link, place.bottleneck.direction)?;
        let meter = Meter {
            bottleneck,
            bins: Vec::new(),
        };
        Ok(Self {
            world: builder.build_with(meter),
            near: from,
            bottleneck,
        })
    }
}
