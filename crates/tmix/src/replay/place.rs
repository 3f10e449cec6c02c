//! The lab of a replay: delays by connection, monitors, and the bottleneck that the plan wants.

use super::capture::SNAP;
use super::plan::{Plan, Way};
use kit::usage::Usage;
use lab::{Network, Topology, profiles};
use path::{Assigned, StageSpec};
use units::Rate;

/// Brings up the lab `name`, with the bottleneck that `plan` wants.
///
/// # Errors
/// When there is no such lab, it has no rate to change, or this machine cannot make it.
pub fn up(name: &str, plan: &Plan, delays: &Assigned) -> anyhow::Result<Network> {
    let mut topology = profiles::find(name).map_err(Usage::of)?;
    if let Some(rate) = plan.bottleneck {
        bottleneck(&mut topology, rate).map_err(Usage::of)?;
    }
    let options = lab::Options {
        delays: Some(delays.clone()),
        arrivals: true,
        signals: true,
        capture: plan.capture.then_some(SNAP),
        initial_window: plan.initial_window,
        congestion_control: plan.congestion_control.clone(),
        busy_hosts: true,
        ..lab::Options::default()
    };
    Ok(Network::up_with(topology, plan.seed, &options)?)
}

/// Gives every link of `topology` that has a rate this one.
///
/// # Errors
/// When none has.
pub fn bottleneck(topology: &mut Topology, to: Rate) -> anyhow::Result<()> {
    let mut changed = false;
    for link in &mut topology.links {
        for stage in link.up.0.iter_mut().chain(&mut link.down.0) {
            if let StageSpec::Rate { rate, .. } = stage {
                *rate = to;
                changed = true;
            }
        }
    }
    anyhow::ensure!(
        changed,
        "no link of this lab has a rate to change - choose another, such as dumbbell"
    );
    Ok(())
}

/// Whether some link gives connections their own round trips.
pub fn gives_rtts(topology: &Topology) -> bool {
    let ways = topology
        .links
        .iter()
        .flat_map(|link| [&link.up, &link.down]);
    let mut stages = ways.flat_map(|spec| &spec.0);
    stages.any(|stage| matches!(stage, StageSpec::ConnectionDelay {}))
}

/// The least rate of the links in direction `way`.
pub fn rate(topology: &Topology, way: Way) -> Option<Rate> {
    let links = topology.links.iter();
    let specs = links.map(|link| match way {
        Way::Up => &link.up,
        Way::Down => &link.down,
    });
    specs.filter_map(profiles::rate).min()
}
