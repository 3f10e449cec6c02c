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
    offered_packets: "Applications' packets for the peer, whatever became of them",
    offered_octets: "Octets of applications' packets for the peer",
    dropped_full: "Packets dropped because too many were waiting",
    dropped_long: "Packets dropped because one datagram cannot hold them",
    dropped_not_ip: "Octets from the interface that are no packets of IP",
    sent_packets: "Datagrams that left",
    sent_octets: "Octets of datagrams that left, with all headers",
    sent_probes: "Datagrams that left with a probe",
    sent_probe_octets: "Octets of datagrams with a probe",
    riders: "Probes that carried a packet or a piece of one",
    riding_pieces: "Probes that carried a piece",
    riding_octets: "Octets of applications' packets that rode",
    expired: "Packets that left by themselves after the delay",
    rests: "Rests of packets that had been cut, which left by themselves",
    prompt: "Packets that did not wait at all",
    split: "Datagrams whose packet was too long for the path, so that another with its rest followed",
    padding_octets: "Octets of padding in probes",
    saved_octets: "Octets that riding has kept from the wire",
    received_packets: "Datagrams that came and were believed",
    received_octets: "Octets of datagrams that came and were believed",
    received_probes: "Probes that came",
    received_pieces: "Pieces of packets that came",
    delivered_packets: "Applications' packets that came whole",
    delivered_octets: "Octets of applications' packets that came whole",
    received_not_ip: "What came in place of packets of IP",
    refused_short: "Datagrams refused because they are too short",
    refused_session: "Datagrams refused because they belong to another session",
    refused_tag: "Datagrams refused because they are damaged or forged",
    refused_repeated: "Datagrams refused because they came before",
    refused_late: "Datagrams refused because they came too late to tell whether they came before",
    refused_malformed: "Datagrams refused because their packet cannot be read",
    accepted: "Transactions that were accepted",
    completed: "Transactions that were sent to the end",
    called_off: "Transactions that were called off",
    refused_shape: "Transactions refused for what they ask",
    refused_queue: "Transactions refused because too many were waiting",
    refused_budget: "Transactions refused because the path's budget was spent",
}

counters! { PIECES of reassembly::Counters:
    fragments: "Pieces of packets that were taken up",
    repeated: "Pieces that were there already",
    whole: "Packets put together from pieces",
    contradicted: "Packets given up because pieces contradict each other, and pieces of such",
    expired: "Packets given up because they took too long",
    evicted: "Packets given up because there was no room",
}

counters! { CARRIAGE of Carriage:
    unlinked: "Packets dropped because there is no session with the peer",
    refused_source: "Packets from the peer dropped because their source is not behind it",
    unsent: "Datagrams that the kernel did not take",
    undelivered: "Packets from the peer that the interface did not take",
    overflows: "Datagrams that found the socket's buffer full",
    sessions: "Sessions that have begun",
    echoes: "The peer's probes that were sent back",
    unechoed: "The peer's probes that were to be sent back and were not: no room, or the budget was spent",
}

counters! { INSIDE of Inside:
    read: "Packets that came from the interface",
    written: "Packets that went to the interface",
    malformed: "What came from the interface and could not be read",
    unrouted: "Packets dropped because nobody is behind their destination",
    cut_clients: "Tools that were cut because they did not read what they were told",
    missed_arrivals: "Probes that a tool was not told of because it did not read",
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
