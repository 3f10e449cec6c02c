//! What the links of a path in virtual time carried, queued and dropped: the rows and figures that [`crate::lab_counters`] has of
//! a lab's.

use crate::link_rows;
use path::{Element, Pipeline};
use schema::LinkTruth;
use schema::tables::{Counters, Queue};
use sim::{Addressed, LinkId, Node, Parcel, Tap, World};
use std::time::Duration;
use units::{Instant, Rate};

/// A link of a path, both ways, which carries packets with `P` in them.
pub struct Hop<P> {
    /// Its two nodes, as `a-b`.
    pub name: String,
    /// From the first end of the path to the second, and back.
    pub ways: [Pipeline<Addressed<P>>; 2],
    /// Its rates, where it has any.
    pub rates: [Option<Rate>; 2],
}

/// All links of a path by their numbers in the world: those of hop n are 2n and 2n + 1.
pub struct VirtualLinks {
    directions: Vec<Direction>,
}

/// One direction of a link.
struct Direction {
    link: String,
    name: &'static str,
    rate: Option<Rate>,
    left: Bins,
    loaded_bytes: u64,
    queue_bytes: Vec<u64>,
}

/// Packets and octets, bin by bin; bins without packets are left out.
#[derive(Debug)]
pub struct Bins {
    width: u64,
    at: u64,
    packets: u64,
    bytes: u64,
    done: Vec<(u64, u64, u64)>,
}

impl Bins {
    /// Bins of this width, at least a nanosecond.
    pub fn of(width: Duration) -> Self {
        Self {
            width: u64::try_from(width.as_nanos()).unwrap_or(u64::MAX).max(1),
            at: 0,
            packets: 0,
            bytes: 0,
            done: Vec::new(),
        }
    }

    /// A packet of so many octets; times do not go back.
    pub fn put(&mut self, at: Instant, octets: u32) {
        let bin = at.as_nanos() / self.width * self.width;
        if bin != self.at {
            self.end();
            self.at = bin;
        }
        self.packets += 1;
        self.bytes += u64::from(octets);
    }

    /// The bin at hand is over.
    fn end(&mut self) {
        if self.packets > 0 {
            self.done.push((self.at, self.packets, self.bytes));
            (self.packets, self.bytes) = (0, 0);
        }
    }

    /// All bins since the last call, the one at hand among them: when each began in ns, its packets and its octets.
    pub fn take(&mut self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.end();
        self.done.drain(..)
    }
}

impl VirtualLinks {
    /// Of `hops`; what leaves a direction is counted in bins of this width.
    pub fn new<P>(hops: &[Hop<P>], bin: Duration) -> Self {
        let directions = hops.iter().flat_map(|hop| {
            ["up", "down"]
                .into_iter()
                .zip(hop.rates)
                .map(|(name, rate)| Direction {
                    link: hop.name.clone(),
                    name,
                    rate,
                    left: Bins::of(bin),
                    loaded_bytes: 0,
                    queue_bytes: Vec::new(),
                })
        });
        Self {
            directions: directions.collect(),
        }
    }

    /// The directions' numbers, links and names.
    pub fn names(&self) -> impl Iterator<Item = (LinkId, &str, &'static str)> {
        let directions = (0..).map(LinkId).zip(&self.directions);
        directions.map(|(id, direction)| (id, direction.link.as_str(), direction.name))
    }

    /// A packet of so many octets left direction `id`.
    pub fn put(&mut self, id: LinkId, at: Instant, octets: u32) {
        if let Some(direction) = self.directions.get_mut(id.0 as usize) {
            direction.left.put(at, octets);
        }
    }

    /// What has left since the last call; `is_loaded` says of the beginning of a bin whether its octets count as carried under
    /// load.
    pub fn take(&mut self, is_loaded: impl Fn(u64) -> bool) -> Vec<Counters> {
        let mut rows = Vec::new();
        for direction in &mut self.directions {
            for (t_ns, packets, bytes) in direction.left.take() {
                if is_loaded(t_ns) {
                    direction.loaded_bytes += bytes;
                }
                rows.push(Counters {
                    t_ns,
                    link: direction.link.clone().into(),
                    direction: direction.name.into(),
                    packets,
                    bytes,
                });
            }
        }
        rows
    }
}

impl<P> Tap<P> for VirtualLinks {
    fn left(&mut self, id: LinkId, packet: &Parcel<P>) {
        self.put(id, packet.at, packet.size);
    }
}

/// Looks at the queues of `world`, whose tap has its links where `of` says; the rows of the table `queue`. What waits counts as
/// load if `is_loaded`.
pub fn look<N: Node, T: Tap<N::Payload>>(
    world: &mut World<N, T>,
    of: impl Fn(&mut T) -> &mut VirtualLinks,
    is_loaded: bool,
) -> Vec<Queue> {
    let t_ns = world.now().as_nanos();
    let count = u32::try_from(of(world.tap_mut()).directions.len()).unwrap_or(u32::MAX);
    let mut rows = Vec::new();
    for id in (0..count).map(LinkId) {
        let waits = world
            .link(id)
            .and_then(|link| Some((link.backlog()?, link.counters())));
        let Some((waiting, counters)) = waits else {
            continue;
        };
        let direction = &mut of(world.tap_mut()).directions[id.0 as usize];
        if is_loaded {
            direction.queue_bytes.push(waiting.bytes);
        }
        let names = (direction.link.as_str(), direction.name);
        rows.push(link_rows::queue(t_ns, names, waiting, &counters));
    }
    rows
}

/// What the links of `world` carried, queued and dropped, in `seconds` under load.
pub fn truth<N: Node, T: Tap<N::Payload>>(
    world: &mut World<N, T>,
    of: impl Fn(&mut T) -> &mut VirtualLinks,
    seconds: f64,
) -> Vec<LinkTruth> {
    let directions = std::mem::take(&mut of(world.tap_mut()).directions);
    let truth = (0..).map(LinkId).zip(&directions).map(|(id, direction)| {
        let counters = world.link(id).map(Element::counters);
        direction.truth(counters.unwrap_or_default(), seconds)
    });
    let truth = truth.collect();
    of(world.tap_mut()).directions = directions;
    truth
}

impl Direction {
    fn truth(&self, counters: path::Counters, seconds: f64) -> LinkTruth {
        LinkTruth {
            link: self.link.clone(),
            direction: self.name.to_owned(),
            rate_mbps: self.rate.map(Rate::as_mbps),
            carried_mbps: if seconds > 0.0 {
                self.loaded_bytes as f64 * 8e-6 / seconds
            } else {
                0.0
            },
            queue_ms: link_rows::queue_ms(self.rate, &self.queue_bytes),
            dropped_overflow: counters.overflow.packets,
            dropped_aqm: counters.aqm.packets,
            dropped_loss: counters.loss.packets,
            marked: counters.marked.packets,
            emulator_late_p50_us: 0.0,
            emulator_late_p99_us: 0.0,
            unwritten: 0,
        }
    }
}
