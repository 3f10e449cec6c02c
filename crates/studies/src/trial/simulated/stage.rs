//! The world of a trial: a lab's links, and who is at their ends.

use super::sink::Sink;
use super::source::Source;
use super::watch::Watch;
use super::web::Web;
use crate::dumbbell::Place;
use crate::dumbbell::simulated::{Application, Host, network, options, overlays};
use crate::trial::plan::Plan;
use crate::trial::run::Times;
use crate::trial::source::Seconds;
use lab::Topology;
use sim::{Builder, LinkId, NodeId, World};

/// See the [module](self).
pub(super) struct Stage<'a> {
    pub(super) world: World<Host<'a>, Watch>,
    /// The near manager's node.
    pub(super) near: NodeId,
    pub(super) bottleneck: LinkId,
}

impl<'a> Stage<'a> {
    /// Sets it for a plan; what the application reads goes to `seconds`.
    ///
    /// # Errors
    /// When the lab cannot be simulated.
    pub(super) fn set(
        plan: &Plan,
        topology: &Topology,
        place: &Place,
        times: Times,
        seconds: &'a Seconds,
    ) -> anyhow::Result<Self> {
        let mut builder = Builder::default();
        let network = network(topology, plan.seed, &mut builder)?;
        let hosts = [network.node(&place.source)?, network.node(&place.sink)?];
        let options = options();
        let times = [times.origin, times.end];
        let [near, far] = overlays(hosts, plan.carrying(), &options)?;
        let segment = if plan.riding {
            near.segment()
        } else {
            options.mss
        };
        let source = Source::new(hosts[1], plan.source, times, segment.into(), plan.seed);
        let sink = Sink {
            seconds: Some((seconds, times[0])),
        };
        let host = |node, application: Box<dyn Application + 'a>| {
            Host::new(node, &options, Some(application))
        };
        let source = host(hosts[0], Box::new(source));
        let sink = host(hosts[1], Box::new(sink));
        builder.host(hosts[0], source.managed(near, plan.riding, Some(plan.seed)));
        builder.host(hosts[1], sink.managed(far, plan.riding, None));
        let others = match &place.others {
            Some([from, to]) => Some([network.node(from)?, network.node(to)?]),
            None => None,
        };
        if let Some([from, to]) = others {
            builder.host(from, host(from, Box::new(Web::new(to, times, plan.seed))));
            builder.host(to, host(to, Box::new(Sink { seconds: None })));
        }
        let link = |hop: &crate::dumbbell::place::Hop| network.link(&hop.link, hop.direction);
        let bottleneck = link(&place.bottleneck)?;
        let watch = Watch {
            links: [link(&place.entry)?, bottleneck],
            hosts,
            others,
            passages: Vec::new(),
        };
        Ok(Self {
            world: builder.build_with(watch),
            near: hosts[0],
            bottleneck,
        })
    }
}
