//! All that is counted, by name.
//!
//! A session with a peer has its own machine with its own counters; what is told counts from the start of the program, so the
//! counts of sessions that are over are kept as sums.

use mgrp::peer::{Counters, Peer};
use mgrp::reassembly;

/// A counter: its name, what it counts, and where it is.
pub(crate) struct Counter<T> {
    pub name: &'static str,
    pub help: &'static str,
    of: fn(&T) -> u64,
}

/// The counters of a struct, each with its name and what it counts.
macro_rules! counters {
    ($list:ident of $of:ty: $($name:ident: $help:literal,)+) => {
        pub(crate) const $list: &[Counter<$of>] = &[
            $(Counter { name: stringify!($name), help: $help, of: |of| of.$name },)+
        ];
    };
}

counters! { MACHINE of Counters:
    offered_packets: "Application packets for the peer, including those dropped",
    offered_octets: "Octets of application packets for the peer",
    dropped_full: "Packets dropped because the queue was full",
    dropped_long: "Packets dropped because they do not fit into one datagram",
    dropped_not_ip: "Packets from the interface dropped because they are not IP",
    sent_packets: "Datagrams sent",
    sent_octets: "Octets of datagrams sent, headers included",
    sent_probes: "Datagrams sent with a probe",
    sent_probe_octets: "Octets of datagrams sent with a probe",
    riders: "Probes that carried a packet or a fragment of one",
    riding_pieces: "Probes that carried a fragment",
    riding_octets: "Octets of application packets carried in probes",
    expired: "Packets that found no probe within the buffer delay",
    rests: "Remainders of packets that a probe carried a part of, sent on their own",
    prompt: "Packets sent without buffering",
    split: "Cuts made because a packet exceeds the path MTU",
    padding_octets: "Octets of padding sent in probes",
    saved_octets: "Octets saved on the wire by carrying packets in probes",
    received_packets: "Datagrams received and accepted",
    received_octets: "Octets of datagrams received and accepted",
    received_probes: "Probes received",
    received_pieces: "Fragments received",
    delivered_packets: "Application packets delivered",
    delivered_octets: "Octets of application packets delivered",
    received_not_ip: "Payloads received that were not IP packets",
    refused_short: "Datagrams dropped because they are too short",
    refused_session: "Datagrams dropped because they belong to another session",
    refused_tag: "Datagrams dropped because their authentication tag is wrong",
    refused_repeated: "Datagrams dropped because they are duplicates or replays",
    refused_late: "Datagrams dropped because they are older than the replay window",
    refused_malformed: "Datagrams dropped because they are malformed",
    accepted: "Transactions accepted",
    completed: "Transactions completed",
    called_off: "Transactions cancelled",
    refused_shape: "Transactions rejected because the request is invalid",
    refused_queue: "Transactions rejected because the queue was full",
    refused_budget: "Transactions rejected because the path's budget was used up",
}

counters! { PIECES of reassembly::Counters:
    fragments: "Fragments received, duplicates included",
    repeated: "Duplicate fragments",
    whole: "Packets reassembled",
    contradicted: "Packets dropped because their fragments contradict each other, and fragments of such packets",
    expired: "Packets dropped because reassembly timed out",
    evicted: "Packets dropped because the reassembly buffer was full",
}

counters! { CARRIAGE of Carriage:
    unlinked: "Packets dropped because there is no session with the peer",
    refused_source: "Packets from the peer dropped because their source address is not behind it",
    unsent: "Datagrams that the kernel refused to send",
    undelivered: "Packets from the peer that the interface refused",
    overflows: "Datagrams dropped because the socket buffer was full",
    sessions: "Sessions started",
    echoes: "The peer's probes echoed",
    unechoed: "The peer's probes not echoed, for want of room or budget",
}

counters! { INSIDE of Inside:
    read: "Packets read from the interface",
    written: "Packets written to the interface",
    malformed: "Malformed packets read from the interface",
    unrouted: "Packets dropped because no peer serves their destination",
    cut_clients: "Clients disconnected because they did not read their messages, or were gone",
    missed_arrivals: "Probe arrivals not reported to a client or peer that did not read, or was gone",
}

/// What happens to a peer's packets outside its machine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carriage {
    pub unlinked: u64,
    pub refused_source: u64,
    pub unsent: u64,
    pub undelivered: u64,
    pub overflows: u64,
    pub sessions: u64,
    pub echoes: u64,
    pub unechoed: u64,
}

/// What happens to packets of no peer in particular.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inside {
    pub read: u64,
    pub written: u64,
    pub malformed: u64,
    pub unrouted: u64,
    pub cut_clients: u64,
    pub missed_arrivals: u64,
}

/// A counter's name, what it counts, and how much that is.
pub(crate) type Count = (String, &'static str, u64);

/// The counts of `counted`, their names behind `prefix`.
pub(crate) fn counts<T>(list: &[Counter<T>], prefix: &str, counted: &T) -> Vec<Count> {
    let count = |counter: &Counter<T>| {
        (
            format!("{prefix}{}", counter.name),
            counter.help,
            (counter.of)(counted),
        )
    };
    list.iter().map(count).collect()
}

/// The counts of a peer's machines, those of sessions that are over included.
#[derive(Clone, Debug)]
pub(crate) struct Sums(Vec<Count>);

impl Sums {
    pub(crate) fn new() -> Self {
        let machine = counts(MACHINE, "", &Counters::default());
        let pieces = counts(PIECES, "pieces_", &reassembly::Counters::default());
        Self([machine, pieces].concat())
    }

    /// With those of one machine more.
    #[must_use]
    pub(crate) fn with(mut self, peer: &Peer) -> Self {
        let machine = counts(MACHINE, "", &peer.counters());
        let pieces = counts(PIECES, "pieces_", &peer.pieces());
        for (sum, (_, _, count)) in self.0.iter_mut().zip(machine.into_iter().chain(pieces)) {
            sum.2 = sum.2.saturating_add(count);
        }
        self
    }

    pub(crate) fn into_counts(self) -> Vec<Count> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgrp::envelope::Carrier;
    use mgrp::peer::Config;
    use std::collections::BTreeSet;
    use units::Instant;

    #[test]
    fn sessions_that_are_over_count_on() {
        let mut peer = Peer::new(Config::new(Carrier::UdpV4, 1, [10, 0, 0, 1].into()));
        assert!(peer.offer(vec![0; 20], true, Instant::ZERO).is_err());
        let sums = Sums::new().with(&peer).with(&peer).into_counts();
        let count = |name: &str| sums.iter().find(|count| count.0 == name).unwrap().2;
        assert_eq!(count("offered_packets"), 2);
        assert_eq!(count("dropped_not_ip"), 2);
        assert_eq!(count("pieces_whole"), 0);
    }

    #[test]
    fn no_name_is_there_twice() {
        let sums = Sums::new().into_counts();
        let carriage = counts(CARRIAGE, "", &Carriage::default());
        let names: Vec<_> = sums.iter().chain(&carriage).map(|count| &count.0).collect();
        let different: BTreeSet<_> = names.iter().collect();
        assert_eq!(different.len(), names.len());
    }
}
