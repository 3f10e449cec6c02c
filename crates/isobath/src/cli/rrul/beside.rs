//! The far ends beside the run's servers: read and looked up before anything is measured.

use super::{Args, Usage};
use far_ends::address::FarEnd;
use kit::foreign::Found;
use lab::Network;
use rrul::streams::{Kind, StreamPlan};
use schema::rrul::plan::Plan;
use session::Family;
use std::net::SocketAddr;

/// Those of `plan`, in its order; in a lab, nodes by their names.
pub(super) fn find(
    args: &Args,
    plan: &Plan,
    network: Option<&Network>,
) -> anyhow::Result<Vec<Found>> {
    let keys = args.keys.keys()?;
    let wanted = args.family();
    let found = |text: &String| {
        let far_end = read(text).map_err(|what| Usage::of(anyhow::anyhow!(what)))?;
        let addresses = look_up(&far_end, wanted, network)?;
        Ok(Found {
            far_end,
            to: addresses[0],
            other: session::other_version(&addresses),
            trust: args.trust.trust(),
            keys: keys.clone(),
        })
    };
    plan.beside.iter().map(found).collect()
}

fn read(text: &str) -> Result<FarEnd, String> {
    let far_end = FarEnd::parse(text).ok_or_else(|| {
        format!("'{text}' has no scheme - write one such as icmp://{text}, see 'isobath far-ends'")
    })??;
    if far_end.protocol.tells().loads {
        return Err(format!(
            "{text} takes load and echoes nothing - name it as the far end itself"
        ));
    }
    if far_end.protocol.is_reliable() {
        far_end.origin()?;
    }
    Ok(far_end)
}

/// Its addresses, the one to take first.
fn look_up(
    far_end: &FarEnd,
    wanted: Option<Family>,
    network: Option<&Network>,
) -> anyhow::Result<Vec<SocketAddr>> {
    let port = far_end.protocol.port().unwrap_or(0);
    if let Some(network) = network {
        let (name, port) = match far_end.host.split_once(':') {
            Some((name, own)) => (name, own.parse().ok()),
            None => (&*far_end.host, Some(port)),
        };
        // What is no port is refused below.
        let address = network.address(name, wanted == Some(Family::V6));
        if let Some((address, port)) = address.zip(port) {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
    }
    Ok(session::resolve(&far_end.host, port, wanted)?)
}

/// Says of their streams by which version of IP they were found.
pub(super) fn enter_families(streams: &mut [StreamPlan], found: &[Found]) {
    let beside = streams.iter_mut().filter(|one| one.kind == Kind::Beside);
    for (stream, found) in beside.zip(found) {
        stream.family = if found.is_v6() { 6 } else { 4 };
    }
}
