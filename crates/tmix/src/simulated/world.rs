//! The world of a replay: two hosts, and the row of links between them.

use super::capturing::Capturing;
use super::headers::Shared;
use super::host::{Host, Stage};
use super::links::{Hop, Links};
use super::run::Context;
use schema::replay::plan::Way;
use sim::tcp::Settings;
use sim::{Builder, NodeId, World};
use transport::Options;

/// The client at node 0, the server at the other end of the row.
pub(super) fn world(
    context: &Context<'_>,
    mut hops: Vec<Hop>,
    (headers, capturing): (Option<Shared>, Option<Capturing>),
) -> (World<Host, Links>, [NodeId; 2]) {
    let watched = slowest(&hops, context.plan.forward);
    let links = Links::new(&hops, watched, context.bins, capturing);
    let last = NodeId(u32::try_from(hops.len()).unwrap_or(u32::MAX));
    let ends = [NodeId(0), last];
    let stage = Stage {
        settings: settings(context),
        seed: context.plan.seed,
        headers,
    };
    let mut builder = Builder::default();
    builder.host(ends[0], Host::new(ends, stage.clone()));
    builder.host(ends[1], Host::new([ends[1], ends[0]], stage));
    for (number, hop) in (0..).zip(hops.drain(..)) {
        let [mut up, mut down] = hop.ways;
        up.watch_queue();
        down.watch_queue();
        builder.link(NodeId(number), NodeId(number + 1), up);
        builder.link(NodeId(number + 1), NodeId(number), down);
    }
    (builder.build_with(links), ends)
}

fn settings(context: &Context<'_>) -> Settings {
    let mut options = Options {
        congestion_control: context.congestion_control,
        ..Options::default()
    };
    if let Some(window) = context.plan.initial_window {
        options.initial_window = window;
    }
    Settings::new(options)
}

/// The place of the slowest link in direction `way`.
fn slowest(hops: &[Hop], way: Way) -> Option<usize> {
    let rates = hops.iter().enumerate();
    let rates = rates.filter_map(|(place, hop)| Some((hop.rates[way as usize]?, place)));
    rates.min().map(|(_, place)| place)
}
