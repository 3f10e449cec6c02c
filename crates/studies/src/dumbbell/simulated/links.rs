//! What is seen of the links: what waits in their queues from time to time, and what they carried in all.

use super::body::Body;
use kit::link_rows;
use lab::{Topology, profiles};
use path::Element;
use schema::LinkTruth;
use schema::tables::Queue;
use sim::{LinkId, Node, Tap, World};
use units::{Instant, Rate};

/// All directions, by the numbers of their links.
pub struct Links(Vec<Direction>);

struct Direction {
    link: String,
    name: &'static str,
    rate: Option<Rate>,
    queue_bytes: Vec<u64>,
}

impl Links {
    /// Those of a lab.
    pub fn new(topology: &Topology) -> Self {
        let directions = topology.links.iter().flat_map(|link| {
            [("up", &link.up), ("down", &link.down)].map(|(name, spec)| Direction {
                link: link.between.join("-"),
                name,
                rate: profiles::rate(spec),
                queue_bytes: Vec::new(),
            })
        });
        Self(directions.collect())
    }

    /// Looks at all queues; the rows of the table `queue`, whose times count from `origin`.
    pub fn look<N, T>(&mut self, world: &World<N, T>, origin: Instant) -> Vec<Queue>
    where
        N: Node<Payload = Body>,
        T: Tap<Body>,
    {
        let since = world.now().since(origin).as_nanos();
        let mut rows = Vec::new();
        for (direction, number) in self.0.iter_mut().zip(0..) {
            let Some(link) = world.link(LinkId(number)) else {
                continue;
            };
            let Some(waiting) = link.backlog() else {
                continue;
            };
            direction.queue_bytes.push(waiting.bytes);
            let counters = link.counters();
            let t_ns = u64::try_from(since).unwrap_or(u64::MAX);
            let names = (direction.link.as_str(), direction.name);
            rows.push(link_rows::queue(t_ns, names, waiting, &counters));
        }
        rows
    }

    /// What was carried, queued and dropped in so many seconds; others' packets of a link's own are not counted as carried.
    pub fn truth<N, T>(&self, world: &World<N, T>, seconds: f64) -> Vec<LinkTruth>
    where
        N: Node<Payload = Body>,
        T: Tap<Body>,
    {
        let truth = self.0.iter().zip(0..).map(|(direction, number)| {
            let link = world.link(LinkId(number));
            let counters = link.map(Element::counters).unwrap_or_default();
            let others = link.map(Element::others).unwrap_or_default();
            let carried = counters.left.bytes.saturating_sub(others.left.bytes);
            LinkTruth {
                link: direction.link.clone(),
                direction: direction.name.to_owned(),
                rate_mbps: direction.rate.map(Rate::as_mbps),
                carried_mbps: carried as f64 * 8e-6 / seconds.max(f64::MIN_POSITIVE),
                queue_ms: link_rows::queue_ms(direction.rate, &direction.queue_bytes),
                dropped_overflow: counters.overflow.packets,
                dropped_aqm: counters.aqm.packets,
                dropped_loss: counters.loss.packets,
                marked: counters.marked.packets,
                emulator_late_p50_us: 0.0,
                emulator_late_p99_us: 0.0,
                unwritten: 0,
            }
        });
        truth.collect()
    }
}
