//! What comes out of the links to the bottleneck and of the bottleneck itself.

use crate::dumbbell::simulated::{Body, CONTROL};
use crate::trial::decode::{Seen, overlay};
use sim::{LinkId, NodeId, Parcel, Tap};
use units::Instant;

/// A packet at one of the two places.
pub(super) struct Passage {
    pub(super) at: Instant,
    pub(super) octets: u32,
    pub(super) seen: Seen,
    /// Whether it has left the bottleneck, or comes to it.
    pub(super) left: bool,
}

/// See the [module](self).
pub(super) struct Watch {
    /// The source's own link, and the bottleneck.
    pub(super) links: [LinkId; 2],
    /// The application's hosts, and those of others.
    pub(super) hosts: [NodeId; 2],
    pub(super) others: Option<[NodeId; 2]>,
    /// What was seen since it was taken last, in order.
    pub(super) passages: Vec<Passage>,
}

impl Watch {
    fn look(&self, packet: &Parcel<Body>) -> Seen {
        let ends = [packet.body.from, packet.body.to];
        match &packet.body.payload {
            Body::Overlay(datagram) if ends == self.hosts => overlay(datagram),
            Body::Tcp(_) if ends == self.hosts && packet.flow != CONTROL => Seen::Source,
            Body::Tcp(_) if Some(ends) == self.others => Seen::Cross,
            Body::Tcp(_) | Body::Overlay(_) | Body::Word(_) => Seen::Other,
        }
    }
}

impl Tap<Body> for Watch {
    fn left(&mut self, id: LinkId, packet: &Parcel<Body>) {
        let [_, bottleneck] = self.links;
        if self.links.contains(&id) {
            let passage = Passage {
                at: packet.at,
                octets: packet.size,
                seen: self.look(packet),
                left: id == bottleneck,
            };
            self.passages.push(passage);
        }
    }
}
