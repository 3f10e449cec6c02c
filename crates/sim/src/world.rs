//! The event loop.

use crate::calendar::Calendar;
use crate::routes::Routes;
use crate::{Addressed, LinkId, Node, NodeId, Parcel};
use path::{Element, Pipeline};
use std::collections::VecDeque;
use units::Instant;

/// Looks on where links end. `()` sees nothing.
pub trait Tap<P> {
    /// A packet has come out of link `id`, at a router or a host.
    fn left(&mut self, id: LinkId, packet: &Parcel<P>) {
        let _ = (id, packet);
    }
}

impl<P> Tap<P> for () {}

/// What a world consists of, before its time begins.
pub struct Builder<N: Node> {
    nodes: Vec<Option<N>>,
    links: Vec<Link<N::Payload>>,
}

/// One direction of a link.
struct Link<P> {
    from: NodeId,
    to: NodeId,
    pipeline: Pipeline<Addressed<P>>,
}

/// What a world has done.
///
/// A **packet event** is one packet handled at one node: a host hands it to a link (a departure), or a link hands it to a
/// host or a router (an arrival). A packet between two hosts is two events, one more for every router between them. What
/// happens inside links (a packet enters a queue, is taken off it, enters a delay and leaves it), timers, and acknowledgements
/// that a receiver decides not to send are work too, but are not counted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Work {
    /// Packets that hosts handed to links.
    pub departures: u64,
    /// Packets that links handed to hosts and routers.
    pub arrivals: u64,
    /// Packets to which no link leads; they are gone.
    pub unroutable: u64,
}

impl Work {
    /// All packet events.
    pub const fn events(&self) -> u64 {
        self.departures + self.arrivals
    }
}

impl<N: Node> Default for Builder<N> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            links: Vec::new(),
        }
    }
}

impl<N: Node> Builder<N> {
    /// Puts a host at node number `id`. A node without a host is a router: it only passes on.
    pub fn host(&mut self, id: NodeId, host: N) {
        let place = id.0 as usize;
        if self.nodes.len() <= place {
            self.nodes.resize_with(place + 1, || None);
        }
        self.nodes[place] = Some(host);
    }

    /// Adds a link on which packets go `from` one node `to` another through `pipeline`.
    pub fn link(
        &mut self,
        from: NodeId,
        to: NodeId,
        pipeline: Pipeline<Addressed<N::Payload>>,
    ) -> LinkId {
        self.links.push(Link { from, to, pipeline });
        LinkId(count(&self.links) - 1)
    }

    /// The world at its instant zero.
    pub fn build(self) -> World<N> {
        self.build_with(())
    }

    /// The same, with `tap` at the ends of its links.
    pub fn build_with<T: Tap<N::Payload>>(mut self, tap: T) -> World<N, T> {
        let named = self.links.iter().map(|link| link.from.max(link.to).0);
        let nodes = named.max().map_or(0, |most| most as usize + 1);
        self.nodes.resize_with(nodes.max(self.nodes.len()), || None);
        let ends: Vec<_> = self.links.iter().map(|link| (link.from, link.to)).collect();
        let links = count(&self.links);
        let mut world = World {
            now: Instant::ZERO,
            routes: Routes::new(self.nodes.len(), &ends),
            calendar: Calendar::new(links + count(&self.nodes)),
            nodes: self.nodes,
            links: self.links,
            first_node: links,
            arriving: VecDeque::new(),
            bound: VecDeque::new(),
            work: Work::default(),
            tap,
        };
        (0..count(&world.nodes)).for_each(|number| world.rearm(NodeId(number)));
        world
    }
}

/// Hosts, routers and links with a clock of their own, which jumps from one deadline to the next.
///
/// At one instant links come before hosts, so a packet that arrives at the instant at which a timer runs out arrives before
/// it does; among links, and among hosts, the lower number comes first. What happens is therefore a function of what the
/// world was built of.
pub struct World<N: Node, T = ()> {
    now: Instant,
    /// Routers are `None`.
    nodes: Vec<Option<N>>,
    links: Vec<Link<N::Payload>>,
    routes: Routes,
    /// The parties are the links, then the nodes.
    calendar: Calendar,
    /// Number of the first node in the calendar.
    first_node: u32,
    /// What links have given out at this instant and no node has handled yet.
    arriving: VecDeque<Parcel<N::Payload>>,
    /// Out of which link so many of them came, in order.
    bound: VecDeque<(LinkId, usize)>,
    work: Work,
    tap: T,
}

impl<N: Node, T: Tap<N::Payload>> World<N, T> {
    /// Does everything that is due up to `until`, each thing at its own instant; afterwards it is `until`.
    pub fn run_until(&mut self, until: Instant) {
        self.go_on(until);
        self.now = self.now.max(until);
        // Whoever looks at queues now sees them as they are now.
        for id in 0..count(&self.links) {
            let link = &mut self.links[id as usize];
            if link.pipeline.backlog().is_some() {
                let waiting = self.arriving.len();
                let wake = link.pipeline.catch_up(self.now, &mut self.arriving);
                self.given_out(LinkId(id), waiting, wake);
                self.settle();
            }
        }
    }

    /// Does everything, until all is quiet for ever.
    pub fn run(&mut self) {
        self.go_on(Instant::FAR_FUTURE);
    }

    fn go_on(&mut self, until: Instant) {
        while let Some((at, party)) = self.calendar.first()
            && at <= until
        {
            // What is due since before now is due now.
            self.now = self.now.max(at);
            self.act(party);
            self.settle();
        }
    }

    /// What time it is.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// When something happens next; `None` when all is quiet for ever.
    pub fn next_deadline(&mut self) -> Option<Instant> {
        Some(self.calendar.first()?.0)
    }

    /// The host number `id`.
    pub fn node(&self, id: NodeId) -> Option<&N> {
        self.nodes.get(id.0 as usize)?.as_ref()
    }

    /// The same, for what has no influence on when it acts next.
    pub fn node_mut(&mut self, id: NodeId) -> Option<&mut N> {
        self.nodes.get_mut(id.0 as usize)?.as_mut()
    }

    /// Has a host do something now that nothing in the world makes it do, and handles what follows; nothing where there is no host.
    pub fn act_on<R>(&mut self, id: NodeId, act: impl FnOnce(&mut N, Instant) -> R) -> Option<R> {
        let node = self.nodes.get_mut(id.0 as usize)?.as_mut()?;
        let done = act(node, self.now);
        self.poll(id);
        self.settle();
        Some(done)
    }

    /// What looks on where links end.
    pub const fn tap_mut(&mut self) -> &mut T {
        &mut self.tap
    }

    /// Link number `id`, to take what it has noted.
    pub fn link_mut(&mut self, id: LinkId) -> Option<&mut Pipeline<Addressed<N::Payload>>> {
        Some(&mut self.links.get_mut(id.0 as usize)?.pipeline)
    }

    /// All hosts, by number.
    pub fn into_nodes(self) -> impl Iterator<Item = N> {
        self.nodes.into_iter().flatten()
    }

    /// What link number `id` does to packets.
    pub fn link(&self, id: LinkId) -> Option<&Pipeline<Addressed<N::Payload>>> {
        Some(&self.links.get(id.0 as usize)?.pipeline)
    }

    /// What has been done so far.
    pub const fn work(&self) -> Work {
        self.work
    }

    /// The deadline of a link or a node has come.
    fn act(&mut self, party: u32) {
        let Some(number) = party.checked_sub(self.first_node) else {
            return self.drive(LinkId(party), None);
        };
        let id = NodeId(number);
        let Some(node) = &mut self.nodes[id.0 as usize] else {
            return;
        };
        if node.next_timeout().is_some_and(|due| due <= self.now) {
            node.handle_timeout(self.now);
            self.poll(id);
        } else {
            // It has been put off.
            let due = node.next_timeout();
            self.calendar.set(party, due);
        }
    }

    /// Handles what has arrived, and what arrives in consequence at the same instant.
    fn settle(&mut self) {
        while let Some((link, count)) = self.bound.pop_front() {
            let to = self.links[link.0 as usize].to;
            for _ in 0..count {
                if let Some(packet) = self.arriving.pop_front() {
                    self.tap.left(link, &packet);
                    self.arrive(to, packet);
                }
            }
        }
    }

    fn arrive(&mut self, id: NodeId, packet: Parcel<N::Payload>) {
        self.work.arrivals += 1;
        match &mut self.nodes[id.0 as usize] {
            Some(node) if packet.body.to == id => {
                node.handle_packet(packet, self.now);
                self.poll(id);
            }
            _ => self.forward(id, packet),
        }
    }

    /// Takes what a host wants to send.
    fn poll(&mut self, id: NodeId) {
        while let Some(node) = &mut self.nodes[id.0 as usize]
            && let Some(packet) = node.poll_transmit(self.now)
        {
            self.work.departures += 1;
            self.forward(id, packet);
        }
        self.rearm(id);
    }

    fn rearm(&mut self, id: NodeId) {
        let node = self.nodes[id.0 as usize].as_ref();
        let at = node.and_then(Node::next_timeout);
        // What was put off is found out when its time has come: most timers are put off again and again.
        self.calendar.advance(self.first_node + id.0, at);
    }

    fn forward(&mut self, id: NodeId, mut packet: Parcel<N::Payload>) {
        packet.at = self.now;
        match self.routes.next(id, packet.body.to) {
            Some(link) => self.drive(link, Some(packet)),
            None => self.work.unroutable += 1,
        }
    }

    /// Gives `packet` to a link, or calls it because it is due.
    fn drive(&mut self, id: LinkId, packet: Option<Parcel<N::Payload>>) {
        let link = &mut self.links[id.0 as usize];
        let waiting = self.arriving.len();
        let is_due = packet.is_none();
        let wake = link.pipeline.process(packet, self.now, &mut self.arriving);
        if N::FORESEES
            && is_due
            && let Some(node) = &mut self.nodes[link.to.0 as usize]
        {
            let foresee = &mut |packet: &Parcel<N::Payload>| node.foresee(packet);
            link.pipeline.foresee(self.now, foresee);
        }
        self.given_out(id, waiting, wake);
    }

    /// A link that is called again at `wake` has given out what was not `waiting` already.
    fn given_out(&mut self, id: LinkId, waiting: usize, wake: Option<Instant>) {
        self.calendar.set(id.0, wake);
        if self.arriving.len() > waiting {
            self.bound.push_back((id, self.arriving.len() - waiting));
        }
    }
}

/// How many there are; ids have 32 bits, and memory ends before them.
fn count<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}
