//! Hosts, and what they send each other.

use path::Packet;
use units::Instant;

/// The number of a node, as whoever builds a world chooses it; from 0 and without gaps is best.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeId(pub u32);

/// The number of a link, one direction: counted from 0 in the order in which they were added to the world.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct LinkId(pub u32);

/// What a packet carries through the world: who sent it to whom, and the host's own payload.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Addressed<P> {
    /// The host that sent it.
    pub from: NodeId,
    /// The host that it is for.
    pub to: NodeId,
    /// What it brings.
    pub payload: P,
}

/// A packet of the world.
pub type Parcel<P> = Packet<Addressed<P>>;

/// A host: a machine without I/O that the world drives.
///
/// # Calling order
///
/// After every `handle_*` the world calls [`Node::poll_transmit`] until it gives nothing, then asks
/// [`Node::next_timeout`]; at that instant it calls [`Node::handle_timeout`]. Time never goes back, and many calls may have
/// the same `now`. A host that answers everything at once over links without delay or rate never lets time go on: give one
/// link of every circle a delay.
pub trait Node {
    /// What the host's packets bring.
    type Payload: Clone + Send + 'static;

    /// Whether [`Node::foresee`] does anything; otherwise nobody looks ahead.
    const FORESEES: bool = false;

    /// `packet` will arrive soon, unless it is lost.
    fn foresee(&mut self, packet: &Parcel<Self::Payload>) {
        let _ = packet;
    }

    /// A packet for this host arrived at `now`.
    fn handle_packet(&mut self, packet: Parcel<Self::Payload>, now: Instant);

    /// The instant of [`Node::next_timeout`] has come.
    fn handle_timeout(&mut self, now: Instant);

    /// The next packet to send, if any; the world stamps it with `now` and chooses the link.
    fn poll_transmit(&mut self, now: Instant) -> Option<Parcel<Self::Payload>>;

    /// When to call [`Node::handle_timeout`]; what has passed already is now.
    fn next_timeout(&self) -> Option<Instant>;
}
