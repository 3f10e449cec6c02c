//! The queues of the links, looked at every 10 ms as in a lab.

use super::path::Path;
use ::path::Element;
use record::Label;
use schema::tables::Queue;
use sim::{Endpoint, LinkId, Observer, World};

/// The rows of the table `queue` at one moment: links whose directions have a queue.
pub(crate) fn rows<O: Observer>(path: &Path, world: &World<Endpoint<O>>) -> Vec<Queue> {
    let ways = path
        .links
        .iter()
        .flat_map(|link| [(&link.name, "up"), (&link.name, "down")]);
    let row = |(number, (name, direction)): (u32, (&String, &'static str))| {
        let link = world.link(LinkId(number))?;
        let (waiting, counters) = (link.backlog()?, link.counters());
        Some(Queue {
            t_ns: world.now().as_nanos(),
            link: Label::from(name.clone()),
            direction: direction.into(),
            stage: "all".into(),
            packets: waiting.packets,
            bytes: waiting.bytes,
            dropped_overflow: counters.overflow.packets,
            dropped_aqm: counters.aqm.packets,
            dropped_loss: counters.loss.packets,
            marked: counters.marked.packets,
        })
    };
    (0..).zip(ways).filter_map(row).collect()
}
