//! A peer as the machine knows it: its session, if there is one, and what has been counted.

use super::link::Link;
use crate::config::{Config, PeerTable};
use crate::counters::{CARRIAGE, Carriage, Sums, counts};
use crate::network::Network;
use crate::snapshot::PeerSnapshot;
use mgrp::envelope::Carrier;
use std::net::IpAddr;
use units::Instant;

/// A peer, whether there is a session with it or not.
pub(super) struct Peer {
    pub(super) name: String,
    /// By what tools are told of it.
    pub(super) source: IpAddr,
    marked: Vec<Network>,
    pub(super) link: Option<Link>,
    /// What sessions that are over have counted.
    pub(super) past: Sums,
    pub(super) carriage: Carriage,
    /// Why there is no session.
    pub(super) note: Option<String>,
}

impl Peer {
    pub(super) fn new(config: &Config, peer: &PeerTable) -> Self {
        Self {
            name: peer.name.clone(),
            source: config.of_session(peer, Carrier::UdpV4).source,
            marked: peer.marked.clone(),
            link: None,
            past: Sums::new(),
            carriage: Carriage::default(),
            note: None,
        }
    }

    /// A packet for it, from the interface, which may ride or not.
    pub(super) fn offer(&mut self, packet: Vec<u8>, may_ride: bool, now: Instant) {
        match &mut self.link {
            // What is dropped is counted there.
            Some(link) => drop(link.peer.offer(packet, may_ride, now)),
            None => self.carriage.unlinked += 1,
        }
    }

    pub(super) fn snapshot(&self, now: Instant) -> PeerSnapshot {
        let link = self.link.as_ref();
        let sums = self.past.clone();
        let sums = match link {
            Some(link) => sums.with(&link.peer),
            None => sums,
        };
        let carriage = counts(CARRIAGE, "", &self.carriage);
        PeerSnapshot {
            name: self.name.clone(),
            source: self.source,
            marked: self.marked.clone(),
            address: link.map(|link| link.session.address),
            mtu: link.and_then(Link::path_mtu),
            way: link.map(|link| link.session.way.clone()),
            linked_s: link.map(|link| now.since(link.since).as_secs_f64()),
            note: self.note.clone(),
            counts: [sums.into_counts(), carriage].concat(),
            buckets: link.map_or_else(Vec::new, |link| {
                let states = link.peer.buckets();
                states.iter().map(|state| (*state, now).into()).collect()
            }),
        }
    }
}
