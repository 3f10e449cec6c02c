//! Either of the two hosts, as the world knows them.

use super::Datagram;
use super::far::Far;
use super::near::Near;
use sim::{Node, Parcel};
use units::Instant;

/// One of the two hosts.
pub(super) enum Host<'a> {
    Near(Near<'a>),
    Far(Far),
}

impl Node for Host<'_> {
    type Payload = Datagram;

    fn handle_packet(&mut self, packet: Parcel<Datagram>, now: Instant) {
        match self {
            Self::Near(near) => near.handle_packet(packet, now),
            Self::Far(far) => far.handle_packet(packet, now),
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        match self {
            Self::Near(near) => near.handle_timeout(now),
            Self::Far(far) => far.handle_timeout(now),
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Parcel<Datagram>> {
        match self {
            Self::Near(near) => near.poll_transmit(now),
            Self::Far(far) => far.poll_transmit(now),
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        match self {
            Self::Near(near) => near.next_timeout(),
            Self::Far(far) => far.next_timeout(),
        }
    }
}
