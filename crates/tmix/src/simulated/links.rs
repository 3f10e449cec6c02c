//! What is seen of the links: what came, what left, what waits, and who is alive.

use crate::replay::active::{Seconds, Signal};
use path::{Element, Pipeline};
use record::{Distribution, Label};
use schema::LinkTruth;
use schema::replay::tables::{Active, Offered};
use schema::tables::{Counters, Queue};
use sim::tcp::Tcp;
use sim::{Addressed, LinkId, Node, Parcel, Tap, World};
use std::time::Duration;
use units::{FlowId, Instant, Rate};

/// How long packets are counted together.
pub(super) const BIN: Duration = Duration::from_millis(1);

/// A link of the path, both ways.
pub struct Hop {
    /// Its two nodes, as `a-b`.
    pub name: String,
    /// Towards the server, and back.
    pub ways: [Pipeline<Addressed<Tcp>>; 2],
    /// Its rates, where it has any.
    pub rates: [Option<Rate>; 2],
}

/// One direction of a link.
pub(super) struct Direction {
    link: String,
    name: &'static str,
    rate: Option<Rate>,
    /// What came to its queue and what left it.
    offered: Bins,
    left: Bins,
    loaded_bytes: u64,
    queue_bytes: Vec<u64>,
}

/// Packets and octets, bin by bin; bins without packets are left out.
#[derive(Debug, Default)]
struct Bins {
    at: u64,
    packets: u64,
    bytes: u64,
    done: Vec<(u64, u64, u64)>,
}

impl Bins {
    fn put(&mut self, at: Instant, octets: u32) {
        let width = u64::try_from(BIN.as_nanos()).unwrap_or(u64::MAX);
        let bin = at.as_nanos() / width * width;
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
}

/// All directions, by the numbers of their links, and the connections that a monitor on one of them sees.
pub(super) struct Links {
    pub(super) directions: Vec<Direction>,
    /// The link that is watched for connections: either direction.
    watched: Option<[LinkId; 2]>,
    seconds: Seconds,
    active: Vec<Active>,
}

/// Rows for the record.
#[derive(Default)]
pub(super) struct LinkRows {
    pub(super) counters: Vec<Counters>,
    pub(super) offered: Vec<Offered>,
    pub(super) active: Vec<Active>,
}

impl Links {
    /// Of `hops`, whose directions have the numbers 2n and 2n + 1; `watched` is a place among them.
    pub(super) fn new(hops: &[Hop], watched: Option<usize>) -> Self {
        let directions = hops.iter().flat_map(|hop| {
            ["up", "down"]
                .into_iter()
                .zip(hop.rates)
                .map(|(name, rate)| Direction {
                    link: hop.name.clone(),
                    name,
                    rate,
                    offered: Bins::default(),
                    left: Bins::default(),
                    loaded_bytes: 0,
                    queue_bytes: Vec::new(),
                })
        });
        let both = |place: usize| {
            let first = u32::try_from(2 * place).unwrap_or(u32::MAX);
            [LinkId(first), LinkId(first + 1)]
        };
        Self {
            directions: directions.collect(),
            watched: watched.map(both),
            seconds: Seconds::default(),
            active: Vec::new(),
        }
    }

    fn is_watched(&self, id: LinkId) -> bool {
        self.watched.is_some_and(|both| both.contains(&id))
    }

    /// Takes what is certain at `now`: all bins and seconds that are over. `is_loaded` says whether octets that left in a bin
    /// count as carried under load.
    pub(super) fn take(&mut self, now: Instant, is_loaded: impl Fn(u64) -> bool) -> LinkRows {
        let mut rows = LinkRows::default();
        self.seconds
            .advance(now.as_nanos() / 1_000_000_000, &mut self.active);
        rows.active.append(&mut self.active);
        for (number, direction) in (0..).zip(&mut self.directions) {
            let link = Label::from(direction.link.clone());
            let is_watched = self
                .watched
                .is_some_and(|both| both.contains(&LinkId(number)));
            direction.left.end();
            direction.offered.end();
            for (t_ns, packets, bytes) in direction.left.done.drain(..) {
                if is_loaded(t_ns) {
                    direction.loaded_bytes += bytes;
                }
                rows.counters.push(Counters {
                    t_ns,
                    link: link.clone(),
                    direction: direction.name.into(),
                    packets,
                    bytes,
                });
            }
            let offered = direction.offered.done.drain(..);
            let offered = offered.filter(|_| is_watched);
            rows.offered
                .extend(offered.map(|(t_ns, packets, bytes)| Offered {
                    t_ns,
                    link: link.clone(),
                    direction: direction.name.into(),
                    packets,
                    bytes,
                }));
        }
        rows
    }
}

impl Tap<Tcp> for Links {
    fn left(&mut self, id: LinkId, packet: &Parcel<Tcp>) {
        if let Some(direction) = self.directions.get_mut(id.0 as usize) {
            direction.left.put(packet.at, packet.size);
        }
        let tcp = &packet.body.payload;
        let signal = Signal {
            syn: *tcp == Tcp::Syn,
            fin: tcp.is_fin(),
            rst: tcp.is_reset(),
        };
        if (signal.syn || signal.fin || signal.rst) && self.is_watched(id) {
            let second = packet.at.as_nanos() / 1_000_000_000;
            self.seconds.advance(second, &mut self.active);
            self.seconds.enter(FlowId(packet.flow.0 / 2), signal);
        }
    }
}

/// Looks at all queues, and takes what came to them; the rows of the table `queue`.
pub(super) fn look<N>(world: &mut World<N, Links>, is_loaded: bool) -> Vec<Queue>
where
    N: Node<Payload = Tcp>,
{
    let now = world.now();
    let count = u32::try_from(world.tap_mut().directions.len()).unwrap_or(u32::MAX);
    let mut rows = Vec::new();
    for id in (0..count).map(LinkId) {
        let Some(link) = world.link_mut(id) else {
            continue;
        };
        let arrivals: Vec<_> = link.arrivals().collect();
        let (backlog, counters) = (link.backlog(), link.counters());
        let direction = &mut world.tap_mut().directions[id.0 as usize];
        for (at, octets) in arrivals {
            direction.offered.put(at, octets);
        }
        let Some(waiting) = backlog else {
            continue;
        };
        if is_loaded {
            direction.queue_bytes.push(waiting.bytes);
        }
        rows.push(Queue {
            t_ns: now.as_nanos(),
            link: Label::from(direction.link.clone()),
            direction: direction.name.into(),
            stage: "all".into(),
            packets: waiting.packets,
            bytes: waiting.bytes,
            dropped_overflow: counters.overflow.packets,
            dropped_aqm: counters.aqm.packets,
            dropped_loss: counters.loss.packets,
            marked: counters.marked.packets,
        });
    }
    rows
}

/// What the links carried, queued and dropped, in `seconds` under load.
pub(super) fn truth<N>(world: &mut World<N, Links>, seconds: f64) -> Vec<LinkTruth>
where
    N: Node<Payload = Tcp>,
{
    let directions = std::mem::take(&mut world.tap_mut().directions);
    let truth = (0..).zip(directions).map(|(number, direction)| {
        let counters = world.link(LinkId(number)).map(Element::counters);
        let counters = counters.unwrap_or_default();
        let queue_ms = direction.rate.and_then(|rate| {
            let drain = |bytes: &u64| rate.time_for(*bytes).as_secs_f64() * 1e3;
            Distribution::of(direction.queue_bytes.iter().map(drain))
        });
        LinkTruth {
            link: direction.link,
            direction: direction.name.to_owned(),
            rate_mbps: direction.rate.map(Rate::as_mbps),
            carried_mbps: if seconds > 0.0 {
                direction.loaded_bytes as f64 * 8e-6 / seconds
            } else {
                0.0
            },
            queue_ms,
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
