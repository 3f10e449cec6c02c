//! What comes from a peer.

use super::Peer;
use super::window::Verdict;
use crate::envelope::{Envelope, TAG};
use crate::ip;
use crate::packet::{Packet, Payload, whole_stamp};
use crate::reassembly::{self, Key};
use crate::transaction::Arrival;
use thiserror::Error;
use units::Instant;

/// Why a datagram is dropped.
#[derive(Clone, Copy, Debug, Eq, Error, Hash, PartialEq)]
pub enum Unread {
    /// Too short to tell whose it is.
    #[error("datagram too short for an envelope")]
    Short,
    /// Not this peer's.
    #[error("datagram of another session")]
    Session,
    /// Damaged or forged.
    #[error("datagram with a wrong tag")]
    Tag,
    /// It came before.
    #[error("datagram that came before")]
    Repeated,
    /// It came so late that nobody knows whether it came before.
    #[error("datagram that came too late to tell whether it came before")]
    Late,
    /// The tag is right and the packet cannot be read.
    #[error("datagram whose packet cannot be read")]
    Malformed,
}

/// What was in a datagram.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Received {
    /// A probe for a tool.
    pub arrival: Option<Arrival>,
    /// An application's packet to be delivered: it came whole, or this was its last missing piece.
    pub packet: Option<Vec<u8>>,
}

impl Peer {
    /// A datagram that came, from its envelope on, at `arrived_ns` of the clock by which tools are told arrivals.
    ///
    /// # Errors
    /// [`Unread`], counted, for what is not from this peer, came before, or cannot be read.
    pub fn handle(
        &mut self,
        datagram: &[u8],
        arrived_ns: u64,
        now: Instant,
        tag: impl Fn(&[u8], &[u8]) -> [u8; TAG],
    ) -> Result<Received, Unread> {
        let (sequence, packet) = self
            .open(datagram, tag)
            .inspect_err(|reason| self.counters.refuse_datagram(*reason))?;
        let octets = datagram.len() + self.config.carrier.outside();
        self.counters.received_packets += 1;
        self.counters.received_octets += octets as u64;
        let arrival = packet.probe.map(|header| Arrival {
            channel: packet.channel,
            octets: u16::try_from(octets).unwrap_or(u16::MAX),
            sequence,
            sent_ns: whole_stamp(packet.stamp_ns, arrived_ns),
            arrived_ns,
            header: header.to_vec(),
        });
        self.counters.received_probes += u64::from(arrival.is_some());
        let packet = packet
            .payload
            .and_then(|payload| self.unload(&payload, now));
        Ok(Received { arrival, packet })
    }

    /// What became of pieces.
    pub const fn pieces(&self) -> reassembly::Counters {
        self.reassembly.counters()
    }

    /// The last packets that were whole or were given up, and those in the making (T table 4.2).
    pub fn buckets(&self) -> Vec<reassembly::State> {
        let recent = self.reassembly.recent().copied();
        recent.chain(self.reassembly.states()).collect()
    }

    fn open<'a>(
        &mut self,
        datagram: &'a [u8],
        tag: impl Fn(&[u8], &[u8]) -> [u8; TAG],
    ) -> Result<(u64, Packet<'a>), Unread> {
        let envelope = Envelope::parse(datagram).ok_or(Unread::Short)?;
        if envelope.session != self.config.session {
            return Err(Unread::Session);
        }
        let sequence = self.window.widen(envelope.sequence);
        let octets = envelope.open(sequence, tag).ok_or(Unread::Tag)?;
        // Only what is believed moves the window.
        match self.window.admit(sequence) {
            Verdict::Fresh => {}
            Verdict::Repeated => return Err(Unread::Repeated),
            Verdict::Late => return Err(Unread::Late),
        }
        let packet = Packet::parse(octets).map_err(|_| Unread::Malformed)?;
        Ok((sequence, packet))
    }

    /// The application's packet that is whole now.
    fn unload(&mut self, payload: &Payload<'_>, now: Instant) -> Option<Vec<u8>> {
        let packet = match payload {
            Payload::Whole(octets) => octets.to_vec(),
            Payload::Fragment(fragment) => {
                self.counters.received_pieces += 1;
                let key = Key {
                    source: self.config.source,
                    protocol: fragment.protocol,
                    id: fragment.id,
                };
                self.reassembly.handle(key, fragment, now)?
            }
        };
        if ip::protocol(&packet).is_none() {
            self.counters.received_not_ip += 1;
            return None;
        }
        self.counters.delivered_packets += 1;
        self.counters.delivered_octets += packet.len() as u64;
        Some(packet)
    }
}
