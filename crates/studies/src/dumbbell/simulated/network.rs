//! The nodes and links of a lab.

use super::body::Body;
use lab::{Topology, profiles};
use path::{Assigned, Spec};
use record::{LabInfo, LabLink, PathInfo};
use serde_json::json;
use sim::{Builder, LinkId, Node, NodeId};
use std::collections::HashMap;

/// Where everything of a lab is in the world.
pub struct Network<'a> {
    topology: &'a Topology,
    nodes: HashMap<&'a str, NodeId>,
}

/// Adds the links of `topology` to a world, each with the chance that it has in the lab with this `seed`.
///
/// # Errors
/// When a description contradicts itself, its trace cannot be had, or a link does what is not simulated.
pub fn network<'a, N: Node<Payload = Body>>(
    topology: &'a Topology,
    seed: u64,
    builder: &mut Builder<N>,
) -> anyhow::Result<Network<'a>> {
    let nodes = (0..).zip(topology.nodes());
    let network = Network {
        topology,
        nodes: nodes.map(|(number, name)| (name, NodeId(number))).collect(),
    };
    let trace = |name: &str| profiles::trace(name).map_err(Into::into);
    for (link, place) in topology.links.iter().zip(0_u64..) {
        let [one, other] = &link.between;
        if link.overhead > 0 {
            anyhow::bail!(
                "link {one} - {other} adds octets to packets, which is not simulated - use 'isobath manager trial'"
            );
        }
        let way = |spec: &Spec, seed: u64| spec.build(seed, &trace, &Assigned::default());
        let first = seed.wrapping_add(2 * place);
        let [up, down] = [
            way(&link.up, first)?,
            way(&link.down, first.wrapping_add(1))?,
        ];
        let [one, other] = [network.node(one)?, network.node(other)?];
        builder.link(one, other, up);
        builder.link(other, one, down);
    }
    Ok(network)
}

impl Network<'_> {
    /// The number of the node called `name`.
    ///
    /// # Errors
    /// When there is none.
    pub fn node(&self, name: &str) -> anyhow::Result<NodeId> {
        let node = self.nodes.get(name).copied();
        node.ok_or_else(|| anyhow::anyhow!("there is no node '{name}' in this lab"))
    }

    /// The number of the link of this name, `up` or `down`.
    ///
    /// # Errors
    /// When there is none.
    pub fn link(&self, name: &str, direction: &str) -> anyhow::Result<LinkId> {
        let mut links = self.topology.links.iter();
        let place = links.position(|link| link.between.join("-") == name);
        let place = place.and_then(|place| u32::try_from(place).ok());
        let place = place.ok_or_else(|| anyhow::anyhow!("there is no link '{name}'"))?;
        Ok(LinkId(2 * place + u32::from(direction == "down")))
    }
}

/// The lab called `name`, for the record.
pub fn info(topology: &Topology, name: &str) -> PathInfo {
    let links = topology.links.iter().map(|link| LabLink {
        name: link.between.join("-"),
        up: json!(link.up),
        down: json!(link.down),
    });
    PathInfo {
        families: vec![4],
        lab: Some(LabInfo {
            name: format!("{name}, simulated"),
            links: links.collect(),
            ..LabInfo::default()
        }),
        ..PathInfo::default()
    }
}
