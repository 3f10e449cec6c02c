//! Everything that was counted.

use super::receiving::Unread;
use crate::transaction::Refusal;

/// What one peer has been sent, has sent, and was not let do. Octets are of whole IP packets, but those of applications' packets and of padding.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counters {
    /// Applications' packets for the peer, whatever became of them.
    pub offered_packets: u64,
    /// Their octets.
    pub offered_octets: u64,
    /// Of them, dropped because too many were waiting.
    pub dropped_full: u64,
    /// Dropped because one datagram cannot hold them; the interface's MTU is too large.
    pub dropped_long: u64,
    /// Dropped because they are no packets of IP.
    pub dropped_not_ip: u64,

    /// Datagrams that left.
    pub sent_packets: u64,
    /// Their octets.
    pub sent_octets: u64,
    /// Of them, those with a probe.
    pub sent_probes: u64,
    /// Octets of those.
    pub sent_probe_octets: u64,
    /// Probes that carried a packet or a piece of one.
    pub riders: u64,
    /// Of them, those that carried a piece.
    pub riding_pieces: u64,
    /// Octets of applications' packets that rode.
    pub riding_octets: u64,
    /// Packets that left by themselves and whole after the buffer's delay.
    pub expired: u64,
    /// Rests of packets that had been cut, which left by themselves.
    pub rests: u64,
    /// Packets that did not wait at all.
    pub prompt: u64,
    /// Datagrams whose packet was too long for the path, so that another with its rest followed.
    pub split: u64,
    /// Octets of padding in probes.
    pub padding_octets: u64,
    /// Octets that riding has kept from the wire: what the riders would have taken in datagrams of their own, less what cutting has added
    /// to the rests.
    pub saved_octets: u64,

    /// Datagrams that came and were believed.
    pub received_packets: u64,
    /// Their octets.
    pub received_octets: u64,
    /// Of them, those with a probe.
    pub received_probes: u64,
    /// Of them, those with a piece of a packet.
    pub received_pieces: u64,
    /// Applications' packets that were delivered.
    pub delivered_packets: u64,
    /// Their octets.
    pub delivered_octets: u64,
    /// Packets from the peer that are no packets of IP, and were not delivered.
    pub received_not_ip: u64,
    /// Datagrams refused because they are too short to tell whose they are.
    pub refused_short: u64,
    /// Refused because they belong to another session.
    pub refused_session: u64,
    /// Refused because of their tag: damaged or forged.
    pub refused_tag: u64,
    /// Refused because they came before.
    pub refused_repeated: u64,
    /// Refused because they came so late that nobody knows whether they came before.
    pub refused_late: u64,
    /// Refused because their tag is right and their packet cannot be read: the peer speaks another version.
    pub refused_malformed: u64,

    /// Transactions that were accepted.
    pub accepted: u64,
    /// Of them, sent to the end.
    pub completed: u64,
    /// Of them, called off.
    pub called_off: u64,
    /// Transactions that were refused for what they ask.
    pub refused_shape: u64,
    /// Refused because too many were waiting.
    pub refused_queue: u64,
    /// Refused because the path's budget was spent.
    pub refused_budget: u64,
}

impl Counters {
    pub(super) const fn refuse_datagram(&mut self, reason: Unread) {
        let counter = match reason {
            Unread::Short => &mut self.refused_short,
            Unread::Session => &mut self.refused_session,
            Unread::Tag => &mut self.refused_tag,
            Unread::Repeated => &mut self.refused_repeated,
            Unread::Late => &mut self.refused_late,
            Unread::Malformed => &mut self.refused_malformed,
        };
        *counter += 1;
    }

    pub(super) const fn refuse_transaction(&mut self, reason: Refusal) {
        let counter = match reason {
            Refusal::Queue(_) => &mut self.refused_queue,
            Refusal::Budget(_) => &mut self.refused_budget,
            _ => &mut self.refused_shape,
        };
        *counter += 1;
    }
}
