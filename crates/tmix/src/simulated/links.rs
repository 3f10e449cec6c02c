//! What is seen of the links: what came, what left, what waits, and who is alive.

use super::capturing::Capturing;
use crate::replay::active::{Seconds, Signal};
use kit::virtual_links::{self, Bins, VirtualLinks};
use schema::LinkTruth;
use schema::replay::tables::{Active, Offered};
use schema::tables::{Counters, Queue};
use sim::tcp::Tcp;
use sim::{LinkId, Node, Parcel, Tap, World};
use std::io;
use std::time::Duration;
use units::{FlowId, Instant};

/// A link of the path, both ways.
pub type Hop = virtual_links::Hop<Tcp>;

/// All directions, by the numbers of their links, and the connections that a monitor on one of them sees.
pub(super) struct Links {
    seen: VirtualLinks,
    /// What came to each direction's queue.
    offered: Vec<Bins>,
    /// The link that is watched for connections: either direction.
    watched: Option<[LinkId; 2]>,
    seconds: Seconds,
    active: Vec<Active>,
    capturing: Option<Capturing>,
}

/// Rows for the record.
#[derive(Default)]
pub(super) struct LinkRows {
    pub(super) counters: Vec<Counters>,
    pub(super) offered: Vec<Offered>,
    pub(super) active: Vec<Active>,
}

impl Links {
    /// Of `hops`, whose directions have the numbers 2n and 2n + 1; `watched` is a place among them, and packets are counted in bins of this
    /// width.
    pub(super) fn new(
        hops: &[Hop],
        watched: Option<usize>,
        bins: Duration,
        capturing: Option<Capturing>,
    ) -> Self {
        let both = |place: usize| {
            let first = u32::try_from(2 * place).unwrap_or(u32::MAX);
            [LinkId(first), LinkId(first + 1)]
        };
        Self {
            seen: VirtualLinks::new(hops, bins),
            offered: (0..2 * hops.len()).map(|_| Bins::of(bins)).collect(),
            watched: watched.map(both),
            seconds: Seconds::default(),
            active: Vec::new(),
            capturing,
        }
    }

    /// Why the capture could not be written, if it could not.
    pub(super) fn capture_error(&mut self) -> Option<io::Error> {
        self.capturing.as_mut()?.failed.take()
    }

    /// Ends the capture at `now`; the packets that are not in it.
    pub(super) fn end_capture(&mut self, now: Instant) -> io::Result<u64> {
        let capturing = self.capturing.take();
        capturing.map_or(Ok(0), |capturing| capturing.finish(now))
    }

    fn is_watched(&self, id: LinkId) -> bool {
        self.watched.is_some_and(|both| both.contains(&id))
    }

    /// Takes what is certain at `now`: all bins and seconds that are over. `is_loaded` says whether octets that left in a bin
    /// count as carried under load.
    pub(super) fn take(&mut self, now: Instant, is_loaded: impl Fn(u64) -> bool) -> LinkRows {
        self.seconds
            .advance(now.as_nanos() / 1_000_000_000, &mut self.active);
        let mut rows = LinkRows {
            active: std::mem::take(&mut self.active),
            counters: self.seen.take(is_loaded),
            offered: Vec::new(),
        };
        for ((id, link, direction), offered) in self.seen.names().zip(&mut self.offered) {
            let is_watched = self.watched.is_some_and(|both| both.contains(&id));
            let bins = offered.take().filter(|_| is_watched);
            rows.offered
                .extend(bins.map(|(t_ns, packets, bytes)| Offered {
                    t_ns,
                    link: link.to_owned().into(),
                    direction: direction.into(),
                    packets,
                    bytes,
                }));
        }
        rows
    }
}

impl Tap<Tcp> for Links {
    fn left(&mut self, id: LinkId, packet: &Parcel<Tcp>) {
        self.seen.put(id, packet.at, packet.size);
        if self.capturing.is_some() && self.is_watched(id) {
            let is_up = self.watched.is_some_and(|[up, _]| up == id);
            if let Some(capturing) = &mut self.capturing {
                capturing.enter(is_up, packet);
            }
        }
        let tcp = &packet.body.payload;
        let signal = Signal {
            syn: tcp.is_syn(),
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
    for id in (0..).map(LinkId) {
        let Some(link) = world.link_mut(id) else {
            break;
        };
        let arrivals = link.arrivals();
        if let Some(offered) = world.tap_mut().offered.get_mut(id.0 as usize) {
            for (at, octets) in arrivals {
                offered.put(at, octets);
            }
        }
    }
    virtual_links::look(world, |links| &mut links.seen, is_loaded)
}

/// What the links carried, queued and dropped, in `seconds` under load.
pub(super) fn truth<N>(world: &mut World<N, Links>, seconds: f64) -> Vec<LinkTruth>
where
    N: Node<Payload = Tcp>,
{
    virtual_links::truth(world, |links| &mut links.seen, seconds)
}
