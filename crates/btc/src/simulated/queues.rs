//! The queues of the links, looked at every 10 ms as in a lab.

use ::path::Element;
use kit::link_rows;
use kit::virtual_path::Path;
use schema::tables::Queue;
use sim::{Endpoint, LinkId, Observer, World};

/// The rows of the table `queue` at one moment: links whose directions have a queue.
pub(super) fn rows<O: Observer>(path: &Path, world: &World<Endpoint<O>>) -> Vec<Queue> {
    let ways = path
        .links
        .iter()
        .flat_map(|link| [(&link.name, "up"), (&link.name, "down")]);
    let row = |(number, (name, direction)): (u32, (&String, &'static str))| {
        let link = world.link(LinkId(number))?;
        let (waiting, counters) = (link.backlog()?, link.counters());
        let t_ns = world.now().as_nanos();
        Some(link_rows::queue(
            t_ns,
            (name, direction),
            waiting,
            &counters,
        ))
    };
    (0..).zip(ways).filter_map(row).collect()
}
